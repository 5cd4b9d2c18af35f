// SPDX-License-Identifier: Apache-2.0
// The native fuzzers' seeds through the package in Node, and copies of them with changed words: each is an exception of
// the package or has results that both modules share, soon. For developers, behind targets/web/run.sh --build:
//   EMBERT_WEB=build/web node tests/targets/web/fuzz_corpus.mjs SEEDS [COPIES]
//     SEEDS   the folder fuzz-corpus/seeds that tests/fuzz/run.sh makes
//     COPIES  changed copies of each model, default 200
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { isMainThread, parentPort, Worker } from "node:worker_threads";

const { EMBERT_WEB } = process.env;
const LIMIT_MS = 60_000;  // of one input, on a busy machine
const TEXTS = ["", "how do i say hello in french", "\u{1f600} \u6771\u4eac caf\u00e9 \ud800", "[MASK] word ".repeat(100)];
const MODELS = ["fuzz_blob"];
const HEADER = { crc: 12, bytes: 16, layout: 24, crcStart: 16 };  // BlobHeader of runtime/format/blob_format.hpp

const CRC_TABLE = Uint32Array.from({ length: 256 }, (_, i) => {
  for (let bit = 0; bit < 8; ++bit) i = i & 1 ? (i >>> 1) ^ 0x82f63b78 : i >>> 1;
  return i;
});

/** Puts right what a fuzzer could not guess: magic, size, layout and checksum. */
function sealed(bytes) {
  if (bytes.length < 28) return bytes;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  bytes.set(Buffer.from("embert\r\n"));
  view.setBigUint64(HEADER.bytes, BigInt(bytes.length), true);
  view.setUint32(HEADER.layout, 1, true);
  let crc = 0xffffffff;
  for (let i = HEADER.crcStart; i < bytes.length; ++i) crc = CRC_TABLE[(crc ^ bytes[i]) & 255] ^ (crc >>> 8);
  view.setUint32(HEADER.crc, ~crc, true);
  return bytes;
}

const EDGES = [0, 1, 2, 3, 4, 16, 63, 64, 127, 128, 255, 256, 511, 512, 513, 4095, 4096, 4224, 65535, 65536, 0x7fffffff, 0x80000000, 0xfffffff0, 0xffffffff];

/** A copy with up to 4 changed 32-bit words, half of them in the header and the table of sections. */
function changed(bytes, seed) {
  let state = seed >>> 0;
  const below = (n) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * n);
  };
  const copy = bytes.slice(), view = new DataView(copy.buffer);
  const words = Math.floor(copy.length / 4);
  for (let n = 1 + below(4); n > 0; --n) {
    const at = 4 * below(below(2) === 0 ? Math.min(words, 1024) : words);
    const value = [() => EDGES[below(EDGES.length)], () => view.getUint32(at, true) + below(9) - 4, () => view.getUint32(at, true) ^ (1 << below(32))][below(3)]();
    view.setUint32(at, value, true);
  }
  return copy;
}

// In the worker: the outcome of one input, "ok" or the status of the exception. Another exception is a failure.
if (!isMainThread) {
  const { Embert, EmbertError } = await import(pathToFileURL(join(EMBERT_WEB, "package/embert.js")));
  const outcome = (call) => {
    try {
      return JSON.stringify(call());
    } catch (error) {
      if (error instanceof EmbertError) return error.status ?? "no memory";
      throw error;
    }
  };
  const everything = (model, text) => [() => model.checksum(text), () => model.tokenize(text), () => model.classify(text),
    () => model.tag(text), () => model.answer(text, text), () => model.fillMask(text), () => [...model.embed(text)]].map(outcome);
  const results = async (bytes, kernels) => {
    try {
      const model = await Embert.load(bytes, { kernels });
      return { status: "opened", values: JSON.stringify(TEXTS.map((text) => everything(model, text))) };
    } catch (error) {
      if (error instanceof EmbertError) return { status: error.status ?? "no memory" };
      throw error;
    }
  };
  let reader = null;
  parentPort.on("message", async ({ bytes, isModel }) => {
    try {
      if (isModel) {
        const simd = await results(bytes, "simd128"), scalar = await results(bytes, "scalar");
        if (simd.status !== scalar.status || simd.values !== scalar.values) throw new Error("the modules differ");
        parentPort.postMessage(simd.status);
      } else {
        reader ??= await Promise.all(["tiny-intent", "tiny-embed"].map((name) => Embert.load(join(EMBERT_WEB, `models/${name}.emb`))));
        for (const text of [Buffer.from(bytes).toString("utf8"), Buffer.from(bytes).toString("latin1"), Buffer.from(bytes).toString("utf16le")]) {
          for (const model of reader) everything(model, text);
        }
        parentPort.postMessage("read as a text");
      }
    } catch (error) {
      parentPort.postMessage({ failure: String(error.stack) });
    }
  });
} else {
  const [seeds, copies = "200"] = process.argv.slice(2);
  const counts = {};
  let worker = null, failures = 0;
  const answers = (bytes, isModel) => new Promise((resolve) => {
    const ended = (error) => resolve({ failure: error.message });
    const timer = setTimeout(() => ended(new Error(`no end after ${LIMIT_MS} ms`)), LIMIT_MS);
    worker ??= new Worker(new URL(import.meta.url));
    worker.once("message", (answer) => {
      clearTimeout(timer);
      worker.off("error", ended);
      resolve(answer);
    }).once("error", ended);
    worker.postMessage({ bytes, isModel });
  });
  const run = async (name, bytes, isModel) => {
    const answer = await answers(bytes, isModel);
    const text = answer.failure === undefined ? answer : "FAILURE";
    counts[text] = (counts[text] ?? 0) + 1;
    if (text !== "FAILURE") return;
    console.log(`${name}: ${answer.failure}`);
    failures += 1;
    worker.terminate();
    worker = null;
  };
  for (const program of readdirSync(seeds)) {
    for (const file of readdirSync(join(seeds, program))) {
      const name = join(program, file), bytes = new Uint8Array(readFileSync(join(seeds, name)));
      const isModel = MODELS.includes(program);
      await run(name, isModel ? sealed(bytes.slice()) : bytes, isModel);
      for (let i = 0; isModel && i < Number(copies); ++i) await run(`${name}, copy ${i}`, sealed(changed(bytes, 1000 * bytes.length + i)), true);
    }
  }
  for (const name of ["tiny-intent", "tiny-embed"]) {
    const bytes = new Uint8Array(readFileSync(join(EMBERT_WEB, `models/${name}.emb`)));
    for (let i = 0; i < Number(copies); ++i) await run(`${name}, copy ${i}`, sealed(changed(bytes, i)), true);
  }
  for (const [text, count] of Object.entries(counts).sort((a, b) => b[1] - a[1])) console.log(String(count).padStart(7), text);
  worker?.terminate();
  process.exitCode = failures === 0 ? 0 : 1;
}
