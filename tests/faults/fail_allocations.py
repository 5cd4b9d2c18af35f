#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Each call stack of the tool that allocates finds no memory once.   fail_allocations.py EMBERT LIBRARY [--bundled BLOB] [--every N]

LIBRARY is failing_stacks.c, preloaded. A scenario is a command on a small model that has an output from before. A first run
lists the distinct call stacks that allocate, from main() on; then the command runs once for each of them that no scenario
before had, and the first allocation of this stack fails. After each run must hold:

- the exit code is 3, and stderr is a line that begins with "embert: "; or the code is 0, and the outputs are the new ones
- otherwise the outputs are those from before, and the folder holds nothing else

Prints a table of stacks and results; ends with 1 if a run breaks a rule. A crash whose innermost function, C and C++
library aside, is one of another library is listed apart. --every N takes each N-th stack.
"""

import argparse
import collections
import os
import pathlib
import re
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).parent))
from fail_calls import DEMO, MODEL, OLD, Scenario, same  # noqa: E402

LINES = b'{"id": 1, "text": "what is the weather"}\n{"id": 2, "text": "play a song", "more": [1, {"x": null}]}\n'
OWN = re.compile(r"^(ld-linux|libc\.|libstdc\+\+|libgcc_s|libm\.)")


def scenarios(blob, demo):
    out = ["-o", "FOLDER/out"]
    return {
        "convert": Scenario(["convert", str(MODEL), *out, "--report", "FOLDER/r.json", "--threads", "1"], ["out", "r.json"]),
        "inspect": Scenario(["inspect", blob, "--json", *out], ["out"]),
        "embed": Scenario(["embed", demo, "--jsonl", "--threads", "1", *out], ["out"], LINES),
        "classify": Scenario(["classify", demo, "--jsonl", "--threads", "1", *out], ["out"], LINES),
        "tokenize": Scenario(["tokenize", demo, *out], ["out"], b"a text\nanother\n"),
    }


class Run:
    """The tool with the preloaded library."""

    def __init__(self, tool, library):
        self.tool, self.library = tool, library

    def __call__(self, scenario, folder, **settings):
        environment = dict(os.environ, LD_PRELOAD=self.library, **settings)
        command = [self.tool, *(argument.replace("FOLDER", str(folder)) for argument in scenario.arguments)]
        done = subprocess.run(command, input=scenario.stdin, capture_output=True, timeout=300, check=False, env=environment)
        return done.returncode, done.stderr.decode(errors="replace")


def stacks_of(scenario, run, folder):
    """[(number of the first allocation, frames)] of the call stacks that allocate."""
    path = folder.parent / "stacks"
    scenario.reset(folder)
    status, err = run(scenario, folder, EMBERT_STACKS=str(path))
    if status != 0:
        sys.exit(f"the undisturbed run ends with {status}: {err.strip()}")
    lines = [line.split() for line in path.read_text().splitlines()]
    return [(int(number), frames) for number, *frames in lines]


def broken_rule(scenario, folder, whole, outcome):
    """What is wrong after this run; empty if nothing is."""
    status, err = outcome
    left = sorted({path.name for path in folder.iterdir()} - set(scenario.outputs))
    if status not in (0, 3):
        return f"ends with {status}: {err.strip()[-160:]}"
    if status == 3 and not re.search(r"^embert: ", err, re.M):
        return f"exit code 3 without a message: {err.strip()[-160:]!r}"
    if left:
        return f"leaves {left}"
    for output, (found, new) in zip(scenario.outputs, zip(scenario.contents(folder), whole)):
        if status == 0 and not same(output, found, new):
            return f"exit code 0, and {output} is not the new one"
        if status == 3 and found != OLD and not same(output, found, new):
            return f"{output} is neither the old one nor the new one"
    return ""


def library_of(frames):
    """The library of the innermost function that is not of C or C++; empty if it is the tool's own."""
    modules = [frame.rsplit("+", 1)[0] for frame in frames]
    inner = next((module for module in modules if not OWN.match(module)), "")
    return "" if inner.startswith("embert") else inner


def run_scenario(scenario, run, every, tried):
    """Counts of the results, and what broke a rule: [(allocation, frames, problem)]. `tried`: stacks of other scenarios."""
    counts, broken = collections.Counter(), []
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch) / "folder"
        stacks = stacks_of(scenario, run, folder)
        whole = scenario.contents(folder)
        new = [(number, frames) for number, frames in stacks if tuple(frames) not in tried]
        tried.update(tuple(frames) for _, frames in stacks)
        for number, frames in new[::every]:
            scenario.reset(folder)
            outcome = run(scenario, folder, EMBERT_FAIL_AT=str(number))
            problem = broken_rule(scenario, folder, whole, outcome)
            library = library_of(frames) if outcome[0] < 0 else ""
            kind = "library" if library else "wrong" if problem else "no matter" if outcome[0] == 0 else "refused"
            counts[kind] += 1
            if problem:
                broken.append((number, frames, f"{library}: {problem}" if library else problem))
    counts["stacks"], counts["new"] = len(stacks), len(new)
    return counts, broken


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("tool")
    parser.add_argument("library")
    parser.add_argument("--bundled", help="the converted targets/demo/tiny-intent")
    parser.add_argument("--scenario")
    parser.add_argument("--every", type=int, default=1)
    arguments = parser.parse_args()
    run = Run(arguments.tool, str(pathlib.Path(arguments.library).resolve()))
    columns = ("stacks", "new", "refused", "no matter", "library", "wrong")
    lines, tried, total = [], set(), collections.Counter()
    print(f"{'scenario':<12}" + "".join(f"{name:>11}" for name in columns), flush=True)
    with tempfile.TemporaryDirectory() as scratch:
        blob, demo = scratch + "/model.emb", arguments.bundled or scratch + "/demo.emb"
        for folder, output in ((MODEL, blob), (DEMO, demo)):
            if not pathlib.Path(output).exists():
                subprocess.run([arguments.tool, "convert", str(folder), "-o", output], check=True, capture_output=True)
        for name, scenario in scenarios(blob, demo).items():
            if arguments.scenario not in (None, name):
                continue
            counts, broken = run_scenario(scenario, run, arguments.every, tried)
            total += counts
            print(f"{name:<12}" + "".join(f"{counts[column]:>11}" for column in columns), flush=True)
            lines += [
                f"{name}: allocation {number}: {problem}\n    {' '.join(frames[:12])}" for number, frames, problem in broken
            ]
    print(f"{'all':<12}" + "".join(f"{total[column]:>11}" for column in columns))
    print("\n".join(lines) if lines else "no run breaks a rule")
    return 1 if total["wrong"] else 0


if __name__ == "__main__":
    sys.exit(main())
