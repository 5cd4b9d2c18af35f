// SPDX-License-Identifier: Apache-2.0
import { EmbertWorker } from "./package/embert.js";
import { latest } from "./latest.js";

/** A model file of the visitor: its facts, and its results for a text. */
export function showOwnModel() {
  const chooser = document.getElementById("own-file");
  const facts = document.getElementById("own-facts");
  const tryOut = document.getElementById("own-try");
  const text = document.getElementById("own-text");
  const result = document.getElementById("own-result");
  const section = chooser.closest("section");
  let model = null;

  const show = latest(async () => {
    if (model === null) return;
    try {
      const begin = performance.now();
      const lines = model.labels.length > 0
        ? (await model.classify(text.value, { topK: 5 })).map(({ label, score }) => `${(100 * score).toFixed(1).padStart(5)} %  ${label}`)
        : [`vector of ${model.dimensions}: ${Array.from((await model.embed(text.value)).slice(0, 8), (value) => value.toFixed(4)).join(" ")} ...`];
      const ms = performance.now() - begin;
      const { tokens } = await model.tokenize(text.value);
      result.textContent = [...lines, "", `tokens    ${tokens.join(" ")}`, `checksum  ${await model.checksum(text.value)}`,
        `time      ${ms.toFixed(1)} ms`].join("\n");
    } catch (error) {
      result.textContent = error.message;
    }
  });

  const open = latest(async (file) => {
    facts.className = "note";
    facts.textContent = `${file.name}: reading`;
    try {
      const begin = performance.now();
      const next = await EmbertWorker.load(await file.arrayBuffer());
      model?.close();
      model = next;
      facts.textContent = `${file.name}: ${(file.size / 1e6).toFixed(1)} MB, ready after ${Math.round(performance.now() - begin)} ms; ` +
        `${model.labels.length > 0 ? `${model.labels.length} labels` : `vectors of ${model.dimensions}`}, up to ${model.maxTokens} tokens, ` +
        `checksum ${model.modelChecksum}`;
      tryOut.hidden = false;
      await show();
    } catch (error) {
      facts.className = "note bad";
      facts.textContent = `${file.name}: ${error.message}`;
    }
  });

  const choose = () => chooser.files[0] && open(chooser.files[0]);
  chooser.addEventListener("change", choose);
  choose();  // a file that was chosen before this script ran
  text.addEventListener("input", show);
  section.addEventListener("dragover", (event) => {
    event.preventDefault();
    section.classList.add("dropping");
  });
  section.addEventListener("dragleave", () => section.classList.remove("dropping"));
  section.addEventListener("drop", (event) => {
    event.preventDefault();
    section.classList.remove("dropping");
    const [file] = event.dataTransfer.files;
    if (file) open(file);
  });
}
