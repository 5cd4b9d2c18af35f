// SPDX-License-Identifier: Apache-2.0
// Every second of the 1,000 texts of tests/accuracy/texts.tsv that is one line, the first 500 of them, from the optional
// data folder (EMBERT_SHARED, default ../shared beside the repository).
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("../../..", import.meta.url));
const { EMBERT_SHARED = join(ROOT, "../shared") } = process.env;

const lines = (text) => text.split("\n").map((line) => line.replace(/^[ \r]+|[ \r]+$/g, ""));

const CORPORA = {
  clinc150: ["data/intent/clinc150/data_full.json", (text) => JSON.parse(text).test.map(([sentence]) => sentence)],
  wnut17: ["data/ner/wnut17/emerging.test.annotated", (text) => lines(text).map((line) => line.split("\t")[0].trim()).join("\n")
    .split(/\n\n+/).map((sentence) => sentence.trim().replaceAll("\n", " ")).filter((sentence) => sentence !== "")],
  squad: ["data/qa/squad11_dev/dev-v1.1.reconstructed.json", (text) => JSON.parse(text).data.flatMap(({ paragraphs }) =>
    paragraphs.flatMap(({ context, qas }) => [context, ...qas.map(({ question }) => question)]))],
  wikitext2: ["data/text/wikitext2/wiki.test.raw", (text) => lines(text).filter((line) => line !== "" && line[0] !== "=")],
};

function crc32c(text) {
  let crc = 0xffffffff;
  for (const byte of Buffer.from(text)) {
    crc ^= byte;
    for (let bit = 0; bit < 8; ++bit) crc = crc & 1 ? (crc >>> 1) ^ 0x82f63b78 : crc >>> 1;
  }
  return (~crc >>> 0).toString(16).padStart(8, "0");
}

/** 500 texts; null where the data folder is not there. */
export function accuracyTexts() {
  const files = Object.values(CORPORA).map(([file]) => join(EMBERT_SHARED, file));
  if (!files.every(existsSync)) {
    console.log(`SKIPPED: the texts of tests/accuracy need the data folder ${EMBERT_SHARED}`);
    return null;
  }
  const records = Object.fromEntries(Object.entries(CORPORA).map(([name, [file, read]]) =>
    [name, read(readFileSync(join(EMBERT_SHARED, file), "utf8"))]));
  const listed = readFileSync(join(ROOT, "tests/accuracy/texts.tsv"), "utf8").split("\n").filter((line) => line !== "" && line[0] !== "#");
  const texts = listed.map((line) => {
    const [corpus, number, , crc] = line.split("\t");
    const text = records[corpus][Number(number)].replace(/^ +| +$/g, "");
    if (crc32c(text) !== crc) throw new Error(`tests/accuracy/texts.tsv: the text is another one: ${line}`);
    return text;
  });
  return texts.filter((text, i) => i % 2 === 0 && !text.includes("\n")).slice(0, 500);
}
