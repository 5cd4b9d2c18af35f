#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""One checksum for each level of precision: the bundled model converted at each level must have the recorded digest, bytes
and arena, and answer texts with the recorded bits, with all instruction sets of a tool, one thread and two.

  tests/accuracy/level_bits.py TOOL...        a tool is a command, such as "qemu-aarch64 build/aarch64/targets/cli/embert"
  tests/accuracy/level_bits.py --convert ...  each tool converts, too: its blobs must be those of the first one
  tests/accuracy/level_bits.py --record TOOL  after a change of the converter or of the arithmetic

The first tool converts. For Cortex-M see firmware_test.py --precision.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile
import time
from typing import Any, Dict, List

ROOT = pathlib.Path(__file__).resolve().parents[2]
MODEL = ROOT / "targets/demo/tiny-intent"
SENTENCES = ROOT / "tests/data/tiny-intent/test.tsv"
CALIBRATION = ROOT / "targets/demo/sentences.txt"
FIGURES = ROOT / "tests/bench/figures.json"
RECORD = pathlib.Path(__file__).with_name("level_bits.json")
LEVELS = ("fast", "balanced", "high")
STRIDE = 55  # of 5,500 sentences
OTHER_FAMILIES = ("avx2", "neon")  # no tool has both: its refusal names what it has


def run(tool: str, *arguments: object, text: str = "") -> str:
    command = [*shlex.split(tool), *map(str, arguments)]
    process = subprocess.run(command, input=text, capture_output=True, text=True, check=False)
    if process.returncode:
        sys.exit(f"{shlex.join(command)}: ended with {process.returncode}: {process.stderr.strip()}")
    return process.stdout


def isas(tool: str, blob: pathlib.Path) -> List[str]:
    """The instruction sets that the tool can run here."""
    for name in OTHER_FAMILIES:
        refusal = subprocess.run(
            [*shlex.split(tool), "checksum", str(blob), "a", "--isa", name], capture_output=True, text=True, check=False
        ).stderr
        found = re.search(r"which has: (.*)", refusal)
        if found:
            return found.group(1).strip().split(", ")
    sys.exit(f"{tool}: does not say which instruction sets it has: {refusal.strip()}")


def digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def convert(tool: str, level: str, blob: pathlib.Path, threads: int = 2, few_texts: bool = False) -> None:
    more = ["--calibration", CALIBRATION] if few_texts else []
    run(tool, "convert", MODEL, "-o", blob, "--precision", level, "--threads", threads, *more)


def bits(tool: str, blob: pathlib.Path, texts: str) -> Dict[str, str]:
    """Digests of the checksums by instruction set, and of the logits by number of threads."""
    found = {isa: digest(run(tool, "checksum", blob, "--isa", isa, text=texts)) for isa in isas(tool, blob)}
    for threads in (1, 2):
        answers = run(tool, "classify", blob, "--function", "none", "--json", "--threads", threads, text=texts)
        found[f"{threads} threads"] = digest(answers)
    return found


def record_of(tool: str, blob: pathlib.Path, texts: str) -> Dict[str, Any]:
    inspected = json.loads(run(tool, "inspect", blob, "--json"))
    found = bits(tool, blob, texts)
    return {
        "sha256": hashlib.sha256(blob.read_bytes()).hexdigest(),
        "blob_bytes": blob.stat().st_size,
        "arena_bytes": inspected["arena_bytes"],
        "checksums": found["scalar"],
        "logits": found["1 threads"],
    }


def write_record(recorded: Dict[str, Any]) -> None:
    """level_bits.json, and the sizes in the READMEs."""
    RECORD.write_text(json.dumps(recorded, indent=2) + "\n", encoding="utf-8")
    figures = FIGURES.read_text(encoding="utf-8")
    for level, found in recorded.items():
        sizes = f"{found['blob_bytes']:,} | " + ", ".join(f"{size:,}" for size in found["arena_bytes"].values())
        figures = re.sub(rf'("level-bytes-{level}": {{"text": ")[^"]*', rf"\g<1>{sizes}", figures)
    FIGURES.write_text(figures, encoding="utf-8")
    subprocess.run([sys.executable, ROOT / "tests/lint/check_figures.py", ROOT, "--update"], check=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tools", nargs="+", metavar="TOOL")
    parser.add_argument("--record", action="store_true", help="writes level_bits.json and the sizes in the READMEs anew")
    parser.add_argument(
        "--convert",
        action="store_true",
        help="compares the blobs of all tools, with one thread and two, calibrated on 12 texts",
    )
    options = parser.parse_args()
    rows = SENTENCES.read_text(encoding="utf-8").splitlines()[1:]
    texts = "".join(row.split("\t")[1] + "\n" for row in rows[::STRIDE])
    recorded = {} if options.record else json.loads(RECORD.read_text(encoding="utf-8"))
    wrong: List[str] = []

    def expect(what: str, expected: object, found: object) -> None:
        if expected != found:
            wrong.append(f"{what}: expected {expected}, found {found}")

    with tempfile.TemporaryDirectory() as folder:
        for level in LEVELS:
            blob = pathlib.Path(folder) / f"{level}.emb"
            convert(options.tools[0], level, blob)
            found = record_of(options.tools[0], blob, texts)
            if options.record:
                recorded[level] = found
            for key, value in recorded[level].items():
                expect(f"{level}, {key}", value, found[key])
            for tool in options.tools:
                for name, value in bits(tool, blob, texts).items():
                    expect(f"{level}, {tool}, {name}", found["logits" if name.endswith("threads") else "checksums"], value)
                print(f"{level}: {tool}: {', '.join(isas(tool, blob))}, 1 and 2 threads", flush=True)
            if not options.convert:
                continue
            convert(options.tools[0], level, blob, few_texts=True)
            for tool in options.tools:
                for threads in (1, 2):
                    other = blob.with_suffix(".other")
                    begun = time.monotonic()
                    convert(tool, level, other, threads, few_texts=True)
                    expect(
                        f"{level}, {tool}, {threads} threads, blob of 12 texts", blob.read_bytes() == other.read_bytes(), True
                    )
                    print(f"{level}: {tool}: converted with {threads} threads in {time.monotonic() - begun:.1f} s", flush=True)
    if wrong:
        sys.exit("\n".join(["FAILED", *wrong]))
    if options.record:
        write_record(recorded)
    print(
        f"{len(options.tools)} tools give the {'new' if options.record else 'recorded'} bits at each level: "
        + ", ".join(f"{level} {recorded[level]['checksums']}" for level in LEVELS)
    )


if __name__ == "__main__":
    main()
