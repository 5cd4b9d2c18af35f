// SPDX-License-Identifier: Apache-2.0
// Models with a head for each task: the encoder of tiny-embed under a head of random weights, converted by the tool.
// Their answers mean nothing, but the package must give those that the tool gives.
import { execFileSync } from "node:child_process";
import { copyFileSync, cpSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const H = 128, VOCABULARY = 8000;
export const LABELS = ["O", "B-person", "I-person", "B-place", "I-place"];

const HEADS = {
  tag: {
    config: { architectures: ["BertForTokenClassification"], id2label: { ...LABELS }, label2id: Object.fromEntries(LABELS.map((label, i) => [label, i])) },
    tensors: { "classifier.weight": [LABELS.length, H], "classifier.bias": [LABELS.length] },
  },
  answer: {
    config: { architectures: ["BertForQuestionAnswering"] },
    tensors: { "qa_outputs.weight": [2, H], "qa_outputs.bias": [2] },
  },
  rerank: {
    config: { architectures: ["BertForSequenceClassification"], id2label: { 0: "LABEL_0" }, label2id: { LABEL_0: 0 } },
    tensors: { "bert.pooler.dense.weight": [H, H], "bert.pooler.dense.bias": [H], "classifier.weight": [1, H], "classifier.bias": [1] },
  },
  "fill-mask": {
    config: { architectures: ["BertForMaskedLM"] },
    tensors: {
      "cls.predictions.transform.dense.weight": [H, H],
      "cls.predictions.transform.dense.bias": [H],
      "cls.predictions.transform.LayerNorm.weight": [H],
      "cls.predictions.transform.LayerNorm.bias": [H],
      "cls.predictions.bias": [VOCABULARY],
    },
  },
};

/** The weights of tiny-embed, named as those of a whole model, and random tensors of the shapes given. */
function weights(file, shapes) {
  const encoder = readFileSync(file);
  const length = Number(encoder.readBigUInt64LE(0));
  const header = {};
  for (const [name, entry] of Object.entries(JSON.parse(encoder.subarray(8, 8 + length)))) {
    if (name !== "__metadata__") header[`bert.${name}`] = entry;
  }
  const parts = [encoder.subarray(8 + length)];
  let end = parts[0].length, state = 1;
  for (const [name, shape] of Object.entries(shapes)) {
    const values = Float32Array.from({ length: shape.reduce((a, b) => a * b) }, () => {
      state = (Math.imul(state, 1664525) + 1013904223) >>> 0;  // Knuth's linear congruential generator
      return (state / 2 ** 32 - 0.5) / 2;
    });
    header[name] = { dtype: "F32", shape, data_offsets: [end, end + values.byteLength] };
    parts.push(Buffer.from(values.buffer));
    end += values.byteLength;
  }
  const text = Buffer.from(JSON.stringify(header)), size = Buffer.alloc(8);
  size.writeBigUInt64LE(BigInt(text.length));
  return Buffer.concat([size, text, ...parts]);
}

/** Converts the model of a task ("tag", "answer", "rerank", "fill-mask") and returns its path. */
export function taskModel(task, { tool, source, folder }) {
  const { config, tensors } = HEADS[task], model = join(folder, task);
  mkdirSync(model, { recursive: true });
  for (const file of ["special_tokens_map.json", "tokenizer.json", "tokenizer_config.json"]) {
    copyFileSync(join(source, file), join(model, file));
  }
  const encoder = JSON.parse(readFileSync(join(source, "config.json")));
  writeFileSync(join(model, "config.json"), JSON.stringify({ ...encoder, ...config }));
  writeFileSync(join(model, "model.safetensors"), weights(join(source, "model.safetensors"), tensors));
  const blob = join(folder, `${task}.emb`);
  execFileSync(tool, ["convert", model, "-o", blob], { stdio: ["ignore", "ignore", "inherit"] });
  return blob;
}

/** Converts tiny-embed with a prompt and returns its path. */
export function promptedModel({ tool, source, folder }) {
  const model = join(folder, "prompted"), blob = join(folder, "prompted.emb");
  cpSync(source, model, { recursive: true });
  writeFileSync(join(model, "config_sentence_transformers.json"), JSON.stringify({ prompts: { query: "query: " } }));
  execFileSync(tool, ["convert", model, "-o", blob], { stdio: ["ignore", "ignore", "inherit"] });
  return blob;
}
