// SPDX-License-Identifier: Apache-2.0
// Computes what browser.test.mjs asks for, in the page and in a worker, and sends it back.
import { Embert, EmbertWorker } from "/package/embert.js";

async function results() {
  const { model, texts } = await (await fetch("/task.json")).json();
  const found = { agent: navigator.userAgent };
  for (const kernels of ["simd128", "scalar"]) {
    const loaded = await Embert.load(model, { kernels });
    found[kernels] = texts.map((text) => loaded.checksum(text));
  }
  const worker = await EmbertWorker.load(model);
  found.worker = await Promise.all(texts.map((text) => worker.checksum(text)));
  worker.close();
  return found;
}

const answer = await results().catch((error) => ({ error: String(error) }));
await fetch("/results", { method: "POST", body: JSON.stringify(answer) });
