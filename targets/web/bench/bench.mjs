// SPDX-License-Identifier: Apache-2.0
// Sizes, and bench.js in Node and headless Chromium:   targets/web/run.sh --bench [MODEL.emb=MILLION_MACS_A_TOKEN ...]
import { spawn, spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { basename, extname, join } from "node:path";
import { gzipSync } from "node:zlib";

import { bench } from "./bench.js";

const { EMBERT_WEB, CHROMIUM = "chromium" } = process.env;
const TYPES = { ".html": "text/html", ".js": "text/javascript", ".wasm": "application/wasm", ".json": "application/json" };
// Multiply-adds of a token: layers x (4 H^2 + 2 H F). Attention's own products are not counted.
const macs = (layers, hidden, feedForward) => layers * (4 * hidden * hidden + 2 * hidden * feedForward);
const models = [
  { name: "tiny-intent", path: join(EMBERT_WEB, "models/tiny-intent.emb"), macs: macs(2, 128, 512) },
  { name: "tiny-embed", path: join(EMBERT_WEB, "models/tiny-embed.emb"), macs: macs(3, 128, 512) },
];
for (const argument of process.argv.slice(2)) {
  const [path, millions] = argument.split("=");
  models.push({ name: basename(path, ".emb"), path, macs: Number(millions) * 1e6 });
}

const size = (file) => {
  const bytes = readFileSync(file);
  return `${(bytes.length / 1e3).toFixed(1)} KB, ${(gzipSync(bytes).length / 1e3).toFixed(1)} compressed`;
};
for (const file of ["embert-simd128.wasm", "embert-scalar.wasm", "embert.js"]) console.log(`${file}: ${size(join(EMBERT_WEB, "package", file))}`);
const page = readdirSync(EMBERT_WEB).filter((file) => [".html", ".css", ".js", ".json"].includes(extname(file)));
console.log(`page without package and models: ${(page.reduce((sum, file) => sum + statSync(join(EMBERT_WEB, file)).size, 0) / 1e3).toFixed(1)} KB`);

console.log(`Node ${process.version}`);
await bench(models.map((model) => ({ ...model, source: model.path })), (line) => console.log(`  ${line}`));

if (spawnSync(CHROMIUM, ["--version"]).status !== 0) {
  console.log(`SKIPPED: no ${CHROMIUM} here`);
  process.exit();
}
console.log(spawnSync(CHROMIUM, ["--version"]).stdout.toString().trim());
let done;
const ended = new Promise((resolve) => { done = resolve; });
const served = new Map(models.map((model, i) => [`/model-${i}.emb`, model.path]));
const server = createServer((request, response) => {
  if (request.url === "/lines") {
    let body = "";
    request.on("data", (part) => { body += part; }).on("end", () => {
      response.end();
      if (body === "") done();
      else console.log(`  ${body}`);
    });
  } else if (request.url === "/models.json") {
    response.end(JSON.stringify(models.map((model, i) => ({ ...model, source: `/model-${i}.emb` }))));
  } else {
    try {
      const body = readFileSync(served.get(request.url) ?? join(EMBERT_WEB, request.url));
      response.setHeader("Content-Type", TYPES[extname(request.url)] ?? "application/octet-stream");
      response.end(body);
    } catch {
      response.statusCode = 404;
      response.end();
    }
  }
});
await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
const profile = mkdtempSync(join(tmpdir(), "embert-bench-"));
const browser = spawn(CHROMIUM, ["--headless=new", "--no-sandbox", "--disable-gpu", `--user-data-dir=${profile}`,
  `http://127.0.0.1:${server.address().port}/bench/bench.html`], { stdio: "ignore" });
await ended;
const gone = new Promise((resolve) => browser.once("exit", resolve));
browser.kill();
await gone;
server.closeAllConnections?.();
server.close();
rmSync(profile, { recursive: true, force: true, maxRetries: 5 });
