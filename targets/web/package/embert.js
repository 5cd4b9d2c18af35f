// SPDX-License-Identifier: Apache-2.0
// BERT in int8 as WebAssembly: text in; vector, labels, tokens or checksum out, with the bits that
// embert gives on every other processor. For browsers and Node, without dependencies.
//
//   import { Embert } from "embert";
//   const model = await Embert.load("minilm.emb");
//   const vector = model.embed("a cat on a mat");   // Float32Array

const PAGE = 65536;
const ALIGNMENT = 64;
const MAX_PAGES = 65536;  // 4 GiB, all that 32-bit addresses reach
// A module whose one function uses a vector instruction: browsers without these refuse it.
const SIMD_PROBE = Uint8Array.of(
  0, 97, 115, 109, 1, 0, 0, 0, 1, 5, 1, 96, 0, 1, 123, 3, 2, 1, 0, 10, 10, 1, 8, 0, 65, 0, 253, 15, 253, 98, 11);

// The sentence that an EmbertError has for a status. Other statuses have their name alone.
const MEANINGS = {
  EMBERT_STATUS_EMPTY_INPUT: "a text has no token",
  EMBERT_STATUS_INVALID_OPTION: "maxTokens is not in 1 .. the model's positions",
  EMBERT_STATUS_TOO_MANY_TOKENS: "maxTokens leaves no room beside the special tokens, or the text has 2^30 bytes or more",
  EMBERT_STATUS_TYPE_OUT_OF_RANGE: "the model takes single texts, not pairs",
  EMBERT_STATUS_BLOB_TRUNCATED: "the model file ends early: copy it again",
  EMBERT_STATUS_BLOB_MAGIC: "this is no embert model: make one with `embert convert`",
  EMBERT_STATUS_BLOB_VERSION: "the model file has a format version that this package does not read: update the older of the two",
  EMBERT_STATUS_BLOB_CHECKSUM: "the model file is damaged: copy it again",
  EMBERT_STATUS_BLOB_HEADER: "the model file is broken: convert the model again",
  EMBERT_STATUS_BLOB_SECTION: "the model file is broken: convert the model again",
  EMBERT_STATUS_BLOB_VALUE: "the model file is broken: convert the model again",
  EMBERT_STATUS_BLOB_TOKENIZER: "the model file is broken: convert the model again",
  EMBERT_STATUS_LAYOUT: "the weights are in an order for other processors: convert the model with `--layout n16k4`",
  EMBERT_STATUS_NOT_BUILT: "this module leaves out the model's family or tokenizer",
  EMBERT_STATUS_NO_TOKENIZER: "the model was converted without a tokenizer",
  EMBERT_STATUS_NO_CLASSIFIER: "the model has no classifier: use embed()",
  EMBERT_STATUS_NO_TOKEN_CLASSIFIER: "the model has no head for this task",
  EMBERT_STATUS_NO_LM: "the model has no masked language model head",
  EMBERT_STATUS_NO_MASK_TOKEN: "the text has no mask token among the tokens that the model reads",
  EMBERT_STATUS_TRUNCATION: "the question leaves the text no room in maxTokens",
  EMBERT_STATUS_TOKEN_OUT_OF_RANGE: "the vocabulary has no such token",
};

/** What went wrong. `status` is embert's name of it, such as "EMBERT_STATUS_BLOB_CHECKSUM", or null
 * where no function of embert was called. */
export class EmbertError extends Error {
  constructor(message, status = null) {
    super(message);
    this.name = "EmbertError";
    this.status = status;
  }
}

const AGGREGATIONS = ["none", "simple", "first", "average", "max"];  // in the order of embert_aggregation

function checkedText(text) {
  if (typeof text !== "string") throw new EmbertError(`expected a string, found ${text === null ? "null" : typeof text}`);
  return text;
}

const aligned = (address) => Math.ceil(address / ALIGNMENT) * ALIGNMENT;

async function bytesOf(source) {
  if (source instanceof ArrayBuffer || ArrayBuffer.isView(source)) {
    const buffer = ArrayBuffer.isView(source) ? source.buffer : source;
    if (buffer.detached === true || (buffer.byteLength === 0 && source.byteLength === 0)) {
      throw new EmbertError("the model's bytes are gone: the buffer is empty or was given to another thread");
    }
    return ArrayBuffer.isView(source)
      ? new Uint8Array(source.buffer, source.byteOffset, source.byteLength)
      : new Uint8Array(source);
  }
  if (typeof Response !== "undefined" && source instanceof Response) {
    if (!source.ok) throw new EmbertError(`${source.url}: HTTP status ${source.status}`);
    return new Uint8Array(await source.arrayBuffer());
  }
  if (typeof source === "string" || source instanceof URL) {
    if (typeof process !== "undefined" && process.versions?.node && !/^https?:/.test(String(source))) {
      const { readFile } = await import("node:fs/promises");
      const path = /^file:/.test(String(source)) ? new URL(source) : source;
      return readFile(path).then((bytes) => new Uint8Array(bytes), (error) => {
        throw new EmbertError(`${source}: ${error.message}`);
      });
    }
    return bytesOf(await fetch(source).catch((error) => {
      throw new EmbertError(`${source}: ${error.message}`);
    }));
  }
  throw new EmbertError("Embert.load takes bytes (ArrayBuffer, typed array), a URL or a Response");
}

const compiled = {};  // promises of the compiled modules, by kernels

/** The fastest kernels that this browser runs: "simd128" or "scalar". */
export function detectKernels() {
  return WebAssembly.validate(SIMD_PROBE) ? "simd128" : "scalar";
}

async function compiledModule(kernels) {
  compiled[kernels] ??= bytesOf(new URL(`./embert-${kernels}.wasm`, import.meta.url))
    .then((bytes) => WebAssembly.compile(bytes))
    .catch((error) => {
      delete compiled[kernels];  // the next call tries again
      throw error;
    });
  return compiled[kernels];
}

/** A model that is ready. Results are copies. */
export class Embert {
  #memory;
  #wasm;
  #texts;  // address of the memory for texts
  #encoder = new TextEncoder();
  #decoder = new TextDecoder();

  /** Reads a model and makes it ready for texts of up to `maxTokens` tokens; longer ones are cut. By
   * default as many as the model was made for. `kernels`: "simd128" or "scalar"; results have the
   * same bits. */
  static async load(source, { maxTokens, kernels = detectKernels() } = {}) {
    if (kernels !== "simd128" && kernels !== "scalar") {
      throw new EmbertError(`kernels is ${JSON.stringify(kernels)}; expected "simd128" or "scalar"`);
    }
    const [module, blob] = await Promise.all([compiledModule(kernels), bytesOf(source)]);
    return new Embert(await Embert.#instance(module), blob, maxTokens);
  }

  static async #instance(module) {
    // The module's import says how many pages it begins with.
    for (let initial = 2; ; initial *= 2) {
      const memory = new WebAssembly.Memory({ initial, maximum: MAX_PAGES });
      try {
        return { memory, wasm: (await WebAssembly.instantiate(module, { env: { memory } })).exports };
      } catch (error) {
        if (!(error instanceof WebAssembly.LinkError) || initial >= 256) throw error;
      }
    }
  }

  /** Not for callers: use Embert.load. */
  constructor({ memory, wasm }, blob, maxTokens) {
    this.#memory = memory;
    this.#wasm = wasm;
    const blobAt = aligned(wasm.__heap_base.value);
    this.#reserve(blobAt + blob.byteLength);
    new Uint8Array(memory.buffer, blobAt, blob.byteLength).set(blob);
    this.#check(wasm.open(blobAt, blob.byteLength), "the model");
    const tokens = maxTokens ?? wasm.max_tokens();
    if (!Number.isInteger(tokens) || tokens < 1 || tokens > wasm.max_positions()) {
      throw new EmbertError(`maxTokens is ${tokens}; the model takes 1 to ${wasm.max_positions()}`,
        "EMBERT_STATUS_INVALID_OPTION");
    }
    const engineAt = aligned(blobAt + blob.byteLength);
    const room = wasm.room(tokens) >>> 0;
    this.#reserve(engineAt + room);
    this.#check(wasm.start(tokens, engineAt), "the model");
    this.#texts = engineAt + room;
    this.maxTokens = tokens;
    this.dimensions = wasm.vector_size();
    this.labels = Array.from({ length: wasm.num_labels() }, (_, i) => this.#string(wasm.label_name(i)));
    this.tokenLabels = Array.from({ length: wasm.num_token_labels() }, (_, i) => this.#string(wasm.token_label_name(i)));
    this.prompts = Object.fromEntries(Array.from({ length: wasm.num_prompts() }, (_, i) =>
      [this.#string(wasm.prompt_name(i)), this.#string(wasm.prompt_text(i))]));
    const prompt = wasm.default_prompt() >>> 0;
    this.defaultPrompt = prompt < wasm.num_prompts() ? this.#string(wasm.prompt_name(prompt)) : "";
    this.isa = this.#string(wasm.isa());
    this.modelChecksum = hex(wasm.model_checksum());
  }

  /** The text's vector, pooled and normalised as the model was made for. `prompt` is the name of one
   * of the model's prompts, "" none. */
  embed(text, { prompt = this.defaultPrompt } = {}) {
    const { at, bytes } = this.#texts_of([this.#prompted(text, prompt)])[0];
    this.#check(this.#wasm.embed(at, bytes), "embed");
    const values = new Int16Array(this.#memory.buffer, this.#wasm.vector() >>> 0, this.dimensions);
    const scale = this.#wasm.scale();
    return Float32Array.from(values, (value) => value * scale);
  }

  /** The labels of a text, or of a pair of texts, best first. */
  classify(text, { pair = null, topK = null } = {}) {
    if (topK !== null) this.#checkCount(topK, "topK");
    return this.#ranked(pair === null ? [text] : [text, pair], "classify").slice(0, topK ?? undefined);
  }

  /** The cosine of two texts' vectors. */
  similarity(text, other, options = {}) {
    return cosine(this.embed(text, options), this.embed(other, options));
  }

  /** The passages with the cross-encoder's logit for each, best first. The model has one label. */
  rerank(query, passages) {
    if (this.labels.length > 1) {
      throw new EmbertError(`rerank: the model has ${this.labels.length} labels, and rerank needs a model with one; use classify with pairs`);
    }
    return passages
      .map((passage, index) => ({ index, passage, score: this.#ranked([query, passage], "rerank")[0].logit }))
      .sort((a, b) => b.score - a.score || a.index - b.index);
  }

  /** The tokens that the model reads. Offsets are indices of the text's or the pair's string. */
  tokenize(text, { pair = null } = {}) {
    const texts = pair === null ? [text] : [text, pair];
    const [first, second] = this.#texts_of(texts);
    this.#check(this.#wasm.tokenize(first.at, first.bytes, second?.at ?? 0, second?.bytes ?? 0), "tokenize");
    const count = this.#wasm.tokens();
    const offsets = this.#words(this.#wasm.char_offsets(), 2 * count);
    const sequences = this.#words(this.#wasm.sequence_ids(), count);
    const ids = this.#words(this.#wasm.ids(), count);
    const indices = texts.map(stringIndices);
    return {
      ids,
      typeIds: this.#words(this.#wasm.type_ids(), count),
      wordIds: this.#words(this.#wasm.word_ids(), count),
      tokens: ids.map((id) => this.#token(id)),
      offsets: sequences.map((sequence, i) => offsets.slice(2 * i, 2 * i + 2)
        .map((at) => (sequence < 0 ? 0 : indices[sequence](at)))),
    };
  }

  /** The entities of a text, in its order; longer texts are read in overlapping windows. */
  tag(text, { aggregation = "simple" } = {}) {
    const how = AGGREGATIONS.indexOf(aggregation);
    if (how < 0) throw new EmbertError(`aggregation is ${JSON.stringify(aggregation)}; expected one of ${AGGREGATIONS.join(", ")}`);
    const end = this.#split([text], "tag");
    this.#reserve(end + (this.#wasm.tag_room() >>> 0));
    this.#check(this.#wasm.tag(end, how), "tag");
    const count = this.#wasm.result_count(), index = stringIndices(text);
    const words = this.#words(this.#wasm.entities(), 11 * count);
    return Array.from({ length: count }, (_, i) => {
      const [label, score, , , , , , , , begin, end] = words.slice(11 * i, 11 * i + 11);
      const name = this.tokenLabels[label];
      const offsets = [index(begin), index(end)];
      return {
        label: aggregation === "none" ? name : name.slice(name.indexOf("-") + 1),
        score: score / 2 ** 30,
        text: text.slice(...offsets),
        offsets,
      };
    });
  }

  /** The parts of a context that best answer a question, each once, best first; longer contexts are read in
   * overlapping windows. */
  answer(question, context, { topK = 1, maxAnswerTokens = 15, allowNoAnswer = false } = {}) {
    this.#checkCount(topK, "topK");
    this.#checkCount(maxAnswerTokens, "maxAnswerTokens");
    const end = this.#split([question, context], "answer");
    this.#reserve(end + (this.#wasm.answer_room(topK) >>> 0));
    this.#check(this.#wasm.answer(end, topK, maxAnswerTokens, allowNoAnswer ? 1 : 0), "answer");
    const count = this.#wasm.result_count(), index = stringIndices(context), at = this.#wasm.answers() >>> 0;
    const words = this.#words(at, 12 * count);
    const log2Scores = new BigInt64Array(this.#memory.buffer, at, 6 * count);
    return Array.from({ length: count }, (_, i) => {
      const offsets = words.slice(12 * i + 9, 12 * i + 11).map(index);
      return { answer: context.slice(...offsets), score: probability(log2Scores[6 * i]), offsets };
    });
  }

  /** For each mask of a text the words that fit best, best first. Texts are cut to `maxTokens`. */
  fillMask(text, { topK = 5 } = {}) {
    this.#checkCount(topK, "topK");
    const [{ at, bytes }] = this.#texts_of([text]);
    this.#check(this.#wasm.tokenize(at, bytes, 0, 0), "fillMask");
    const count = this.#wasm.tokens();
    const ids = this.#words(this.#wasm.ids(), count), mask = this.#wasm.mask_id();
    const positions = [...ids.keys()].filter((i) => ids[i] === mask);
    this.#check(this.#wasm.run(this.#wasm.ids(), this.#wasm.type_ids(), count), "fillMask");
    if (positions.length === 0) this.#fail("EMBERT_STATUS_NO_MASK_TOKEN", "fillMask");
    return positions.map((position) => ({
      position,
      words: this.#best(position, topK).map(({ id, score }) => ({
        word: this.#textOf([id], false) || null,
        score,
        id,
        sequence: this.#textOf(ids.map((old, i) => (i === position ? id : old)), positions.length === 1),
      })),
    }));
  }

  /** The checksum of the text's output bits, as `embert checksum` prints it on every processor. */
  checksum(text) {
    const [{ at, bytes }] = this.#texts_of([text]);
    this.#check(this.#wasm.checksum(at, bytes), "checksum");
    return hex(this.#wasm.checksum_value());
  }

  /** Bytes of WebAssembly memory in use: the model, its arena and the longest text so far. */
  get memoryBytes() {
    return this.#memory.buffer.byteLength;
  }

  // The labels of a text or a pair, best first.
  #ranked(texts, call) {
    const [first, second] = this.#texts_of(texts);
    this.#check(this.#wasm.classify(first.at, first.bytes, second?.at ?? 0, second?.bytes ?? 0), call);
    const count = this.#wasm.label_count(), words = this.#words(this.#wasm.labels(), 3 * count);
    const scale = this.#wasm.scale();
    return Array.from({ length: count }, (_, i) => ({
      label: this.labels[words[3 * i]],
      score: (words[3 * i + 2] >>> 0) / 2 ** 30,
      logit: words[3 * i + 1] * scale,
    }));
  }

  // Makes windows of a text or a pair, and returns the address behind them.
  #split(texts, call) {
    const [first, second] = this.#texts_of(texts);
    this.#check(this.#wasm.count_tokens(first.at, first.bytes, second?.at ?? 0, second?.bytes ?? 0), call);
    const last = second ?? first, at = aligned(last.at + last.bytes), room = (this.#wasm.split_room() >>> 0);
    this.#reserve(at + room);
    this.#check(this.#wasm.split(at), call);
    return at + room;
  }

  // The best tokens for a row of the last run.
  #best(row, topK) {
    this.#reserve(this.#texts + 24 * topK);
    this.#check(this.#wasm.best_tokens(row, this.#texts, topK), "fillMask");
    const items = new DataView(this.#memory.buffer, this.#texts);
    return Array.from({ length: this.#wasm.best_count() }, (_, i) =>
      ({ id: items.getInt32(24 * i, true), score: probability(items.getBigInt64(24 * i + 16, true)) }));
  }

  #textOf(all, skipSpecial) {
    const known = all.filter((id) => id < this.#wasm.token_count());
    if (known.length === 0) return "";
    const at = this.#texts + 4 * known.length;
    for (let capacity = 16 * known.length; ; capacity = this.#wasm.text_bytes()) {
      this.#reserve(at + capacity);
      new Int32Array(this.#memory.buffer, this.#texts, known.length).set(known);
      const status = this.#wasm.detokenize(this.#texts, known.length, skipSpecial ? 1 : 0, at, capacity);
      if (status !== 0 && this.#wasm.text_bytes() > capacity) continue;
      this.#check(status, "fillMask");
      return this.#decoder.decode(new Uint8Array(this.#memory.buffer, at, this.#wasm.text_bytes()).slice());
    }
  }

  #checkCount(value, name) {
    if (!Number.isInteger(value) || value < 1 || value > 1000) {
      throw new EmbertError(`${name} is ${value}; expected 1 to 1000`, "EMBERT_STATUS_INVALID_OPTION");
    }
  }

  #words(address, count) {
    return Array.from(new Int32Array(this.#memory.buffer, address >>> 0, count));
  }

  #prompted(text, prompt) {
    if (prompt === "") return text;
    if (!Object.hasOwn(this.prompts, prompt)) {
      const names = Object.keys(this.prompts).map((name) => JSON.stringify(name)).join(", ");
      throw new EmbertError(`the model has no prompt ${JSON.stringify(prompt)}; it has ${names || "none"}`);
    }
    return this.prompts[prompt] + checkedText(text);
  }

  // Writes texts as UTF-8, one behind the other.
  #texts_of(texts) {
    let at = this.#texts;
    return texts.map((text) => {
      const utf8 = this.#encoder.encode(checkedText(text));
      this.#reserve(at + utf8.length + 1);
      new Uint8Array(this.#memory.buffer, at, utf8.length).set(utf8);
      const place = { at, bytes: utf8.length };
      at += utf8.length + 1;
      return place;
    });
  }

  #reserve(end) {
    const missing = end - this.#memory.buffer.byteLength;
    if (missing <= 0) return;
    try {
      this.#memory.grow(Math.ceil(missing / PAGE));
    } catch {
      throw new EmbertError(`no memory: ${Math.ceil(end / 2 ** 20)} MiB are needed for model, arena and text`);
    }
  }

  #token(id) {
    this.#check(this.#wasm.find_token(id), "tokenize");
    return this.#decoder.decode(new Uint8Array(this.#memory.buffer, this.#wasm.token() >>> 0, this.#wasm.token_bytes()).slice());
  }

  #string(address) {
    const bytes = new Uint8Array(this.#memory.buffer, address >>> 0);
    return this.#decoder.decode(bytes.slice(0, bytes.indexOf(0)));
  }

  #check(status, call) {
    if (status === 0) return;
    this.#fail(this.#string(this.#wasm.status_name(status)), call);
  }

  #fail(name, call) {
    throw new EmbertError(`${call}: ${MEANINGS[name] ?? name}`, name);
  }
}

/** A model in a worker, so that a page never freezes: the calls of Embert, as promises. If the worker
 * ends, the calls that wait fail, and the next one starts another worker. */
export class EmbertWorker {
  #source;
  #options;
  #worker = null;
  #ready = null;  // the promise that the worker has the model
  #waiting = new Map();  // resolve and reject of each call, by its number
  #calls = 0;
  #closed = false;

  /** The arguments of Embert.load. */
  static async load(source, options = {}) {
    // A response is read once; a worker that starts again reads the bytes. Bytes are copied, as the
    // caller may change or give away his.
    const isAddress = typeof source === "string" || source instanceof URL;
    const model = new EmbertWorker(isAddress ? absolute(source) : (await bytesOf(source)).slice(), options);
    await (model.#ready = model.#start());
    return model;
  }

  /** Not for callers: use EmbertWorker.load. */
  constructor(source, options) {
    this.#source = source;
    this.#options = options;
  }

  embed(...values) { return this.#call("embed", values); }
  classify(...values) { return this.#call("classify", values); }
  similarity(...values) { return this.#call("similarity", values); }
  rerank(...values) { return this.#call("rerank", values); }
  tag(...values) { return this.#call("tag", values); }
  answer(...values) { return this.#call("answer", values); }
  fillMask(...values) { return this.#call("fillMask", values); }
  tokenize(...values) { return this.#call("tokenize", values); }
  checksum(...values) { return this.#call("checksum", values); }
  /** A promise of Embert's memoryBytes. */
  memoryBytes() { return this.#call("memoryBytes", []); }

  /** Ends the worker. Calls that wait fail, and so do later ones. */
  close() {
    this.#closed = true;
    this.#end("the model was closed");
  }

  async #start() {
    const file = new URL("./embert-worker.js", import.meta.url);
    const isNode = typeof Worker === "undefined";
    const Thread = isNode ? (await import("node:worker_threads")).Worker : Worker;
    if (this.#closed) throw new EmbertError("the model was closed");
    const worker = new Thread(file, { type: "module" });
    const ended = (reason) => worker === this.#worker && this.#end(`the worker ended: ${reason}`);
    if (isNode) {
      worker.on("message", (message) => this.#receive(message));
      worker.on("error", (error) => ended(error.message));
      worker.on("exit", (code) => ended(`exit code ${code}`));
      worker.unref();
    } else {
      worker.addEventListener("message", (event) => this.#receive(event.data));
      // A script that cannot be fetched gives an event without a message.
      worker.addEventListener("error", (event) => ended(event.message ?? `${file} cannot be loaded`));
    }
    this.#worker = worker;
    try {
      Object.assign(this, await this.#send("load", [this.#source, this.#options]));
    } catch (error) {
      if (worker === this.#worker) this.#end(error.message);
      throw error;
    }
  }

  async #call(call, values) {
    if (this.#closed) throw new EmbertError("the model was closed");
    const ready = (this.#ready ??= this.#start());
    try {
      await ready;
    } catch (error) {
      if (ready === this.#ready) this.#ready = null;
      throw error;
    }
    if (this.#worker === null) throw new EmbertError("the worker ended");
    return this.#send(call, values);
  }

  #send(call, values) {
    const id = ++this.#calls;
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
      if (this.#waiting.size === 1) this.#worker.ref?.();
      try {
        this.#worker.postMessage({ id, call, values });
      } catch (error) {  // such as a function among the values
        this.#settle(id).reject(new EmbertError(`${call}: ${error.message}`));
      }
    });
  }

  // Node ends when nobody waits.
  #settle(id) {
    const waiting = this.#waiting.get(id);
    this.#waiting.delete(id);
    if (this.#waiting.size === 0) this.#worker?.unref?.();
    return waiting;
  }

  #receive({ id, result, error }) {
    const waiting = this.#settle(id);
    if (!waiting) return;  // close() has failed the call
    if (error) {
      waiting.reject(new EmbertError(error.message, error.status));
    } else {
      waiting.resolve(result);
    }
  }

  #end(message) {
    this.#worker?.terminate();
    this.#worker = null;
    this.#ready = null;
    const waiting = [...this.#waiting.values()];
    this.#waiting.clear();
    for (const { reject } of waiting) reject(new EmbertError(message));
  }
}

const absolute = (source) => {
  const isPath = typeof source === "string" && typeof location === "undefined";
  return isPath ? source : new URL(source, globalThis.location?.href).href;
};

// The probability of a base-2 logarithm in units of 2^-26.
const probability = (log2Score) => 2 ** (Number(log2Score) / 2 ** 26);

// The function from a text's code points to indices of its string, which count UTF-16 units.
function stringIndices(text) {
  if (!/[\u{10000}-\u{10ffff}]/u.test(text)) return (point) => point;
  const indices = [0];
  for (const point of text) indices.push(indices.at(-1) + point.length);
  return (point) => indices[point];
}

const hex = (value) => (value >>> 0).toString(16).padStart(8, "0");

/** The cosine of two vectors of the same length. */
export function cosine(a, b) {
  let ab = 0, aa = 0, bb = 0;
  for (let i = 0; i < a.length; ++i) {
    ab += a[i] * b[i];
    aa += a[i] * a[i];
    bb += b[i] * b[i];
  }
  return aa === 0 || bb === 0 ? 0 : ab / Math.sqrt(aa * bb);
}
