// SPDX-License-Identifier: Apache-2.0
// The package and the page in headless Chromium (CHROMIUM names the program; default chromium), beside
// the command line tool. Skips loudly where there is none.
import assert from "node:assert/strict";
import { execFileSync, spawn, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { extname, join } from "node:path";
import { test } from "node:test";

import { accuracyTexts } from "./accuracy_texts.mjs";

const { EMBERT_WEB, EMBERT_TOOL, EMBERT_TEXTS, CHROMIUM = "chromium" } = process.env;
const HERE = new URL("./browser/", import.meta.url).pathname;
const TYPES = { ".html": "text/html", ".js": "text/javascript", ".css": "text/css", ".wasm": "application/wasm", ".json": "application/json" };
const LIMIT_MS = 180_000;

const hasBrowser = spawnSync(CHROMIUM, ["--version"]).status === 0;
const skip = hasBrowser ? false : `SKIPPED: no ${CHROMIUM} here`;
const texts = readFileSync(EMBERT_TEXTS, "utf8").split("\n").slice(1, 501).map((line) => line.split("\t")[1])
  .concat(accuracyTexts() ?? []);

/** Serves the page, the package and `task`; resolves with what the browser sends to /results. */
async function inBrowser(path, task) {
  const requests = [];
  let done;
  const results = new Promise((resolve) => { done = resolve; });
  const server = createServer((request, response) => {
    requests.push(request.url);
    if (request.url === "/results") {
      let body = "";
      request.on("data", (part) => { body += part; }).on("end", () => {
        response.end();
        done(JSON.parse(body));
      });
      return;
    }
    try {
      const file = request.url.startsWith("/results.") ? join(HERE, request.url) : join(EMBERT_WEB, request.url);
      let body = request.url === "/task.json" ? JSON.stringify(task) : readFileSync(file);
      if (request.url === "/index.html") body += '<script type="module" src="/results.page.js"></script>';
      response.setHeader("Content-Type", TYPES[extname(request.url)] ?? "application/octet-stream");
      response.end(body);
    } catch {
      response.statusCode = 404;
      response.end();
    }
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const profile = mkdtempSync(join(tmpdir(), "embert-browser-"));
  const browser = spawn(CHROMIUM, ["--headless=new", "--no-sandbox", "--disable-gpu", `--user-data-dir=${profile}`,
    `http://127.0.0.1:${server.address().port}/${path}`], { stdio: "ignore" });
  const late = new Promise((_, reject) => setTimeout(() => reject(new Error(`no results; asked for: ${requests}`)), LIMIT_MS).unref());
  try {
    return await Promise.race([results, late]);
  } finally {
    const ended = new Promise((resolve) => browser.once("exit", resolve));
    browser.kill();
    await ended;
    server.closeAllConnections?.();
    server.close();
    rmSync(profile, { recursive: true, force: true, maxRetries: 5 });
  }
}

for (const name of ["tiny-intent", "tiny-embed"]) {
  test(`${name} in Chromium: ${texts.length} checksums are the tool's, in the page and in a worker`, { skip }, async () => {
    const model = `/models/${name}.emb`;
    const found = await inBrowser("results.html", { model, texts });
    assert.equal(found.error, undefined);
    const expected = execFileSync(EMBERT_TOOL, ["checksum", EMBERT_WEB + model],
      { input: texts.map((text) => text + "\n").join("") }).toString().trim().split("\n");
    assert.equal(expected.length, texts.length);
    for (const place of ["simd128", "scalar", "worker"]) assert.deepEqual(found[place], expected, place);
  });
}

test("the page in Chromium: every panel has its results, and its security policy refuses nothing of them", { skip }, async () => {
  const found = await inBrowser("index.html", {});
  assert.match(found.status, /^Two models ready after \d+ ms, with vectors of 128 bits\.$/);
  assert.equal(found.label, "translate");
  assert.match(found.passage, /Delivery within the country takes three to five days/);
  assert.equal(found.dots, 15);
  assert.equal(found.bits, "All 20 are the same.");
  assert.equal(found.command, "embert checksum tiny-embed.emb -- 'the same bits everywhere'");
  assert.deepEqual(found.refused, []);
});
