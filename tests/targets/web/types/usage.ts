// SPDX-License-Identifier: Apache-2.0
// Calls of the package as TypeScript sees them; types.test.mjs compiles this file and never runs it.
import { cosine, detectKernels, Embert, EmbertError, EmbertWorker } from "embert";
import type { Answer, Entity, FilledMask, Kernels, LabelScore, ModelFacts, RankedPassage, Tokens } from "embert";

export async function calls(bytes: Uint8Array, response: Response): Promise<void> {
  const kernels: Kernels = detectKernels();
  const model: Embert = await Embert.load(bytes, { maxTokens: 32, kernels });
  const facts: ModelFacts = model;
  const names: string[] = [...facts.labels, ...model.tokenLabels, model.defaultPrompt, model.isa, model.modelChecksum];
  const vector: Float32Array = model.embed("a", { prompt: "" });
  const labels: LabelScore[] = model.classify("a", { pair: null, topK: 1 });
  const passages: RankedPassage[] = model.rerank("a", names);
  const entities: Entity[] = model.tag("a", { aggregation: "first" });
  const answers: Answer[] = model.answer("a", "b", { topK: 2, maxAnswerTokens: 3, allowNoAnswer: true });
  const masks: FilledMask[] = model.fillMask("[MASK]", { topK: 2 });
  const tokens: Tokens = model.tokenize("a", { pair: "b" });
  const numbers: number[] = [model.similarity("a", "b"), cosine(vector, [1, 2]), model.memoryBytes, model.dimensions,
    labels[0].score, passages[0].index, ...entities[0].offsets, answers[0].score, masks[0].words[0].id, ...tokens.ids];
  const checksum: string = model.checksum(String(numbers));
  const word: string | null = masks[0].words[0].word;

  const worker: EmbertWorker = await EmbertWorker.load(new URL("https://example.org/model.emb"));
  const sameVector: Float32Array = await worker.embed(checksum);
  const sameEntities: Entity[] = await worker.tag("a");
  const sameAnswers: Answer[] = await worker.answer("a", "b");
  const sameMasks: FilledMask[] = await worker.fillMask("[MASK]");
  const bytesInUse: number = await worker.memoryBytes();
  const workerFacts: ModelFacts = worker;
  worker.close();

  await Embert.load("model.emb").catch((error: EmbertError) => error.status?.length);
  await Embert.load(response);
  await Embert.load(bytes.buffer);
  void [word, sameVector, sameEntities, sameAnswers, sameMasks, bytesInUse, workerFacts];

  // @ts-expect-error: a model is made by load()
  new Embert();
  // @ts-expect-error: a number is no source
  await Embert.load(17);
  // @ts-expect-error: no such kernels
  await Embert.load(bytes, { kernels: "avx2" });
  // @ts-expect-error: no such aggregation
  model.tag("a", { aggregation: "mean" });
  // @ts-expect-error: a worker's results are promises
  const wrong: Float32Array = worker.embed("a");
  // @ts-expect-error: facts are read-only
  model.dimensions = 3;
  void wrong;
}
