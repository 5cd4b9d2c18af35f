// SPDX-License-Identifier: Apache-2.0
// Entities, answers and masked words of the package in Node are those of the tool; offsets are indices of
// JavaScript's strings. The environment is that of embert.test.mjs.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { fileURLToPath, pathToFileURL } from "node:url";

import { LABELS, promptedModel, taskModel } from "./task_models.mjs";

const { EMBERT_WEB, EMBERT_TOOL } = process.env;
const { Embert, EmbertWorker } = await import(pathToFileURL(`${EMBERT_WEB}/package/embert.js`));
const folder = mkdtempSync(join(tmpdir(), "embert-tasks-"));
after(() => rmSync(folder, { recursive: true }));
const source = fileURLToPath(new URL("../../../targets/web/tiny-embed", import.meta.url));
const model = (task) => taskModel(task, { tool: EMBERT_TOOL, source, folder });

const LONG = "The old harbour of Hamburg was quiet when Anna and Peter came home from Lisbon. ".repeat(30).trim();
const TEXTS = [
  "",
  "John Smith lives in Hamburg",
  "\u{1f600} Anna \u{1f468}\u200d\u{1f469}\u200d\u{1f467} lives \u{1f1e9}\u{1f1ea} in K\u00f6ln, not in Tokyo\u6771\u4eac",
  "e\u0301te\u0301 in Orle\u0301ans \u{1d4d0}\u{1d4ed}\u{1d4f6}",
  LONG,
  `\u{1f600}${LONG}\u{1f600}`,
];

/** What the tool prints for objects of texts. */
function tool(command, blob, objects, ...options) {
  const input = objects.map((object) => `${JSON.stringify(object)}\n`).join("");
  return execFileSync(EMBERT_TOOL, [command, blob, "--jsonl", "--json", ...options], { input, maxBuffer: 1 << 28 })
    .toString().trim().split("\n").map((line) => JSON.parse(line));
}

/** The piece of a text between two code points. */
const piece = (text, [begin, end]) => [...text].slice(begin, end).join("");

function near(found, expected) {
  assert.ok(Math.abs(found - expected) <= 1e-9 * Math.max(expected, 1e-30), `${found} ${expected}`);
}

test("tag: the entities are the tool's, with every aggregation", async () => {
  const blob = model("tag"), embert = await Embert.load(blob);
  assert.deepEqual(embert.tokenLabels, LABELS);
  let windows = 0, entities = 0;
  for (const aggregation of ["none", "simple", "first", "average", "max"]) {
    const expected = tool("tag", blob, TEXTS.map((text) => ({ text })), "--aggregation", aggregation);
    TEXTS.forEach((text, i) => {
      const found = embert.tag(text, { aggregation });
      windows = Math.max(windows, expected[i].windows);
      entities += found.length;
      assert.deepEqual(found.map(({ label }) => label), expected[i].entities.map(({ label }) => label));
      found.forEach((entity, n) => {
        const want = expected[i].entities[n];
        assert.equal(entity.text, want.text);
        assert.equal(text.slice(...entity.offsets), want.text);
        assert.equal(piece(text, want.char_offsets), want.text);
        near(entity.score, want.score);
      });
    });
  }
  assert.ok(windows > 3 && entities > 100, `${windows} windows, ${entities} entities`);
  assert.throws(() => embert.tag("a", { aggregation: "mean" }), { name: "EmbertError" });
  assert.throws(() => embert.answer("a", "b"), { status: "EMBERT_STATUS_NO_TOKEN_CLASSIFIER" });
  assert.throws(() => embert.fillMask("a"), { status: "EMBERT_STATUS_NO_LM" });
  const worker = await EmbertWorker.load(blob);
  assert.deepEqual(await worker.tag(TEXTS[2]), embert.tag(TEXTS[2]));
  assert.deepEqual(worker.tokenLabels, LABELS);
  worker.close();
});

test("rerank: the order and the logits are the tool's", async () => {
  const blob = model("rerank"), embert = await Embert.load(blob);
  const query = "who lives in Hamburg", passages = TEXTS.slice(0, 4);
  const [{ documents }] = tool("rerank", blob, [{ query, documents: passages }], "--function", "none");
  const found = embert.rerank(query, passages);
  assert.deepEqual(found.map(({ index, passage }) => [index, passage]), documents.map(({ document, index }) => [index, document]));
  found.forEach(({ score }, i) => assert.ok(Math.abs(score - documents[i].score) < 1e-6, `${score} ${documents[i].score}`));
  for (const passage of [null, undefined, 7]) {
    assert.throws(() => embert.rerank(query, ["a", passage]), { name: "EmbertError", message: /^expected a string/ });
  }
});

test("a prompt goes before texts only", async () => {
  const model = await Embert.load(promptedModel({ tool: EMBERT_TOOL, source, folder }));
  assert.deepEqual(model.prompts, { query: "query: " });
  assert.deepEqual(model.embed("a", { prompt: "query" }), model.embed("query: a", { prompt: "" }));
  for (const text of [undefined, null, 3]) {
    assert.throws(() => model.embed(text, { prompt: "query" }), { name: "EmbertError", message: /^expected a string/ });
  }
});

test("tag: windows that need more than 32 bits can count are refused", async () => {
  const embert = await Embert.load(model("tag"), { maxTokens: 4 });
  assert.ok(Array.isArray(embert.tag("a b c d e")));
  // Each of 25 million windows has room for 4 entities of 44 bytes.
  assert.throws(() => embert.tag("a ".repeat(25_000_000)), { name: "EmbertError", message: /^no memory: [4-9]\d{3} MiB/ });
});

test("answer: the parts of the context are the tool's", async () => {
  const blob = model("answer"), embert = await Embert.load(blob);
  const pairs = TEXTS.slice(1).map((context) => ({ question: "Who came home \u{1f600}?", context }));
  let windows = 0;
  for (const [options, ...flags] of [
    [{}],
    [{ topK: 7, maxAnswerTokens: 3 }, "--top", "7", "--max-answer-tokens", "3"],
    [{ topK: 3, allowNoAnswer: true }, "--top", "3", "--allow-no-answer"],
  ]) {
    const expected = tool("answer", blob, pairs, ...flags);
    pairs.forEach(({ question, context }, i) => {
      const found = embert.answer(question, context, options);
      windows = Math.max(windows, expected[i].windows);
      assert.deepEqual(found.map(({ answer }) => answer), expected[i].answers.map(({ answer }) => answer));
      found.forEach((answer, n) => {
        assert.equal(context.slice(...answer.offsets), expected[i].answers[n].answer);
        near(answer.score, expected[i].answers[n].score);
      });
    });
  }
  assert.ok(windows > 3);
  for (const [question, context] of [["", "a"], ["a", ""]]) {
    assert.throws(() => embert.answer(question, context), { status: "EMBERT_STATUS_EMPTY_INPUT" });
  }
  assert.throws(() => embert.answer(LONG, "a"), { status: "EMBERT_STATUS_TRUNCATION" });
  assert.throws(() => embert.answer("a", 3), { name: "EmbertError" });
  for (const options of [{ topK: 0 }, { topK: 1.5 }, { topK: 1e9 }, { maxAnswerTokens: 0 }]) {
    assert.throws(() => embert.answer("a", "b", options), { status: "EMBERT_STATUS_INVALID_OPTION" });
  }
  assert.throws(() => embert.tag("a"), { status: "EMBERT_STATUS_NO_TOKEN_CLASSIFIER" });
  assert.equal(embert.answer(pairs[0].question, pairs[0].context).length, 1);
  const worker = await EmbertWorker.load(blob);
  assert.deepEqual(await worker.answer("Who?", TEXTS[2]), embert.answer("Who?", TEXTS[2]));
  worker.close();
});

test("fillMask: words, scores and sequences are the tool's", async () => {
  const blob = model("fill-mask"), embert = await Embert.load(blob);
  const texts = ["Paris is the [MASK] of France.", "[MASK] \u{1f600} and [MASK] don't", `[MASK] ${LONG}`];
  const expected = tool("fill-mask", blob, texts.map((text) => ({ text })), "--top", "4");
  texts.forEach((text, i) => {
    const found = embert.fillMask(text, { topK: 4 });
    assert.equal(found.length, expected[i].masks.length);
    found.forEach(({ position, words }, m) => {
      const want = expected[i].masks[m];
      assert.equal(position, want.position);
      assert.deepEqual(words.map(({ score, ...rest }) => rest), want.words.map(({ score, ...rest }) => rest));
      words.forEach(({ score }, n) => near(score, want.words[n].score));
    });
  });
  for (const text of ["", "no mask", `${LONG} [MASK]`]) {
    assert.throws(() => embert.fillMask(text), { status: "EMBERT_STATUS_NO_MASK_TOKEN" });
  }
  assert.throws(() => embert.fillMask("[MASK]", { topK: -1 }), { status: "EMBERT_STATUS_INVALID_OPTION" });
  const worker = await EmbertWorker.load(blob);
  assert.deepEqual(await worker.fillMask(texts[0]), embert.fillMask(texts[0]));
  worker.close();
});

test("tokenize: offsets are indices of the strings of text and pair", async () => {
  const blob = model("answer"), embert = await Embert.load(blob);
  for (const text of TEXTS) {
    const pair = `\u{1f600} ${text}`.slice(0, 60).replace(/[\ud800-\udbff]$/, "");
    const expected = JSON.parse(execFileSync(EMBERT_TOOL, ["tokenize", blob, "--json", "--pair", pair, "--", text]));
    const found = embert.tokenize(text, { pair });
    assert.deepEqual(found.ids, expected.ids);
    let second = 0;
    found.offsets.forEach(([begin, end], i) => {
      if (found.wordIds[i] < 0) return assert.deepEqual([begin, end], [0, 0]);
      const of = found.typeIds[i] === 0 ? text : pair;
      second += of === pair ? 1 : 0;
      assert.equal(of.slice(begin, end), piece(of, expected.char_offsets[i]));
    });
    assert.ok(second > 0);
  }
});
