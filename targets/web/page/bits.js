// SPDX-License-Identifier: Apache-2.0
import { latest } from "./latest.js";

/** A text as a word of a POSIX shell. */
const quoted = (text) => `'${text.replaceAll("'", "'\\''")}'`;

/** Recorded checksums beside those of this browser. */
export async function showBits(model) {
  const recorded = await (await fetch("recorded.json")).json();
  const table = document.getElementById("bits-table");
  const result = document.getElementById("bits-result");
  const head = table.createTHead().insertRow();
  for (const title of ["sentence", "this browser", ...recorded.places]) {
    const cell = document.createElement("th");
    cell.scope = "col";
    cell.textContent = title;
    head.append(cell);
  }
  const body = table.createTBody();
  let same = 0;
  for (const { text, checksums } of recorded.sentences) {
    const here = await model.checksum(text);
    const equal = checksums.every((checksum) => checksum === here);
    if (equal) ++same;
    const row = body.insertRow();
    row.insertCell().textContent = text;
    for (const checksum of [here, ...checksums]) {
      const cell = row.insertCell();
      cell.className = "sum";
      cell.textContent = checksum;
    }
    row.cells[1].classList.add(equal ? "good" : "bad");
    row.cells[1].textContent += equal ? " ✓" : " ✗ differs";
  }
  result.textContent = same === recorded.sentences.length
    ? `All ${same} are the same.` : `${recorded.sentences.length - same} differ: please report the browser and its version.`;
  result.classList.add(same === recorded.sentences.length ? "good" : "bad");

  const text = document.getElementById("bits-text");
  const show = latest(async () => {
    document.getElementById("bits-checksum").textContent = await model.checksum(text.value);
    document.getElementById("bits-command").textContent = `embert checksum tiny-embed.emb -- ${quoted(text.value)}`;
  });
  text.addEventListener("input", show);
  show();
}
