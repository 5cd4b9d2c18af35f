// SPDX-License-Identifier: Apache-2.0

export type Kernels = "simd128" | "scalar";

/** What Embert.load reads: the bytes of a model, its URL (in Node also a path), or a response. */
export type ModelSource = ArrayBuffer | ArrayBufferView | string | URL | Response;

export interface LoadOptions {
  /** The longest text in tokens, special ones included; longer ones are cut. Default: the model's. */
  maxTokens?: number;
  /** Default: detectKernels(). The results have the same bits. */
  kernels?: Kernels;
}

export interface EmbedOptions {
  /** Name of one of the model's prompts; "" for none. Default: the model's default prompt. */
  prompt?: string;
}

export interface LabelScore {
  label: string;
  /** Probability, 0 to 1; 0 of a regression, whose result is the logit. */
  score: number;
  logit: number;
}

export interface RankedPassage {
  /** Place among the passages given. */
  index: number;
  passage: string;
  /** The cross-encoder's logit. */
  score: number;
}

export interface Tokens {
  ids: number[];
  typeIds: number[];
  /** Words counted in each text; -1 of special tokens. */
  wordIds: number[];
  tokens: string[];
  /** Begin and end of each token in its text: text.slice(begin, end). 0, 0 of special tokens. */
  offsets: [number, number][];
}

/** How tokens become entities: each token is one; or neighbours of one kind are, which are tokens or
 * words that have the label of their first token, their highest mean score or their surest token. */
export type Aggregation = "none" | "simple" | "first" | "average" | "max";

export interface Entity {
  /** The kind, such as "person"; with aggregation "none" the whole label, such as "B-person". */
  label: string;
  score: number;
  text: string;
  /** Begin and end as indices of the string: text.slice(begin, end). */
  offsets: [number, number];
}

export interface Answer {
  /** A part of the context; "" if there is none and `allowNoAnswer` is true. */
  answer: string;
  score: number;
  /** Begin and end as indices of the string: context.slice(begin, end). */
  offsets: [number, number];
}

export interface FilledMask {
  /** Number of the mask's token in the text. */
  position: number;
  words: {
    /** null of an id that has no text. */
    word: string | null;
    /** Share of the whole vocabulary. */
    score: number;
    id: number;
    /** The text with the word in it. */
    sequence: string;
  }[];
}

export interface AnswerOptions {
  topK?: number;
  /** Longest answer before it is widened to whole words. Default: 15. */
  maxAnswerTokens?: number;
  /** "No answer" is an answer, too. */
  allowNoAnswer?: boolean;
}

/** Facts of a model that is ready. */
export interface ModelFacts {
  readonly maxTokens: number;
  readonly dimensions: number;
  readonly labels: string[];
  /** Labels of the token classifier, such as "O", "B-person". */
  readonly tokenLabels: string[];
  readonly prompts: Record<string, string>;
  readonly defaultPrompt: string;
  readonly isa: Kernels;
  /** The checksum of the model file. */
  readonly modelChecksum: string;
}

export interface Embert extends ModelFacts {}
export interface EmbertWorker extends ModelFacts {}

/** A model that is ready. One call runs at a time; results are copies. */
export class Embert {
  static load(source: ModelSource, options?: LoadOptions): Promise<Embert>;
  private constructor();

  /** The text's vector, `dimensions` values, pooled and normalised as the model was made for. */
  embed(text: string, options?: EmbedOptions): Float32Array;
  /** The labels of a text or of a pair of texts, best first. */
  classify(text: string, options?: { pair?: string | null; topK?: number }): LabelScore[];
  /** The cosine of two texts' vectors. */
  similarity(text: string, other: string, options?: EmbedOptions): number;
  /** The passages in the order of a cross-encoder's scores, best first. The model has one label. */
  rerank(query: string, passages: string[]): RankedPassage[];
  /** The entities of a text, in its order; longer texts are read in overlapping windows. */
  tag(text: string, options?: { aggregation?: Aggregation }): Entity[];
  /** The parts of a context that best answer a question, each once, best first; longer contexts are read in
   * overlapping windows. */
  answer(question: string, context: string, options?: AnswerOptions): Answer[];
  /** For each mask of a text (such as "[MASK]") the words that fit best, best first. Default: 5. */
  fillMask(text: string, options?: { topK?: number }): FilledMask[];
  /** The tokens that the model reads. */
  tokenize(text: string, options?: { pair?: string | null }): Tokens;
  /** The checksum of the bits of the text's result, as `embert checksum` prints it. */
  checksum(text: string): string;

  /** Bytes of WebAssembly memory in use. */
  readonly memoryBytes: number;
}

/** A model in a worker, so that a page never freezes. If the worker ends, the calls that wait fail,
 * and the next one starts another worker. */
export class EmbertWorker {
  /** A source of bytes is copied. */
  static load(source: ModelSource, options?: LoadOptions): Promise<EmbertWorker>;
  private constructor();

  embed(text: string, options?: EmbedOptions): Promise<Float32Array>;
  classify(text: string, options?: { pair?: string | null; topK?: number }): Promise<LabelScore[]>;
  similarity(text: string, other: string, options?: EmbedOptions): Promise<number>;
  rerank(query: string, passages: string[]): Promise<RankedPassage[]>;
  tag(text: string, options?: { aggregation?: Aggregation }): Promise<Entity[]>;
  answer(question: string, context: string, options?: AnswerOptions): Promise<Answer[]>;
  fillMask(text: string, options?: { topK?: number }): Promise<FilledMask[]>;
  tokenize(text: string, options?: { pair?: string | null }): Promise<Tokens>;
  checksum(text: string): Promise<string>;
  memoryBytes(): Promise<number>;
  /** Ends the worker. Calls that wait fail, and so do later ones. */
  close(): void;
}

export class EmbertError extends Error {
  /** Such as "EMBERT_STATUS_BLOB_CHECKSUM"; null where no function of embert failed. */
  readonly status: string | null;
}

/** The fastest kernels that this browser runs. */
export function detectKernels(): Kernels;

/** The cosine of two vectors of the same length. */
export function cosine(a: ArrayLike<number>, b: ArrayLike<number>): number;
