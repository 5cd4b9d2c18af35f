// SPDX-License-Identifier: Apache-2.0
// The package and the page in headless Chromium (CHROMIUM names the program; default chromium), beside
// the command line tool. Skips loudly where there is none.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

import { CHROMIUM, chromiumVersion, showPage } from "../../../targets/web/bench/headless.mjs";
import { accuracyTexts } from "./accuracy_texts.mjs";

const { EMBERT_WEB, EMBERT_TOOL, EMBERT_TEXTS } = process.env;
const HERE = fileURLToPath(new URL("./browser/", import.meta.url));
const LIMIT_MS = 180_000;

const skip = chromiumVersion() !== null ? false : `SKIPPED: no ${CHROMIUM} here`;
const texts = readFileSync(EMBERT_TEXTS, "utf8").split("\n").slice(1, 501).map((line) => line.split("\t")[1])
  .concat(accuracyTexts() ?? []);

/** Serves the page, the package and `task`; resolves with what the browser sends to /results. */
async function inBrowser(path, task) {
  const requests = [];
  let done;
  const results = new Promise((resolve) => { done = resolve; });
  const late = new Promise((_, reject) => setTimeout(() => reject(new Error(`no results; asked for: ${requests}`)), LIMIT_MS).unref());
  return showPage(path, (url, sent) => {
    requests.push(url);
    if (url === "/results") {
      done(JSON.parse(sent));
      return "";
    }
    if (url === "/task.json") return JSON.stringify(task);
    const body = readFileSync(url.startsWith("/results.") ? join(HERE, url) : join(EMBERT_WEB, url));
    return url === "/index.html" ? `${body}<script type="module" src="/results.page.js"></script>` : body;
  }, Promise.race([results, late]));
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
