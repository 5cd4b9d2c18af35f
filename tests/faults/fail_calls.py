#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Each system call of the tool fails once, and ends the tool once.   fail_calls.py EMBERT [--scenario NAME] [--every N]

strace makes the calls fail (Debian: strace). A scenario is a command on a small model that has an output from before.
First it runs undisturbed, for the list of its calls from the end of the dynamic loader on. Then it runs once for each
call with an error that this call can have, and once with SIGKILL at its entry. After each run must hold:

- the output is the old one or the new one, byte for byte; the new one if the tool ends with 0
- the exit code is 0 to 3, and stderr has a line that begins with "embert: " if it is not 0
- after one more run, undisturbed, the folder holds the outputs and nothing else

In three more runs the processor's files open but do not read, in the child that tries cpuinfo, too: each must refuse by
name, or end with a whole output.

Prints a table of calls, cases and results; ends with 1 if a case breaks a rule. --every N takes each N-th call, and the
first of each name. A crash where the library cpuinfo reads the processor's files is listed apart: the converter tries
cpuinfo in a child and refuses machines on which it crashes, but cpuinfo survives no read that fails after that.
"""

import argparse
import collections
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
MODEL = ROOT / "tests/data/reference/families/distilbert"
DEMO = ROOT / "targets/demo/tiny-intent"
OLD = b"the output of a run before\n"

# An error that each call can have (man pages, section 2). A call that is not here is not disturbed: futex, exit and
# what can only fail for a broken program. aarch64 has the names with "at" and ppoll where x86-64 has the short ones.
ERRORS = {
    "access": "EACCES", "clone": "EAGAIN", "clone3": "EAGAIN", "close": "EIO", "faccessat": "EACCES", "fcntl": "EINVAL",
    "flock": "EINTR", "fstat": "EIO", "fsync": "EIO", "ftruncate": "EIO", "getdents64": "EIO", "getrandom": "EAGAIN",
    "ioctl": "ENOTTY", "link": "EPERM", "linkat": "EPERM", "lseek": "EINVAL", "mmap": "ENOMEM", "mprotect": "ENOMEM",
    "munmap": "ENOMEM", "newfstatat": "EACCES", "openat": "EMFILE", "poll": "EINTR", "ppoll": "EINTR", "prctl": "EINVAL",
    "pread64": "EIO", "prlimit64": "EPERM", "read": "EIO", "readlink": "EACCES", "readlinkat": "EACCES",
    "rename": "EACCES", "renameat": "EACCES", "renameat2": "EACCES", "rt_sigaction": "EINVAL",
    "sched_getaffinity": "EPERM", "unlink": "EACCES", "unlinkat": "EACCES", "wait4": "ECHILD", "write": "ENOSPC",
}  # fmt: skip
FAULTS = {name: f"error={error}" for name, error in ERRORS.items()}
FAULTS["brk"] = "retval=0"  # the kernel answers with an address below the one asked for
LIBRARY_FILES = ("/sys/devices/system/cpu", "/proc/cpuinfo")  # only cpuinfo reads them
LIBRARY_PATH = re.compile(rf'"((?:{"|".join(LIBRARY_FILES)})[^"]*)"')
CALL = re.compile(r"^(?:\d+ +)?(\w+)\(")


class Scenario:
    """A command; `outputs` are the files that it writes, in its folder."""

    def __init__(self, arguments, outputs, stdin=b""):
        self.arguments, self.outputs, self.stdin = arguments, outputs, stdin

    def run(self, tool, folder, strace=()):
        command = [*strace, tool, *(argument.replace("FOLDER", str(folder)) for argument in self.arguments)]
        done = subprocess.run(command, input=self.stdin, capture_output=True, timeout=120, check=False)
        return done.returncode, done.stderr.decode(errors="replace")

    def reset(self, folder):
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        for name in self.outputs:
            (folder / name).write_bytes(OLD)

    def contents(self, folder):
        return [(folder / name).read_bytes() if (folder / name).exists() else None for name in self.outputs]


def scenarios(blob, demo):
    return {
        "convert": Scenario(["convert", str(MODEL), "-o", "FOLDER/out.emb", "--threads", "1"], ["out.emb"]),
        "report": Scenario(
            ["convert", str(MODEL), "-o", "FOLDER/out.emb", "--report", "FOLDER/r.json", "--threads", "1"],
            ["out.emb", "r.json"],
        ),
        "start-up": Scenario(["inspect", blob], []),
        "output": Scenario(["inspect", blob, "--json", "-o", "FOLDER/out.json"], ["out.json"]),
        "numpy": Scenario(["embed", demo, "--npy", "FOLDER/out.npy", "--threads", "1"], ["out.npy"], b"a text\nanother\n"),
    }


def calls_of(scenario, tool, folder):
    """[(name, number among the calls of this name, is in cpuinfo)] of the main thread, after the dynamic loader."""
    scenario.reset(folder)
    trace = folder.parent / "trace"
    status, err = scenario.run(tool, folder, ["strace", "-qq", "-y", "-o", str(trace)])
    if status != 0:
        sys.exit(f"the undisturbed run ends with {status}: {err.strip()}")
    lines = trace.read_text().splitlines()
    cache = next((i for i, line in enumerate(lines) if "ld.so.cache" in line), 0)
    start = next(i for i, line in enumerate(lines) if i > cache and "munmap(" in line) + 1
    seen, calls = collections.Counter(), []
    for i, line in enumerate(lines):
        if match := CALL.match(line):
            seen[match[1]] += 1
            if i >= start and match[1] in FAULTS:
                calls.append((match[1], seen[match[1]], any(path in line for path in LIBRARY_FILES)))
    return calls


def check(scenario, tool, folder, whole, fault):
    """What is wrong after a run with this fault; None if all holds. Else the result for the table."""
    name, number, action = fault
    scenario.reset(folder)
    inject = f"inject={name}:{action}:when={number}"
    status, err = scenario.run(tool, folder, ["strace", "-qq", "-o", "/dev/null", "-e", f"trace={name}", "-e", inject])
    killed = action.startswith("signal")
    for output, (found, new) in zip(scenario.outputs, zip(scenario.contents(folder), whole)):
        if found != OLD and not same(output, found, new):
            return f"{output} is neither the old one nor the new one"
        if status == 0 and found == OLD:
            return f"exit code 0, and {output} is the old one"
    if not killed and status not in (0, 1, 2, 3):
        return f"ends with {status}: {err.strip()[-120:]}"
    if not killed and status != 0 and not re.search(r"^embert: ", err, re.M):
        return f"exit code {status} without a message: {err.strip()[-120:]!r}"
    again, err = scenario.run(tool, folder)
    left = sorted(set(path.name for path in folder.iterdir()) - set(scenario.outputs))
    if again != 0 or left:
        return f"the next run ends with {again} and leaves {left}"
    return "" if status == 0 else "killed" if killed else "refused"


def with_unreadable_files(scenario, tool, folder, whole):
    """Runs in which the processor's files open but do not read, in any process of the tool: by kind, how the run ended, and
    what is wrong."""
    trace = folder.parent / "trace"
    scenario.reset(folder)
    scenario.run(tool, folder, ["strace", "-f", "-qq", "-o", str(trace), "-e", "trace=openat"])
    paths = sorted(set(LIBRARY_PATH.findall(trace.read_text())))
    if not paths:
        return {"all kinds": "reads none"}, []
    lists = [path for path in paths if path.endswith(("/possible", "/present"))]
    results, problems = {}, []
    for kind, files, fault in (
        ("no read succeeds", paths, "error=EIO"),
        ("all are empty", paths, "retval=0"),
        ("the lists of processors read only once", lists, "error=EIO:when=3+"),
    ):
        scenario.reset(folder)
        only = [word for path in files for word in ("-P", path)]
        strace = ["strace", "-f", "-qq", "-o", str(trace), *only, "-e", "trace=read", "-e", f"inject=read:{fault}"]
        status, err = scenario.run(tool, folder, strace)
        wrong = ""
        if "(INJECTED)" not in trace.read_text():
            wrong = "strace changed no read"
        elif status not in (0, 1, 2, 3) or (status != 0 and not re.search(r"^embert: cpuinfo", err, re.M)):
            wrong = f"ends with {status}: {err.strip()[-120:]!r}"
        for output, (found, new) in zip(scenario.outputs, zip(scenario.contents(folder), whole)):
            if found != OLD and not same(output, found, new):
                wrong = wrong or f"{output} is neither the old one nor the new one"
        results[kind] = "WRONG" if wrong else "whole output" if status == 0 else "refused by name"
        problems += [f"files of the processor, {kind}: {wrong}"] if wrong else []
    return results, problems


def same(output, found, new):
    """A report has times, so only its form is compared."""
    if output.endswith(".json"):
        return found is not None and found.startswith(b"{") and found.rstrip().endswith(b"}")
    return found == new


def run_scenario(name, scenario, tool, every):
    failures = []
    results = collections.defaultdict(collections.Counter)
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch) / "folder"
        calls = calls_of(scenario, tool, folder)
        whole = scenario.contents(folder)
        if name == "start-up" and any(in_library for _, _, in_library in calls):
            failures.append("start-up: reads the processor's files, on which cpuinfo crashes where they are broken")
        firsts = {call: i for i, (call, _, _) in reversed([*enumerate(calls)])}
        for i, (call, number, in_library) in enumerate(calls):
            if i % every != 0 and i != firsts[call]:
                continue
            for action in (FAULTS[call], "signal=KILL"):
                result = check(scenario, tool, folder, whole, (call, number, action))
                kind = {"": "ignored", "killed": "killed", "refused": "refused"}.get(result, "WRONG")
                if in_library and result.startswith("ends with -"):
                    kind = "library"
                results[call][kind] += 1
                if kind == "WRONG":
                    failures.append(f"{name}: {call} {number} {action}: {result}")
        unreadable, problems = with_unreadable_files(scenario, tool, folder, whole)
        failures += [f"{name}: {problem}" for problem in problems]
    print(f"\n{name}: {' '.join(scenario.arguments[:1])}, {len(calls)} calls")
    for kind, result in unreadable.items():
        print(f"files of the processor, {kind}: {result}")
    print(f"{'call':<18} {'cases':>6} {'refused':>8} {'no matter':>10} {'killed':>7} {'cpuinfo':>8} {'wrong':>6}")
    for call, counts in sorted(results.items()):
        print(
            f"{call:<18} {counts.total():>6} {counts['refused']:>8} {counts['ignored']:>10} {counts['killed']:>7}"
            f" {counts['library']:>8} {counts['WRONG']:>6}"
        )
    return failures


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("tool")
    parser.add_argument("--scenario")
    parser.add_argument("--every", type=int, default=1)
    arguments = parser.parse_args()
    if shutil.which("strace") is None:
        print("NOT TESTED: no strace")
        return 0
    if subprocess.run(["strace", "-o", "/dev/null", "true"], capture_output=True, check=False).returncode != 0:
        print("NOT TESTED: strace may not trace here")
        return 0
    with tempfile.TemporaryDirectory() as scratch:
        blob, demo = scratch + "/model.emb", scratch + "/demo.emb"
        for model, output in ((MODEL, blob), (DEMO, demo)):
            subprocess.run([arguments.tool, "convert", str(model), "-o", output], check=True, capture_output=True)
        failures = []
        for name, scenario in scenarios(blob, demo).items():
            if arguments.scenario in (None, name):
                failures += run_scenario(name, scenario, arguments.tool, arguments.every)
    print("\n" + "\n".join(failures) if failures else "\nno case breaks a rule")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
