// SPDX-License-Identifier: Apache-2.0
import { latest } from "./latest.js";

/** The five best intents of the sentence, at each key. */
export function showIntents(model) {
  const text = document.getElementById("intents-text");
  const list = document.getElementById("intents-labels");
  const time = document.getElementById("intents-time");
  const show = latest(async () => {
    const begin = performance.now();
    const labels = await model.classify(text.value, { topK: 5 });
    const ms = performance.now() - begin;
    list.replaceChildren(...labels.map(({ label, score }) => {
      const row = document.createElement("li");
      row.style.setProperty("--share", score);
      const name = document.createElement("span");
      name.textContent = label.replaceAll("_", " ");
      const share = document.createElement("span");
      share.textContent = `${(100 * score).toFixed(1)} %`;
      row.append(name, share);
      return row;
    }));
    time.textContent = `${ms.toFixed(1)} ms, of ${model.labels.length} intents`;
  });
  text.addEventListener("input", show);
  show();
}
