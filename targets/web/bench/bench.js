// SPDX-License-Identifier: Apache-2.0
// Measures the package in Node and in browsers: time to the first answer, milliseconds a text, and the share of the
// peak of i32x4.dot_i16x8_s that a loop of this instruction reaches in the same run.
import { Embert } from "../package/embert.js";

const WORDS = ["the", "cat", "sat", "on", "a", "mat", "and", "the", "dog", "ran"];
const ROUND_MS = 1000;  // of each measurement
const LANES = 8;  // products of a dot

// A module with one function: it adds a dot to each of some sums, as often as its argument says. Both are what an inner loop
// of the GEMM does with its sums.
function peakModule(SUMS) {
  const leb = (n) => (n < 128 ? [n] : [(n & 127) | 128, ...leb(n >> 7)]);
  const section = (id, bytes) => [id, ...leb(bytes.length), ...bytes];
  const local = (i) => i + 2;  // 0: turns, 1: the operand, then the sums
  // i32x4.dot_i16x8_s of a sum and the operand: an engine computes equal dots once.
  const dot = (i) => [0x20, local(i), 0x20, 1, 0xfd, 0xba, 0x01];
  const turn = Array.from({ length: SUMS }, (_, i) => [0x20, local(i), ...dot(i), 0xfd, 0xae, 0x01, 0x21, local(i)]).flat();
  const joined = Array.from({ length: SUMS - 1 }, (_, i) => [0x20, local(i + 1), 0xfd, 0x51]).flat();  // xor, so that all sums count
  const body = [
    2, 1, 0x7b, SUMS, 0x7b,  // locals: the operand, the sums
    0x20, 0, 0xfd, 0x11, 0x21, 1,  // operand = i32x4.splat(turns)
    0x03, 0x40, ...turn, 0x20, 0, 0x41, 1, 0x6b, 0x22, 0, 0x0d, 0, 0x0b,  // loop
    0x20, local(0), ...joined, 0xfd, 0x1b, 0, 0x0b];
  const module = new WebAssembly.Module(Uint8Array.of(0, 97, 115, 109, 1, 0, 0, 0,
    ...section(1, [1, 0x60, 1, 0x7f, 1, 0x7f]), ...section(3, [1, 0]), ...section(7, [1, 1, 112, 0, 0]),
    ...section(10, [1, ...leb(body.length), ...body])));
  return { peak: new WebAssembly.Instance(module).exports.p, macs: SUMS * LANES };
}

/** The least time of a call in milliseconds, over `milliseconds`. */
function leastTime(call, milliseconds = ROUND_MS) {
  let least = Infinity;
  for (const end = performance.now() + milliseconds; performance.now() < end;) {
    const begin = performance.now();
    call();
    least = Math.min(least, performance.now() - begin);
  }
  return least;
}

/** A text of so many tokens for the model, special ones included. */
function textOf(model, tokens) {
  for (let words = tokens; words > 0; --words) {
    const text = Array.from({ length: words }, (_, i) => WORDS[i % WORDS.length]).join(" ");
    if (model.tokenize(text).ids.length === tokens) return text;
  }
  throw new Error(`no text of ${tokens} tokens`);
}

/** models: [{name, source, macs: multiply-adds of a token in matrix products with weights}]; print: takes lines. */
export async function bench(models, print) {
  // The best of loops with few and with many sums: few do not hide the latency, many do not fit the registers.
  const peaks = [4, 6, 8, 12].map(peakModule);
  const TURNS = 1_000_000;
  const peakMacs = () => Math.max(...peaks.map(({ peak, macs }) =>
    (TURNS * macs) / leastTime(() => peak(TURNS), ROUND_MS / peaks.length) / 1e6));  // multiply-adds a nanosecond
  print(`peak of i32x4.dot_i16x8_s and addition: ${peakMacs().toFixed(1)} GMAC/s`);
  for (const { name, source, macs: tokenMacs } of models) {
    const begin = performance.now();
    const first = await Embert.load(source);
    const ready = performance.now() - begin;
    first.embed("how do i say hello in french");
    print(`${name}: loaded ${ready.toFixed(0)} ms, first answer ${(performance.now() - begin).toFixed(0)} ms, memory ${(first.memoryBytes / 1e6).toFixed(1)} MB`);
    for (const kernels of ["simd128", "scalar"]) {
      const model = await Embert.load(source, { kernels });
      for (const tokens of [16, 128].filter((count) => count <= model.maxTokens)) {
        const text = textOf(model, tokens);
        leastTime(() => model.embed(text));  // the engine compiles what runs often once more
        const ms = leastTime(() => model.embed(text));
        const share = (tokens * tokenMacs) / (ms * 1e6) / peakMacs();
        print(`${name}, ${kernels}, ${tokens} tokens: ${ms.toFixed(3)} ms a text, ${(100 * share).toFixed(0)} % of the peak`);
      }
    }
  }
}
