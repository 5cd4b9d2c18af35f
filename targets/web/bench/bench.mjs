// SPDX-License-Identifier: Apache-2.0
// Sizes, and bench.js in Node and headless Chromium:   targets/web/run.sh --bench [MODEL.emb=MILLION_MACS_A_TOKEN ...]
import { readdirSync, readFileSync, statSync } from "node:fs";
import { basename, extname, join } from "node:path";
import { gzipSync } from "node:zlib";

import { bench } from "./bench.js";
import { CHROMIUM, chromiumVersion, showPage } from "./headless.mjs";

const { EMBERT_WEB } = process.env;
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

const version = chromiumVersion();
if (version === null) {
  console.log(`SKIPPED: no ${CHROMIUM} here`);
  process.exit();
}
console.log(version);
let done;
const ended = new Promise((resolve) => { done = resolve; });
const served = new Map(models.map((model, i) => [`/model-${i}.emb`, model.path]));
await showPage("bench/bench.html", (url, sent) => {
  if (url === "/lines") {
    if (sent === "") done();
    else console.log(`  ${sent}`);
    return "";
  }
  if (url === "/models.json") return JSON.stringify(models.map((model, i) => ({ ...model, source: `/model-${i}.emb` })));
  return readFileSync(served.get(url) ?? join(EMBERT_WEB, url));
}, ended);
