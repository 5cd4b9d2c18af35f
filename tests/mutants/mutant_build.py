# SPDX-License-Identifier: Apache-2.0
"""Compiles a mutant with the commands of a build, relinks a test program with it and runs the tests.

The objects of the build stay as they are: a mutated object is linked before the library that has the original.
"""

import json
import pathlib
import re
import shlex
import signal
import subprocess
from typing import Dict, List, NamedTuple, Optional, Tuple

ROOT = pathlib.Path(__file__).resolve().parents[2]
CPU_SECONDS = 90  # kernel_test takes 10, arithmetic_test 2
CPU_SECONDS_EMULATED = 1800
INCLUDE = re.compile(r'^#include "(kernels/[^"]+)"', re.MULTILINE)


class Unit(NamedTuple):
    source: str  # from the root of the repository
    object: str  # from the folder of the build
    command: List[str]


class Build:
    def __init__(self, folder: pathlib.Path):
        self.folder = folder
        self.emulator = self._emulator()
        self.units: Dict[str, Unit] = {}
        for entry in json.loads((folder / "compile_commands.json").read_text()):
            command = shlex.split(entry["command"])
            target = command[command.index("-o") + 1]
            # A source may belong to several targets: the library's, and those of the two test programs.
            if re.search(r"/(embert_kernels|kernel_cases|arithmetic_test)\.dir/", "/" + target):
                source = str(pathlib.Path(entry["file"]).relative_to(ROOT))
                self.units[source] = Unit(source, target, command)
        self.links = {name: self._link(name) for name in ("kernel_test", "arithmetic_test") if self.has(name)}

    def has(self, program: str) -> bool:
        return (self.folder / "tests/kernels" / program).exists()

    def _emulator(self) -> List[str]:
        """What ctest puts before kernel_test; nothing in a build for this machine."""
        ctest = ["ctest", "--test-dir", str(self.folder), "--show-only=json-v1", "-R", "^kernel_test$"]
        shown = subprocess.run(ctest, capture_output=True, text=True, check=True).stdout
        return json.loads(shown)["tests"][0]["command"][:-1]

    def _link(self, program: str) -> str:
        commands = subprocess.run(
            ["ninja", "-C", str(self.folder), "-t", "commands", program], capture_output=True, text=True, check=True
        ).stdout.splitlines()
        return next(line for line in reversed(commands) if f"-o tests/kernels/{program} " in line)

    def arithmetic_tests(self) -> List[Unit]:
        return [unit for unit in self.units.values() if "/arithmetic_test.dir/" in unit.object]

    def kernels(self) -> List[Unit]:
        return [unit for unit in self.units.values() if "/embert_kernels.dir/" in unit.object]


def includes(source: str, known: Dict[str, set]) -> set:
    """The headers of kernels/ that a file includes, directly or not."""
    if source not in known:
        known[source] = set()
        for header in INCLUDE.findall((ROOT / source).read_text()):
            known[source] |= {header} | includes(header, known)
    return known[source]


class Bench:
    """A folder in which one mutant at a time is built and run."""

    def __init__(self, build: Build, number: int):
        self.build = build
        self.folder = build.folder / f"mutant-{number}"
        self.folder.mkdir(exist_ok=True)

    def place(self, path: str, text: str) -> None:
        """The tree of the mutant has this one file; everything else comes from the repository."""
        for old in self.folder.glob("kernels/*/*"):
            old.unlink()
        target = self.folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text)

    def compile(self, unit: Unit) -> Optional[pathlib.Path]:
        """The object, or None if the mutant does not compile."""
        target = self.folder / pathlib.Path(unit.object).name
        mutated = self.folder / unit.source
        command = list(unit.command)
        command[command.index("-o") + 1] = str(target)
        command[command.index("-c") + 1] = str(mutated if mutated.exists() else ROOT / unit.source)
        # Warnings are no errors here: a mutant may compare what is always true.
        command[command.index("-o") : command.index("-o")] = ["-w", "-Wno-error"]
        first = next(i for i, word in enumerate(command) if word.startswith("-I"))
        command[first:first] = [f"-I{self.folder}"]
        done = subprocess.run(command, cwd=self.build.folder, capture_output=True, check=False)
        return target if done.returncode == 0 else None

    def same_code(self, unit: Unit, compiled: pathlib.Path) -> bool:
        return compiled.read_bytes() == (self.build.folder / unit.object).read_bytes()

    def fails(self, program: str, objects: List[Tuple[Unit, pathlib.Path]], tests: str) -> str:
        """How the program with these objects in place of its own fails these tests; empty if it passes."""
        command = self.build.links[program]
        target = self.folder / program
        added = []
        for unit, compiled in objects:
            if f" {unit.object} " in command:
                command = command.replace(f" {unit.object} ", f" {compiled} ")
            else:
                added.append(str(compiled))
        command = command.replace(f"-o tests/kernels/{program} ", f"-o {target} {' '.join(added)} ")
        linked = subprocess.run(command, shell=True, cwd=self.build.folder, capture_output=True, text=True, check=False)
        if linked.returncode != 0:
            raise RuntimeError(f"cannot link {program}: {linked.stderr[-2000:]}")
        return self.run(target, tests)

    def run(self, program: pathlib.Path, tests: str) -> str:
        seconds = CPU_SECONDS_EMULATED if self.build.emulator else CPU_SECONDS
        limit = ["prlimit", f"--cpu={seconds}"]  # of the processor: a busy machine is no endless loop
        run = [*limit, *self.build.emulator, str(program)]
        command = [*run, "--gtest_fail_fast", "--gtest_brief=1", f"--gtest_filter={tests}"]
        status = subprocess.run(
            command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=self.folder, check=False
        ).returncode
        return "" if status == 0 else "time" if status == -signal.SIGXCPU else "crash" if status < 0 else "test"
