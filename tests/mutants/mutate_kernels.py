#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Mutation testing of the arithmetic.   mutate_kernels.py [--count N] [--seed N] [--jobs N] [--build DIR] [--file PATTERN]
                                      [--target aarch64|cortex-m55|cortex-m4|wasm32-tests] [--check]

Changes one operator, number, sign, index or instruction at a time in kernels/arithmetic, kernels/scalar and kernels/x86
- with --target in those of another processor, whose tests run in an emulator - and runs the tests of kernels/ on it. A
mutant that no test finds is a survivor: a missing test, or code whose change changes no result. equivalent.txt lists the
latter with the reason. --check only reads this list.

- A mutant of a kernel is compiled alone and linked into kernel_test.
- A mutant of the reference arithmetic goes through arithmetic_test. If that passes, or if it is another header, all
  variants of one operation after the other are compiled with it and compared by kernel_test, whose own objects keep the
  header as it was. AVX2, AVX-VNNI, AVX-512 and AMX kernels run where the processor has them; the others are left out.
- A mutant whose object has the same bytes is no mutant.

The tests run until the first fails, or for 90 s of the processor, 1,800 s in an emulator: a mutant that does not end is
found. Prints a table and the
survivors. Ends with 1 for a survivor that is not in the list, for one in the list that a test finds, and for one that
is no mutant of today's sources.
"""

import argparse
import collections
import concurrent.futures
import fnmatch
import itertools
import os
import pathlib
import queue
import random
import re
import subprocess
import sys
import time
from typing import Callable, Dict, List, NamedTuple, Set, Tuple

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).parent))
from mutant_build import ROOT, Bench, Build, Unit, includes  # noqa: E402
from mutations import Mutant, mutants_of  # noqa: E402

HERE = pathlib.Path(__file__).parent
# By preset: the folders of the kernels that its tests run.
FOLDERS = {
    "release": ("arithmetic", "scalar", "x86"),
    "aarch64": ("arm",),
    "cortex-m55": ("helium",),
    "cortex-m4": ("dsp",),
    "wasm32-tests": ("wasm",),
}
REFERENCE = {"kernels/arithmetic/fixed_point.hpp", "kernels/arithmetic/tables.hpp"}
# Parts of a file's name: the x86 extensions of this machine's processor.
FLAGS = {"avx2": "avx2", "avxvnni": "avx_vnni", "avx512vnni": "avx512_vnni", "avx512": "avx512_vnni", "amxint8": "amx_int8"}


# By file: each mutant that was tried, and "invalid", "same code", how it was found (test, crash, time) or "survived".
Results = Dict[str, List[Tuple[Mutant, str]]]


class Reason(NamedTuple):
    path: str
    before: str
    after: str


def read_reasons(text: str) -> Dict[Reason, str]:
    """Entries of four lines: the path, "- line", "+ line" and the reason."""
    found = {}
    for entry in re.split(r"\n\s*\n", re.sub(r"^#.*\n", "", text, flags=re.MULTILINE).strip()):
        lines = [line.strip() for line in entry.split("\n") if entry]
        if not lines:
            continue
        if len(lines) != 4 or lines[1][:2] != "- " or lines[2][:2] != "+ " or not lines[3]:
            sys.exit(f"equivalent.txt: expected a path, - line, + line and a reason, found:\n{entry}")
        found[Reason(lines[0], lines[1][2:], lines[2][2:])] = lines[3]
    return found


def reason_of(mutant: Mutant) -> Reason:
    return Reason(mutant.path, mutant.before.strip(), mutant.after.strip())


def sources(pattern: str, target: str) -> List[str]:
    flags = set(re.findall(r"\w+", pathlib.Path("/proc/cpuinfo").read_text()))
    found = []
    for path in sorted(ROOT.glob("kernels/*/*.?pp")):
        name = str(path.relative_to(ROOT))
        extension = path.stem.rsplit("_", 1)[-1]
        if path.name == "pack.hpp" or extension == "armv7":  # declarations; another processor
            continue
        if path.parent.name in FOLDERS[target] and fnmatch.fnmatch(name, pattern):
            if path.parent.name != "x86" or FLAGS[extension] in flags:
                found.append(name)
    return found


def shares(paths: List[str], count: int) -> Dict[str, int]:
    """How many mutants of each file: by its lines, three times as many of scalar ones; at least two."""
    factors = {p: 3 if "/scalar/" in p or p.endswith("fixed_point.hpp") else 1 for p in paths}
    weights = {p: factor * (ROOT / p).read_text().count("\n") for p, factor in factors.items()}
    exact = {p: count * weight / sum(weights.values()) for p, weight in weights.items()}
    if count < len(paths):  # a sample: the files in the order of chance
        chosen = random.Random(count).choices(paths, [weights[p] for p in paths], k=count)
        return dict(collections.Counter(chosen))
    return {p: max(2, round(x)) for p, x in exact.items()}


def suites(test: str) -> str:
    names = re.findall(r"^(?:TYPED_)?TEST(?:_F|_P)?\((\w+),", (ROOT / test).read_text(), re.MULTILINE)
    return ":".join(f"{name}.*:*/{name}.*" for name in dict.fromkeys(names))


def operation(path: str) -> str:
    return pathlib.Path(path).stem.rsplit("_", 1)[0]


def enclosing_name(mutant: Mutant) -> str:
    """The function or constant of a header in which the mutant is."""
    lines = (ROOT / mutant.path).read_text().split("\n")[: mutant.number]
    for line in reversed(lines):
        if match := re.match(r"^(?:static|EMBERT_INLINE|inline|struct|enum).*?(\w+)(?:\(| =|\[| \{)", line):
            return match[1]
    return ""


class Trial:
    """Compiles and tests one mutant after the other."""

    def __init__(self, bench: Bench):
        self.bench, self.build = bench, bench.build
        self.known: Dict[str, Set[str]] = {}

    def result(self, mutant: Mutant, text: str) -> str:
        self.bench.place(mutant.path, text)
        if mutant.path.endswith(".cpp"):
            return self.of_source(mutant)
        return self.of_header(mutant)

    def of_source(self, mutant: Mutant) -> str:
        unit = self.build.units[mutant.path]
        compiled = self.bench.compile(unit)
        if compiled is None:
            return "invalid"
        if self.bench.same_code(unit, compiled):
            return "same code"
        own = ROOT / "tests/kernels" / f"{operation(mutant.path)}_test.cpp"
        if own.exists():
            if found := self.bench.fails("kernel_test", [(unit, compiled)], suites(str(own.relative_to(ROOT)))):
                return found
        return self.bench.fails("kernel_test", [(unit, compiled)], "*") or "survived"

    def of_header(self, mutant: Mutant) -> str:
        steps: List[Tuple[List[Unit], str, str]] = []
        name = re.compile(rf"\b{enclosing_name(mutant)}\b")

        def mentions(units: List[Unit]) -> int:
            return sum(len(name.findall((ROOT / unit.source).read_text())) for unit in units)

        if mutant.path in REFERENCE:
            for unit in sorted(self.build.arithmetic_tests(), key=lambda unit: -mentions([unit])):
                steps.append(([unit], "arithmetic_test", "*"))
        operations = collections.defaultdict(list)
        for unit in self.build.kernels():
            if mutant.path in includes(unit.source, self.known) and "dispatch" not in unit.source:
                operations[operation(unit.source)].append(unit)
        for each in sorted(operations, key=lambda o: -mentions(operations[o])):
            steps.append((operations[each], "kernel_test", suites(f"tests/kernels/{each}_test.cpp")))
        changed = False
        for units, program, tests in steps:
            result = self.of_objects(units, program, tests)
            if result not in ("survived", "same code"):
                return result
            # The sanitizer writes the place of each line into the objects of arithmetic_test: they always differ.
            changed |= result == "survived" and program == "kernel_test"
        return "survived" if changed else "same code"

    def of_objects(self, units: List[Unit], program: str, tests: str) -> str:
        objects = []
        for unit in units:
            compiled = self.bench.compile(unit)
            if compiled is None:
                return "invalid"
            if not self.bench.same_code(unit, compiled):
                objects.append((unit, compiled))
        if not objects:
            return "same code"
        return self.bench.fails(program, objects, tests) or "survived"


def try_one(mutant: Mutant, benches: "queue.Queue[Bench]", verbose: bool) -> str:
    bench = benches.get()
    begun = time.monotonic()
    try:
        result = Trial(bench).result(mutant, mutant.text((ROOT / mutant.path).read_text()))
    finally:
        benches.put(bench)
    if verbose:
        line = f"{mutant.path}:{mutant.number}: {result} ({time.monotonic() - begun:.1f} s)\n"
        print(f"{line}  - {mutant.before.strip()}\n  + {mutant.after.strip()}", flush=True)
    return result


def is_real(result: str) -> bool:
    return result not in ("invalid", "same code")


def try_all(wanted: Dict[str, int], seed: int, attempt: Callable[[List[Mutant]], List[str]]) -> Results:
    """Mutants of each file in the order of chance, until as many as wanted were real ones."""
    candidates = {}
    for path in wanted:
        mutants = list(mutants_of(path, (ROOT / path).read_text()))
        random.Random(f"{seed} {path}").shuffle(mutants)
        candidates[path] = iter(mutants)
    results: Results = {path: [] for path in wanted}
    while True:
        batch: List[Mutant] = []
        for path, count in wanted.items():
            missing = count - sum(is_real(result) for _, result in results[path])
            batch += itertools.islice(candidates[path], missing)
        if not batch:
            return results
        for mutant, result in zip(batch, attempt(batch)):
            results[mutant.path].append((mutant, result))


def prepare(folder: pathlib.Path, target: str) -> Build:
    if not (folder / "build.ninja").exists():
        options = ["--log-level=WARNING", "-DEMBERT_UNITY=OFF", "-DEMBERT_CONVERTER=OFF", "-DEMBERT_TOOL=OFF"]
        subprocess.run(["cmake", "--preset", target, "-B", folder, *options], cwd=ROOT, check=True)
    programs = ["kernel_test", "arithmetic_test"] if target == "release" else ["kernel_test"]
    subprocess.run(["cmake", "--build", folder, "--target", *programs], check=True)
    return Build(folder.resolve())


def fails_without_mutant(benches: "queue.Queue[Bench]") -> List[str]:
    bench = benches.get()
    programs = [p for p in bench.build.links if bench.run(bench.build.folder / "tests/kernels" / p, "*")]
    benches.put(bench)
    return [f"{program} fails without a mutant" for program in programs]


def list_problems(reasons: Dict[Reason, str]) -> List[str]:
    all_mutants = {
        reason_of(m) for p in {r.path for r in reasons} if (ROOT / p).exists() for m in mutants_of(p, (ROOT / p).read_text())
    }
    return [
        f"equivalent.txt: no longer a mutant of {r.path}: {r.before}  ->  {r.after}" for r in reasons if r not in all_mutants
    ]


def print_table(results: Results, reasons: Dict[Reason, str]) -> List[str]:
    columns = ("tried", "test", "crash", "time", "explained", "survived")
    total: collections.Counter = collections.Counter()
    problems = []
    print(f"{'file':<46}" + "".join(f"{name:>10}" for name in columns))
    for path, tried in sorted(results.items()):
        counts: collections.Counter = collections.Counter()
        for mutant, result in tried:
            listed = reason_of(mutant) in reasons
            place = f"{mutant.path}:{mutant.number}: "
            change = f"\n  - {mutant.before.strip()}\n  + {mutant.after.strip()}"
            if result == "survived" and not listed:
                problems.append(f"{place}survived{change}")
            elif result == "survived":
                result = "explained"
            elif listed and result != "same code":
                problems.append(f"{place}found ({result}), but listed in equivalent.txt{change}")
            counts[result] += 1
            counts["tried"] += is_real(result)
        total += counts
        print(f"{path:<46}" + "".join(f"{counts[name]:>10}" for name in columns))
    print(f"{'all':<46}" + "".join(f"{total[name]:>10}" for name in columns))
    print(f"beside them {total['invalid']} that do not compile and {total['same code']} with the same code")
    return problems


def main() -> int:
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--count", type=int, default=260)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--target", choices=FOLDERS, default="release", help="preset of the build")
    parser.add_argument("--build", type=pathlib.Path, help="default: build/mutants-TARGET")
    parser.add_argument("--file", default="*")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--verbose", action="store_true")
    arguments = parser.parse_args()
    reasons = read_reasons((HERE / "equivalent.txt").read_text())
    problems = list_problems(reasons)
    if not arguments.check and not problems:
        build = prepare(arguments.build or ROOT / f"build/mutants-{arguments.target}", arguments.target)
        wanted = shares(sources(arguments.file, arguments.target), arguments.count)
        benches: "queue.Queue[Bench]" = queue.Queue()
        for number in range(arguments.jobs):
            benches.put(Bench(build, number))
        with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
            unchanged = pool.submit(fails_without_mutant, benches)

            def attempt(batch: List[Mutant]) -> List[str]:
                return list(pool.map(lambda mutant: try_one(mutant, benches, arguments.verbose), batch))

            results = try_all(wanted, arguments.seed, attempt)
        problems = print_table(results, reasons) + unchanged.result()
    print("\n".join(problems))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
