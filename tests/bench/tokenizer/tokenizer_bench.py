#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""embert's tokenizer against the `tokenizers` wheel on one thread, in turns in one run.

    pip install tokenizers==0.19.1        (in a virtual environment)
    ninja -C build/release tokenizer_bench
    python tests/bench/tokenizer/tokenizer_bench.py build/release/tests/bench/tokenizer_bench ../shared/data [TOKENIZER.json...]

Without files it takes uncased BERT. Prints a markdown table for each file: median and spread (10th to 90th percentile) of both in ms for all lines of each corpus, once
calling encode() line by line and once encode_batch() over all lines (which the wheel does faster), and the ratio.
"""

import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

os.environ["TOKENIZERS_PARALLELISM"] = "false"
os.environ["RAYON_NUM_THREADS"] = "1"

from tokenizers import Tokenizer, __version__  # noqa: E402  (after the environment is set)

ROUNDS, REPEATS = 5, 2


def corpora(data):
    wiki = (data / "text/wikitext2/test.txt").read_text(encoding="utf-8").split("\n")
    clinc = json.loads((data / "intent/clinc150/data_full.json").read_text(encoding="utf-8"))
    yield "WikiText-2 test", [line for line in wiki if line.strip()]
    yield "CLINC150", [item[0] for key in sorted(clinc) for item in clinc[key]]
    german = json.loads((data / "qa/xquad/xquad.de.json").read_text(encoding="utf-8"))
    yield "XQuAD de (contexts)", [p["context"].replace("\n", " ") for a in german["data"] for p in a["paragraphs"]]
    chinese = json.loads((data / "qa/xquad/xquad.zh.json").read_text(encoding="utf-8"))
    yield "XQuAD zh (contexts)", [p["context"].replace("\n", " ") for a in chinese["data"] for p in a["paragraphs"]]


def describe(values):
    ordered = sorted(values)
    low, high = ordered[len(ordered) // 10], ordered[len(ordered) * 9 // 10]
    return f"{statistics.median(ordered):.1f} ({low:.1f}..{high:.1f})"


def timed(call):
    begin = time.perf_counter()
    result = call()
    return (time.perf_counter() - begin) * 1e3, result


def compare(program, folder, tokenizer, lines):
    with tempfile.NamedTemporaryFile("w", encoding="utf-8", newline="\n", suffix=".txt") as file:
        file.write("\n".join(lines) + "\n")
        file.flush()
        ours, single, batch = [], [], []
        for _ in range(ROUNDS):
            out = json.loads(
                subprocess.run([program, folder, file.name, str(REPEATS)], check=True, capture_output=True, text=True).stdout
            )
            ours += out["ms"]
            for _ in range(REPEATS):
                ms, encodings = timed(lambda: [tokenizer.encode(line) for line in lines])
                single.append(ms)
                ms, encodings = timed(lambda: tokenizer.encode_batch(lines))
                batch.append(ms)
        assert out["tokens"] == sum(len(e) for e in encodings), "the number of tokens differs"
        return ours, single, batch


def print_table(program, data, file):
    tokenizer = Tokenizer.from_file(str(file))
    print(f"\n{file}, tokenizers {__version__}, one thread, ms: median (10%..90%) of {ROUNDS * REPEATS} runs\n")
    print("| corpus | lines | MB | embert | encode | encode_batch | times faster than encode | than encode_batch |")
    print("|---|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        (pathlib.Path(folder) / "tokenizer.json").write_bytes(file.read_bytes())
        for name, lines in corpora(data):
            ours, single, batch = compare(program, folder, tokenizer, lines)
            mine = statistics.median(ours)
            size = sum(len(line.encode()) for line in lines) / 1e6
            print(
                f"| {name} | {len(lines)} | {size:.2f} | {describe(ours)} | {describe(single)} | {describe(batch)} | "
                f"{statistics.median(single) / mine:.1f} | {statistics.median(batch) / mine:.1f} |",
                flush=True,
            )


def main():
    program, data = sys.argv[1], pathlib.Path(sys.argv[2])
    files = sys.argv[3:] or [data / "tokenizer/vocab/bert-base-uncased-tokenizer.json"]
    for file in map(pathlib.Path, files):
        print_table(program, data, file)
    return 0


if __name__ == "__main__":
    sys.exit(main())
