#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Which lines of runtime/ and kernels/ the tests run.   line_coverage.py [--build DIR] [--jobs N] [PROGRAM...]

Builds the preset `coverage` (clang and llvm-cov, Debian: clang, llvm), runs the suites of kernels, runtime, tokenizer, task
decoding and the hosted library, and prints the share of the lines by folder and every line that no test ran. A line of an
AVX-512, AVX-VNNI or AMX kernel counts whether the processor ran it or SIMDe (tests/kernels/emulated).

uncovered.txt has the reason of each line that no test can run: "path  |  code  |  reason"; code that ends with "{" stands
for its whole block. Ends with 1 for a line that is not there, for an entry whose line is gone or is run, and where less than
95 % of the lines are run. A reason that begins with "a processor without" is of lines that other processors run, so that these
may be run, too. With names of programs only these run, and only the table and the lines are printed.
"""

import argparse
import collections
import os
import pathlib
import subprocess
import sys
from typing import Dict, List, Set, Tuple

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAMS = {
    "kernel_test": "kernels",
    "kernel_emulated_test": "kernels",
    "arithmetic_test": "kernels",
    "runtime_test": "runtime",
    "tokenizer_test": "runtime/tokenizer",
    "tasks_test": "runtime/tasks",
    "hosted_test": "targets/hosted",
}
LEAST = 0.95


def run(*command: object, **options: object) -> None:
    done = subprocess.run([str(word) for word in command], cwd=ROOT, check=False, **options)  # type: ignore[call-overload]
    if done.returncode != 0:
        sys.exit(f"failed: {' '.join(str(word) for word in command)}")


def measure(build: pathlib.Path, names: List[str]) -> str:
    """Runs the programs; the counts of all as lcov's tracefile."""
    profiles = build / "profiles"
    programs = [build / "tests" / PROGRAMS[name] / name for name in names]
    for program in programs:
        environment = dict(os.environ, LLVM_PROFILE_FILE=str(profiles / (program.name + ".profraw")))
        run(program, "--gtest_brief=1", env=environment)
    merged = build / "profiles/all.profdata"
    run("llvm-profdata", "merge", "-o", merged, *(profiles / (program.name + ".profraw") for program in programs))
    objects = [word for program in programs[1:] for word in ("-object", str(program))]
    command = ["llvm-cov", "export", "-format=lcov", f"-instr-profile={merged}", str(programs[0]), *objects]
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=True).stdout


def read_counts(tracefile: str, build: pathlib.Path) -> Dict[str, Dict[int, int]]:
    counts: Dict[str, Dict[int, int]] = collections.defaultdict(dict)
    path = ""
    for line in tracefile.splitlines():
        if line.startswith("SF:"):
            path = os.path.relpath(build / line[3:], ROOT)  # ccache makes paths relative to the build
        elif line.startswith("DA:") and path.startswith(("kernels/", "runtime/")):
            number, count = line[3:].split(",")[:2]
            counts[path][int(number)] = max(counts[path].get(int(number), 0), int(count))
    return counts


def read_explained() -> Tuple[Dict[str, Set[str]], Dict[str, Set[str]]]:
    """By path, the code that uncovered.txt has a reason for; and the code that some processors run."""
    explained: Dict[str, Set[str]] = collections.defaultdict(set)
    of_some: Dict[str, Set[str]] = collections.defaultdict(set)
    for line in (pathlib.Path(__file__).parent / "uncovered.txt").read_text().splitlines():
        if line and not line.startswith("#"):
            path, code, reason = line.split("  |  ")
            explained[path].add(code)
            if reason.startswith("a processor without"):
                of_some[path].add(code)
    return explained, of_some


def without_reason(text: List[str], missed: List[int], explained: Set[str]) -> Tuple[List[int], Set[str]]:
    """The missed lines that have no reason, and the code whose reason is needed no more. Line numbers ascend from 1."""
    rest, used, block_end = [], set(), 0
    for number in missed:
        line = text[number - 1]
        if number <= block_end:
            continue
        if line.strip() not in explained:
            rest.append(number)
            continue
        used.add(line.strip())
        if line.endswith("{"):
            depth, block_end = 1, number
            while depth > 0:
                block_end += 1
                depth += text[block_end - 1].count("{") - text[block_end - 1].count("}")
    return rest, explained - used


def main() -> int:
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build/coverage")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("programs", nargs="*")
    arguments = parser.parse_args()
    build = arguments.build.resolve()
    names = arguments.programs or list(PROGRAMS)
    run("cmake", "--preset", "coverage", "-B", build, "--log-level=WARNING")
    run("cmake", "--build", build, "-j", arguments.jobs, "--target", *names)
    counts = read_counts(measure(build, names), build)
    folders: Dict[str, List[int]] = collections.defaultdict(lambda: [0, 0])
    explained, of_some = read_explained()
    problems = []
    for path, lines in sorted(counts.items()):
        text = (ROOT / path).read_text().split("\n")
        for name in ("/".join(path.split("/")[:2]), "all"):
            folders[name][0] += len(lines)
            folders[name][1] += sum(count > 0 for count in lines.values())
        missed = [number for number, count in sorted(lines.items()) if count == 0]
        rest, unused = without_reason(text, missed, explained.pop(path, set()))
        problems += [f"{path}:{number}: not run: {text[number - 1].strip()}" for number in rest]
        problems += [f"uncovered.txt: {path}: is run or gone: {code}" for code in sorted(unused - of_some[path])]
    print(f"{'folder':<24}{'lines':>8}{'run':>8}{'share':>9}")
    for name, (lines_of, run_of) in sorted(folders.items(), key=lambda item: (item[0] == "all", item[0])):
        print(f"{name:<24}{lines_of:>8}{run_of:>8}{run_of / lines_of:>9.2%}")
    problems += [f"uncovered.txt: no such file was measured: {path}" for path in explained]
    if folders["all"][1] < LEAST * folders["all"][0]:
        problems.append(f"fewer than {LEAST:.0%} of the lines are run")
    print("\n".join(problems) if problems else "uncovered.txt says why the other lines are not run")
    return 1 if problems and not arguments.programs else 0


if __name__ == "__main__":
    sys.exit(main())
