// SPDX-License-Identifier: Apache-2.0
// The JavaScript package in Node, beside the command line tool. targets/web/run.sh --test sets
//   EMBERT_WEB      what it built: package/ and models/
//   EMBERT_TOOL     the command line tool
//   EMBERT_TEXTS    a table of the bundled model's test texts: a line of names, then id, tab, text, tab ...
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { pathToFileURL } from "node:url";
import threads from "node:worker_threads";

import { accuracyTexts } from "./accuracy_texts.mjs";

const { EMBERT_WEB, EMBERT_TOOL, EMBERT_TEXTS } = process.env;
const EMBERT_MODEL = `${EMBERT_WEB}/models/tiny-intent.emb`;
const { Embert, EmbertError, EmbertWorker, detectKernels, cosine } = await import(pathToFileURL(`${EMBERT_WEB}/package/embert.js`));

const blob = new Uint8Array(readFileSync(EMBERT_MODEL));
const texts = readFileSync(EMBERT_TEXTS, "utf8").split("\n").slice(1, 501).map((line) => line.split("\t")[1]);

// The package's worker that was started last.
let started = null;
threads.Worker = class extends threads.Worker {
  constructor(...values) {
    super(...values);
    started = this;
  }
};
syncBuiltinESMExports();

function tool(command, ...options) {
  const input = texts.map((text) => text + "\n").join("");
  return execFileSync(EMBERT_TOOL, [command, EMBERT_MODEL, "--json", ...options], { input, maxBuffer: 1 << 28 })
    .toString().trim().split("\n").map((line) => JSON.parse(line));
}

for (const kernels of ["simd128", "scalar"]) {
  test(`${kernels}: 500 checksums are the tool's`, async () => {
    const model = await Embert.load(blob, { kernels });
    assert.equal(model.isa, kernels);
    const expected = tool("checksum");
    assert.equal(expected.length, 500);
    texts.forEach((text, i) => assert.equal(model.checksum(text), expected[i].checksum, text));
  });
}

const accuracy = accuracyTexts();
for (const name of ["tiny-intent", "tiny-embed"]) {
  test(`${name}: the checksums of 500 texts of tests/accuracy are the tool's`, { skip: accuracy ? false : "SKIPPED: no data folder" }, async () => {
    const path = `${EMBERT_WEB}/models/${name}.emb`, input = accuracy.map((text) => text + "\n").join("");
    const expected = execFileSync(EMBERT_TOOL, ["checksum", path], { input }).toString().trim().split("\n");
    assert.equal(expected.length, 500);
    for (const kernels of ["simd128", "scalar"]) {
      const model = await Embert.load(path, { kernels });
      accuracy.forEach((text, i) => assert.equal(model.checksum(text), expected[i], text));
    }
  });
}

test("the page's recorded checksums are the tool's", () => {
  const { sentences } = JSON.parse(readFileSync(`${EMBERT_WEB}/recorded.json`, "utf8"));
  const input = sentences.map(({ text }) => text + "\n").join("");
  const expected = execFileSync(EMBERT_TOOL, ["checksum", `${EMBERT_WEB}/models/tiny-embed.emb`], { input }).toString().trim().split("\n");
  assert.equal(expected.length, 20);
  sentences.forEach(({ text, checksums }, i) => checksums.forEach((checksum) => assert.equal(checksum, expected[i], text)));
});

test("the default kernels are the fastest that run here", async () => {
  assert.equal(detectKernels(), "simd128");
  assert.equal((await Embert.load(blob)).isa, "simd128");
});

test("labels, vectors and tokens are the tool's", async () => {
  const model = await Embert.load(blob);
  const labels = tool("classify"), vectors = tool("embed"), tokens = tool("tokenize");
  for (let i = 0; i < texts.length; i += 10) {
    const [best] = model.classify(texts[i], { topK: 1 });
    assert.equal(best.label, labels[i].label);
    assert.ok(Math.abs(best.score - labels[i].score) < 1e-6, `${best.score} ${labels[i].score}`);
    assert.deepEqual(model.embed(texts[i]), Float32Array.from(vectors[i].embedding));
    const found = model.tokenize(texts[i]);
    assert.deepEqual(found.ids, tokens[i].ids);
    assert.deepEqual(found.tokens, tokens[i].tokens);
    assert.deepEqual(found.offsets, tokens[i].char_offsets);
    assert.deepEqual(found.wordIds.map((id) => (id < 0 ? null : id)), tokens[i].word_ids);
  }
});

test("similarity is the cosine of two vectors", async () => {
  const model = await Embert.load(blob);
  assert.ok(Math.abs(model.similarity("hello", "hello") - 1) < 1e-6);
  assert.equal(model.similarity("hello", "good bye"), cosine(model.embed("hello"), model.embed("good bye")));
  assert.equal(cosine([0, 0], [1, 2]), 0);
});

test("a model is read from a path, a URL, a Response and any view of bytes", async () => {
  const expected = (await Embert.load(blob)).checksum("hello");
  const shifted = new Uint8Array(blob.length + 3);
  shifted.set(blob, 3);
  for (const source of [EMBERT_MODEL, pathToFileURL(EMBERT_MODEL), new Response(blob), blob.buffer,
    shifted.subarray(3), new DataView(shifted.buffer, 3)]) {
    assert.equal((await Embert.load(source)).checksum("hello"), expected);
  }
});

test("two models at a time do not disturb each other", async () => {
  const [one, other] = await Promise.all([Embert.load(blob), Embert.load(blob, { maxTokens: 8 })]);
  assert.equal(other.maxTokens, 8);
  const before = one.checksum(texts[0]);
  other.checksum(texts[1]);
  assert.equal(one.checksum(texts[0]), before);
});

test("bad input is an exception with one sentence, and the next call works", async () => {
  const model = await Embert.load(blob);
  const expected = model.checksum("hello");
  const changed = (offset, value) => {
    const copy = blob.slice();
    copy[offset] = value;
    return copy;
  };
  const detached = blob.slice().buffer;
  structuredClone(detached, { transfer: [detached] });
  const loads = [
    [blob.subarray(0, 64), "EMBERT_STATUS_BLOB_TRUNCATED"],
    [blob.subarray(0, blob.length - 64), "EMBERT_STATUS_BLOB_TRUNCATED"],
    [changed(0, 0), "EMBERT_STATUS_BLOB_MAGIC"],
    [changed(8, 99), "EMBERT_STATUS_BLOB_VERSION"],
    [changed(blob.length >> 1, blob[blob.length >> 1] ^ 1), "EMBERT_STATUS_BLOB_CHECKSUM"],
    [new Uint8Array(0), null],
    [detached, null],
    [17, null],
    ["no-such-file.emb", null],
    ["http://127.0.0.1:9/model.emb", null],
    [new Response("", { status: 404 }), null],
  ];
  for (const [source, status] of loads) {
    await assert.rejects(Embert.load(source), (error) => {
      assert.ok(error instanceof EmbertError, String(error));
      assert.equal(error.status, status, error.message);
      assert.doesNotMatch(error.message, /\n/);
      return true;
    });
  }
  for (const maxTokens of [0, -1, 1.5, 100000, "8"]) {
    await assert.rejects(Embert.load(blob, { maxTokens }), { name: "EmbertError", status: "EMBERT_STATUS_INVALID_OPTION" });
  }
  await assert.rejects(Embert.load(blob, { kernels: "avx2" }), { name: "EmbertError" });
  for (const text of [undefined, null, 3, {}, ["a"]]) {
    assert.throws(() => model.embed(text), { name: "EmbertError" });
    assert.throws(() => model.classify("a", { pair: text ?? 3 }), { name: "EmbertError" });
  }
  assert.throws(() => model.embed("a", { prompt: "query" }), { name: "EmbertError" });
  assert.throws(() => model.rerank("a", ["b"]), { name: "EmbertError", message: /needs a model with one/ });
  for (const topK of [0, -1, 1.5, "3"]) {
    assert.throws(() => model.classify("a", { topK }), { status: "EMBERT_STATUS_INVALID_OPTION" });
  }
  assert.equal(model.checksum("hello"), expected);
});

test("a model over the memory limit is an exception, and the next one works", async () => {
  const bytes = new Uint8Array(2 ** 32);  // pages of zeros that nobody touches
  await assert.rejects(Embert.load(bytes), { name: "EmbertError", message: /^no memory: 409\d MiB are needed/ });
  assert.match((await Embert.load(blob)).checksum("hello"), /^[0-9a-f]{8}$/);
});

test("any string has a result: lone surrogates, NUL, ten million characters", async () => {
  const model = await Embert.load(blob);
  for (const text of ["", "\ud800", "\0", "a".repeat(10_000_000)]) {
    assert.match(model.checksum(text), /^[0-9a-f]{8}$/);
    assert.ok(model.tokenize(text).ids.length <= model.maxTokens);
  }
});

test("memory does not grow with the number of texts", async () => {
  const model = await Embert.load(blob);
  texts.forEach((text) => model.embed(text));
  const before = model.memoryBytes;
  for (let i = 0; i < 10_000; ++i) model.embed(texts[i % texts.length]);
  assert.equal(model.memoryBytes, before);
});

test("a model in a worker gives the same results", async () => {
  const model = await Embert.load(blob), worker = await EmbertWorker.load(blob);
  assert.deepEqual(worker.labels, model.labels);
  assert.equal(worker.dimensions, model.dimensions);
  const found = await Promise.all(texts.slice(0, 50).map((text) => worker.checksum(text)));
  assert.deepEqual(found, texts.slice(0, 50).map((text) => model.checksum(text)));
  assert.deepEqual(await worker.embed("hello"), model.embed("hello"));
  assert.deepEqual(await worker.classify("hello", { topK: 3 }), model.classify("hello", { topK: 3 }));
  assert.ok((await worker.memoryBytes()) > blob.length);
  worker.close();
  await assert.rejects(worker.embed("hello"), { name: "EmbertError", message: "the model was closed" });
});

test("errors of a worker are those of the model, and the next call works", async () => {
  await assert.rejects(EmbertWorker.load(blob.subarray(0, 64)), { name: "EmbertError", status: "EMBERT_STATUS_BLOB_TRUNCATED" });
  const worker = await EmbertWorker.load(pathToFileURL(EMBERT_MODEL));
  await assert.rejects(worker.embed(3), { name: "EmbertError" });
  await assert.rejects(worker.embed(() => 3), { name: "EmbertError" });
  assert.match(await worker.checksum("hello"), /^[0-9a-f]{8}$/);
  worker.close();
});

test("an answer that comes after close() is dropped", async () => {
  const worker = await EmbertWorker.load(blob);
  const waiting = worker.embed("hello");
  const settled = waiting.then(() => null, (error) => error);
  await new Promise((resolve) => setImmediate(resolve));  // the call is on its way
  worker.close();
  assert.equal((await settled).message, "the model was closed");
  started.emit("message", { id: 2, result: null });  // throws what a listener throws
});

test("a module that could not be read is read again at the next call", async () => {
  const folder = mkdtempSync(join(tmpdir(), "embert-package-"));
  try {
    for (const file of ["embert.js", "package.json"]) cpSync(`${EMBERT_WEB}/package/${file}`, join(folder, file));
    const copy = await import(pathToFileURL(join(folder, "embert.js")));
    await assert.rejects(copy.Embert.load(blob), { name: "EmbertError", message: /no such file/ });
    for (const kernels of ["scalar", "simd128"]) {
      cpSync(`${EMBERT_WEB}/package/embert-${kernels}.wasm`, join(folder, `embert-${kernels}.wasm`));
    }
    const model = await copy.Embert.load(blob);
    assert.match(model.checksum("hello"), /^[0-9a-f]{8}$/);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test("results beyond 2 GiB are read where they are", async (t) => {
  const far = new Uint8Array(2 ** 31 + 65536);  // the model, and bytes behind it that embert does not read
  far.set(blob);
  const near = await Embert.load(blob);
  const model = await Embert.load(far).catch((error) => {
    if (!/^no memory/.test(error.message)) throw error;
  });
  if (model === undefined) return t.skip("SKIPPED: this machine has no 2 GiB of memory for it");
  assert.deepEqual(model.labels, near.labels);
  assert.deepEqual(model.embed("hello"), near.embed("hello"));
  assert.deepEqual(model.classify("hello"), near.classify("hello"));
  assert.deepEqual(model.tokenize("hello"), near.tokenize("hello"));
});

test("the page's latest(): a call during a run that fails runs, and so does the next one", async () => {
  const { latest } = await import(pathToFileURL(`${EMBERT_WEB}/latest.js`));
  const seen = [];
  const run = latest(async (value) => {
    seen.push(value);
    if (value < 3) throw new Error(`${value} fails`);
  });
  const first = run(1);
  await run(2);  // while 1 runs
  await assert.rejects(first, { message: "2 fails" });
  await run(3);
  assert.deepEqual(seen, [1, 2, 3]);
});

test("a worker that cannot be started fails the call, and the next call starts one", async () => {
  const worker = await EmbertWorker.load(blob);
  const expected = await worker.checksum("hello");
  await started.terminate();
  const threadsWere = globalThis.Worker;
  try {
    globalThis.Worker = class {
      constructor() {
        throw new Error("forbidden");
      }
    };
    await assert.rejects(worker.checksum("hello"), /forbidden/);
    // A script that cannot be fetched: an event without a message.
    globalThis.Worker = class extends EventTarget {
      postMessage() {
        setImmediate(() => this.dispatchEvent(new Event("error")));
      }
      terminate() {}
    };
    await assert.rejects(worker.checksum("hello"), { name: "EmbertError", message: /embert-worker\.js cannot be loaded$/ });
  } finally {
    globalThis.Worker = threadsWere;
  }
  assert.equal(await worker.checksum("hello"), expected);
  worker.close();
});

test("a worker that ends in the middle fails the calls that wait, and the next call works", async () => {
  const worker = await EmbertWorker.load(blob);
  const expected = await worker.checksum("hello");
  const waiting = [worker.embed("a".repeat(1_000_000)), worker.embed("b")];
  const settled = Promise.allSettled(waiting);
  await started.terminate();
  for (const { status, reason } of await settled) {
    assert.equal(status, "rejected");
    assert.equal(reason.name, "EmbertError");
    assert.match(reason.message, /^the worker ended/);
  }
  // Calls before the new worker has the model wait for it.
  const calls = Array.from({ length: 3 }, () => worker.checksum("hello"));
  assert.deepEqual(await Promise.all(calls), [expected, expected, expected]);
  const closing = EmbertWorker.load(blob).then((other) => {
    const call = other.embed("a");
    other.close();
    return call;
  });
  await assert.rejects(closing, { name: "EmbertError" });
  worker.close();
});
