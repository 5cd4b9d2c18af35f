// SPDX-License-Identifier: Apache-2.0
// The worker of EmbertWorker: one model, one call at a time. A message {id, call, values} is answered
// with {id, result} or {id, error}.
import { Embert } from "./embert.js";

const CALLS = new Set(["embed", "classify", "similarity", "rerank", "tag", "answer", "fillMask", "tokenize", "checksum"]);
const FACTS = ["maxTokens", "dimensions", "labels", "tokenLabels", "prompts", "defaultPrompt", "isa", "modelChecksum"];

const port = typeof self === "undefined" ? (await import("node:worker_threads")).parentPort : self;
let model = null;

async function answer({ call, values }) {
  if (call === "load") {
    model = await Embert.load(...values);
    return Object.fromEntries(FACTS.map((fact) => [fact, model[fact]]));
  }
  if (call === "memoryBytes") return model.memoryBytes;
  if (!CALLS.has(call)) throw new Error(`no such call: ${call}`);
  return model[call](...values);
}

async function receive(message) {
  try {
    port.postMessage({ id: message.id, result: await answer(message) });
  } catch (error) {
    const { message: text, status = null, name } = error;
    port.postMessage({ id: message.id, error: { message: name === "EmbertError" ? text : String(error), status } });
  }
}

// Node's port hands out messages, a browser's events.
if (typeof port.on === "function") {
  port.on("message", receive);
} else {
  port.addEventListener("message", (event) => receive(event.data));
}
