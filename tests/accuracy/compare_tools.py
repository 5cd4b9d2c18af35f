#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares two builds of the tool: the same blobs, answers, arena sizes, exit codes and JSON keys.

Converts each model folder with both tools and compares the blobs byte for byte. Runs both tools on the blobs, with
every ISA of this machine and with one and two threads, and compares the bytes of their answers. Compares the arena
sizes at 16 to 512 tokens, the exit codes of good and bad calls, and all JSON keys.

Example: the state before a change against the state after it:
  tests/accuracy/compare_tools.py before/build/release/targets/cli/embert build/release/targets/cli/embert \\
      targets/demo/tiny-intent MINILM_FOLDER --texts tests/data/tiny-intent/test.tsv
"""

from __future__ import annotations

import argparse
import hashlib
import json
import pathlib
import subprocess
import sys
import tempfile
from typing import Any

ISAS = ("scalar", "avx2", "avxvnni", "avx512vnni", "amxint8", "neon", "dotprod", "i8mm")
THREADS = ("1", "2")
MOST_TEXTS = 500


class Comparison:
    """Prints a line for each comparison and counts those that fail."""

    def __init__(self) -> None:
        self.done = 0
        self.failed = 0

    def same(self, what: str, before: object, after: object, shown: str) -> None:
        self.done += 1
        if before == after:
            print(f"same       {what}: {shown}")
        else:
            self.failed += 1
            print(f"DIFFERENT  {what}:\n  before {str(before)[:400]}\n  after  {str(after)[:400]}")


class Tool:
    def __init__(self, path: str) -> None:
        self.path = str(pathlib.Path(path).resolve())

    def run(self, *arguments: str, lines: str = "") -> tuple[int, bytes]:
        done = subprocess.run(
            [self.path, *arguments], input=lines.encode(), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False
        )
        return done.returncode, done.stdout


def digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:16]


def keys_of(value: Any, prefix: str = "") -> set[str]:
    """The paths of all keys in a JSON value; the entries of a list share one path."""
    if isinstance(value, dict):
        found = {prefix + "." + key for key in value}
        return found.union(*(keys_of(item, prefix + "." + key) for key, item in value.items())) if value else found
    if isinstance(value, list):
        return set().union(*(keys_of(item, prefix + "[]") for item in value)) if value else set()
    return set()


def json_keys(output: tuple[int, bytes]) -> tuple[int, list[str]]:
    found: set[str] = set()
    for line in output[1].splitlines():
        found |= keys_of(json.loads(line))
    return output[0], sorted(found)


def compare_answers(check: Comparison, before: Tool, after: Tool, blob: str, texts: str) -> None:
    info = json.loads(before.run("inspect", blob, "--json")[1])
    command = "classify" if "classify" in info["tasks"] else "embed"
    count = len(texts.splitlines())
    for isa in ISAS:
        if before.run(command, blob, "--isa", isa, "a text")[0] != 0:
            continue
        for threads in THREADS:
            call = (command, blob, "--json", "--isa", isa, "--threads", threads)
            old, new = before.run(*call, lines=texts), after.run(*call, lines=texts)
            check.same(f"{command}, {count} texts, {isa}, {threads} thread(s)", old, new, digest(new[1]))
    old, new = before.run("tokenize", blob, "--json", lines=texts), after.run("tokenize", blob, "--json", lines=texts)
    check.same(f"tokenize, {count} texts", old, new, digest(new[1]))


def compare_arena(check: Comparison, before: Tool, after: Tool, blob: str) -> None:
    old = json.loads(before.run("inspect", blob, "--json")[1])["arena_bytes"]
    new = json.loads(after.run("inspect", blob, "--json")[1])["arena_bytes"]
    shown = ", ".join(f"{length} tokens {size:,}" for length, size in new.items())
    check.same("arena bytes", old, new, shown)


def compare_calls(check: Comparison, before: Tool, after: Tool, blob: str, folder: str, scratch: pathlib.Path) -> None:
    """Exit codes of good and bad calls, and the JSON keys of the good ones."""
    text = "book me a flight to Paris"
    broken = scratch / "broken.emb"
    broken.write_bytes(pathlib.Path(blob).read_bytes()[:-7])
    good: list[tuple[str, ...]] = [
        ("inspect", blob, "--json"),
        ("tokenize", blob, text, "--json"),
        ("embed", blob, text, "--json"),
        ("similarity", blob, text, "a flight", "--json"),
        ("classify", blob, text, "--json"),
        ("rerank", blob, text, "--json"),
        ("bench", blob, "--tokens", "16", "--json"),
        ("verify", blob, folder, "--texts", "targets/demo/sentences.txt", "--json"),
    ]
    bad: list[tuple[str, ...]] = [
        (),
        ("no-such-command",),
        ("classify",),
        ("classify", "no-such-file.emb", text),
        ("classify", str(broken), text),
        ("inspect", folder),
        ("embed", blob, text, "--isa", "no-such-isa"),
        ("embed", blob, text, "--no-such-option"),
        ("tag", blob, text),
        ("generate", blob, text),
        ("answer", blob, "who", "me"),
        ("fill-mask", blob, "a [MASK]"),
        ("convert", "no-such-folder", "-o", str(scratch / "none.emb")),
        ("convert", folder, "-o", "no-such-folder/none.emb"),
        ("--version",),
        ("--help",),
    ]
    for call in good:
        name = call[0] + " --json"
        lines = "a flight\na cat\n" if call[0] == "rerank" else ""
        old, new = json_keys(before.run(*call, lines=lines)), json_keys(after.run(*call, lines=lines))
        check.same(f"exit code and keys of {name}", old, new, f"{new[0]}, {len(new[1])} keys")
    for call in bad:
        shown = " ".join(pathlib.Path(word).name for word in call) or "(no arguments)"
        old_code, new_code = before.run(*call)[0], after.run(*call)[0]
        check.same(f"exit code of {shown}", old_code, new_code, str(new_code))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("before", help="the tool of the state before")
    parser.add_argument("after", help="the tool of the state after")
    parser.add_argument("folders", nargs="+", help="Hugging Face folders")
    parser.add_argument("--texts", required=True, help="a text a line; of a .tsv the second column")
    parser.add_argument("--blobs", nargs=2, metavar=("BEFORE", "AFTER"), help="two folders of *.emb files to compare")
    arguments = parser.parse_args()
    before, after = Tool(arguments.before), Tool(arguments.after)
    lines = pathlib.Path(arguments.texts).read_text(encoding="utf-8").splitlines()
    if arguments.texts.endswith(".tsv"):
        lines = [line.split("\t")[1] for line in lines if line.count("\t") > 0]
    stride = max(1, len(lines) // MOST_TEXTS)
    texts = "\n".join(lines[::stride][:MOST_TEXTS]) + "\n"

    check = Comparison()
    with tempfile.TemporaryDirectory() as name:
        scratch = pathlib.Path(name)
        for folder in arguments.folders:
            print(f"== {pathlib.Path(folder).name}")
            blobs, reports = [], []
            for tool, side in ((before, "before"), (after, "after")):
                blob, report = scratch / f"{side}.emb", scratch / f"{side}.json"
                if tool.run("convert", folder, "-o", str(blob), "--report", str(report))[0] != 0:
                    print(f"{tool.path} cannot convert {folder}")
                    return 1
                blobs.append(blob.read_bytes())
                reports.append(sorted(keys_of(json.loads(report.read_bytes()))))
            check.same("keys of the report", reports[0], reports[1], f"{len(reports[1])} keys")
            check.same("blob", digest(blobs[0]), digest(blobs[1]), f"{len(blobs[1]):,} bytes, {digest(blobs[1])}")
            blob_path = str(scratch / "before.emb")
            compare_answers(check, before, after, blob_path, texts)
            compare_arena(check, before, after, blob_path)
            if folder == arguments.folders[0]:
                compare_calls(check, before, after, blob_path, folder, scratch)
    if arguments.blobs:
        print("== blobs of the reference models")
        for old_path in sorted(pathlib.Path(arguments.blobs[0]).glob("*.emb")):
            new_path = pathlib.Path(arguments.blobs[1]) / old_path.name
            new_bytes = new_path.read_bytes() if new_path.exists() else b""
            check.same(old_path.name, digest(old_path.read_bytes()), digest(new_bytes), digest(new_bytes))
    print(f"{check.done} comparisons, {check.failed} different")
    return 1 if check.failed else 0


if __name__ == "__main__":
    sys.exit(main())
