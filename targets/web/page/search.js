// SPDX-License-Identifier: Apache-2.0
import { cosine } from "./package/embert.js";
import { latest } from "./latest.js";
import { principalPlane } from "./principal-plane.js";

const SAMPLE = `Your order leaves our warehouse within two working days. Delivery within the country takes three to five days, abroad up to two weeks.
You can send anything back within thirty days. The money goes to the card that you paid with.
If a part is broken, write to us and add a photograph. We send a new one, and you keep the old one.
The battery lasts ten hours and is full again after ninety minutes. Do not leave it in the sun.
To connect the speaker with your telephone, press the round button until the light is blue. The first time, your telephone asks for a code: it is 0000.
A member gets free delivery and a gift for each birthday. Membership can be ended at any time.
Our shop in the station is open from eight to eight, on Sundays until noon. Dogs are welcome.`;
const MOST_SENTENCES = 2000;
const SHOWN = 5;

/** Sentences of a text, by the browser's rules where it has them. */
function sentencesOf(text) {
  const parts = typeof Intl.Segmenter === "function"
    ? Array.from(new Intl.Segmenter(undefined, { granularity: "sentence" }).segment(text), ({ segment }) => segment)
    : text.split(/(?<=[.!?])\s+|\n+/);
  return parts.map((part) => part.trim()).filter((part) => /\p{L}/u.test(part)).slice(0, MOST_SENTENCES);
}

/** The best passages of a document, and a map of its sentences. */
export function showSearch(model) {
  const text = document.getElementById("search-text");
  const query = document.getElementById("search-query");
  const passages = document.getElementById("search-passages");
  const map = document.getElementById("search-map");
  const time = document.getElementById("search-time");
  const known = new Map();  // vectors of sentences
  let sentences = [], plane = null;

  async function vectorOf(sentence) {
    let vector = known.get(sentence);
    if (vector === undefined) {
      vector = await model.embed(sentence);
      known.set(sentence, vector);
    }
    return vector;
  }

  const search = latest(async () => {
    if (plane === null) return;  // read() searches when it has read the text
    const begin = performance.now();
    const target = await model.embed(query.value);
    const found = sentences
      .map((sentence) => ({ sentence, score: cosine(target, known.get(sentence)) }))
      .sort((a, b) => b.score - a.score).slice(0, SHOWN);
    time.textContent = `${sentences.length} sentences; the question took ${(performance.now() - begin).toFixed(1)} ms`;
    passages.replaceChildren(...found.map(({ sentence, score }) => {
      const row = document.createElement("li");
      const number = document.createElement("span");
      number.className = "score";
      number.textContent = score.toFixed(2);
      row.append(number, sentence);
      return row;
    }));
    drawMap(map, plane, sentences, new Set(found.map(({ sentence }) => sentence)), target);
  });

  const read = latest(async () => {
    const begin = performance.now();
    const parts = sentencesOf(text.value);
    const vectors = [];
    for (const part of parts) vectors.push(await vectorOf(part));
    for (const sentence of known.keys()) if (!parts.includes(sentence)) known.delete(sentence);
    sentences = parts;
    plane = principalPlane(vectors, known);
    time.textContent = `${parts.length} sentences read in ${Math.round(performance.now() - begin)} ms`;
    await search();
  });

  text.value = SAMPLE;
  text.addEventListener("input", read);
  query.addEventListener("input", search);
  text.addEventListener("dragover", (event) => {
    event.preventDefault();
    text.classList.add("dropping");
  });
  text.addEventListener("dragleave", () => text.classList.remove("dropping"));
  text.addEventListener("drop", async (event) => {
    event.preventDefault();
    text.classList.remove("dropping");
    const [file] = event.dataTransfer.files;
    text.value = file ? await file.text() : event.dataTransfer.getData("text/plain");
    read();
  });
  read();
}

function drawMap(map, plane, sentences, found, query) {
  const box = { width: 400, height: 260, margin: 16 };
  const points = sentences.map((sentence) => ({ sentence, at: plane.place(sentence) }));
  points.push({ sentence: null, at: plane.placeOf(query) });
  const range = (axis) => {
    const values = points.map(({ at }) => at[axis]);
    return [Math.min(...values), Math.max(...values)];
  };
  const [left, right] = range(0), [bottom, top] = range(1);
  const scale = (value, low, high, size) =>
    box.margin + (high === low ? 0.5 : (value - low) / (high - low)) * (size - 2 * box.margin);
  map.replaceChildren(...points.map(({ sentence, at }) => {
    const dot = document.createElementNS("http://www.w3.org/2000/svg", "circle");
    dot.setAttribute("cx", scale(at[0], left, right, box.width).toFixed(1));
    dot.setAttribute("cy", scale(at[1], bottom, top, box.height).toFixed(1));
    dot.setAttribute("r", sentence === null ? 8 : found.has(sentence) ? 6 : 4);
    dot.setAttribute("class", sentence === null ? "query" : found.has(sentence) ? "found" : "");
    const title = document.createElementNS("http://www.w3.org/2000/svg", "title");
    title.textContent = sentence ?? "what you look for";
    dot.append(title);
    return dot;
  }));
}
