// SPDX-License-Identifier: Apache-2.0
// The page: four panels, each in a file of its own, and the two models that come with it.
import { EmbertWorker } from "./package/embert.js";
import { showBits } from "./bits.js";
import { showIntents } from "./intents.js";
import { showOwnModel } from "./own-model.js";
import { showSearch } from "./search.js";

const status = document.getElementById("kernels");
showOwnModel();

try {
  const begin = performance.now();
  const [intents, sentences] = await Promise.all([
    EmbertWorker.load("models/tiny-intent.emb"), EmbertWorker.load("models/tiny-embed.emb")]);
  const kernels = intents.isa === "simd128" ? "vectors of 128 bits" : "scalar kernels";
  status.textContent = `Two models ready after ${Math.round(performance.now() - begin)} ms, with ${kernels}.`;
  showIntents(intents);
  showSearch(sentences);
  await showBits(sentences);
} catch (error) {
  status.textContent = error.message;
  status.className = "bad";
}
