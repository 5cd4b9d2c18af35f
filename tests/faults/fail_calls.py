#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Each system call of the tool fails once, and ends the tool once.   fail_calls.py EMBERT [--scenario NAME] [--every N]

strace makes the calls fail (Debian: strace). A scenario is a command on a small model that has an output from before.
First it runs undisturbed, for the list of its calls from the end of the dynamic loader on. Then it runs once for each
call with an error that this call can have, and once with SIGKILL at its entry. After each run must hold:

- the output is the old one or the new one, byte for byte; the new one if the tool ends with 0. Of an output that holds times,
  so that two undisturbed runs write different ones, only the form is compared
- the exit code is 0 to 3; if it is not 0, a message on stderr names the cause: it has the text of the error (strerror), or
  what OWN_WORDS says; where the call only looks what is at a path, the name of the file is enough
- the folder holds the outputs and nothing else, at the latest after one more run, undisturbed

In three more runs the processor's files open but do not read, in the child that tries cpuinfo, too: each must refuse by
name, or end with a whole output.

Prints a table of calls, cases and results, and the messages that name a file and not the error; ends with 1 if a case breaks
a rule. --every N takes each N-th call, and the first of each name. A report that is a page times the model, so there only the
calls on the folder of the outputs fail. A crash where the library cpuinfo reads the processor's files is listed apart: the
converter tries cpuinfo in a child and refuses machines on which it crashes, but cpuinfo survives no read that fails after that.
"""

import argparse
import collections
import errno
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / "tests/targets/python"))
import model_folders  # noqa: E402

MODEL = ROOT / "tests/data/reference/families/distilbert"
OLD = b"the output of a run before\n"

# An error that each call can have (man pages, section 2). A call that is not here is not disturbed: futex, exit and
# what can only fail for a broken program. aarch64 has the names with "at" and ppoll where x86-64 has the short ones.
ERRORS = {
    "access": "EACCES", "clone": "EAGAIN", "clone3": "EAGAIN", "close": "EIO", "faccessat": "EACCES", "fcntl": "EINVAL",
    "flock": "ENOLCK", "fstat": "EIO", "fsync": "EIO", "ftruncate": "EIO", "getdents64": "EIO", "getrandom": "EAGAIN",
    "ioctl": "ENOTTY", "link": "EPERM", "linkat": "EPERM", "lseek": "EINVAL", "mmap": "ENOMEM", "mprotect": "ENOMEM",
    "munmap": "ENOMEM", "newfstatat": "EACCES", "openat": "EMFILE", "poll": "EINTR", "ppoll": "EINTR", "prctl": "EINVAL",
    "pread64": "EIO", "prlimit64": "EPERM", "read": "EIO", "readlink": "EACCES", "readlinkat": "EACCES",
    "rename": "EACCES", "renameat": "EACCES", "renameat2": "EACCES", "rt_sigaction": "EINVAL",
    "sched_getaffinity": "EPERM", "unlink": "EACCES", "unlinkat": "EACCES", "wait4": "ECHILD", "write": "ENOSPC",
}  # fmt: skip
FAULTS = {name: f"error={error}" for name, error in ERRORS.items()}
FAULTS["brk"] = "retval=0"  # the kernel answers with an address below the one asked for
# A call that looks what is at a path. A later look may find no file there, and the message is then right about that one.
LOOK = "newfstatat"
# By call: the words of messages that name the cause without the text of the error.
OWN_WORDS = {
    **dict.fromkeys(("brk", "mmap", "mprotect", "munmap"), "not enough memory"),
    # A temporary file without its lock is swept away as one of a killed program: rename() finds none.
    "flock": "cannot replace: No such file or directory",
}
# How outputs that hold times begin and end.
FORMS = {".json": (b"{", b"}"), ".html": (b"<!DOCTYPE html>", b"</html>"), ".svg": (b"<svg", b"</svg>")}
LIBRARY_FILES = ("/sys/devices/system/cpu", "/proc/cpuinfo")  # only cpuinfo reads them
LIBRARY_PATH = re.compile(rf'"((?:{"|".join(LIBRARY_FILES)})[^"]*)"')
CALL = re.compile(r"^(?:\d+ +)?(\w+)\(")
PATH = re.compile(r'"([^"]+)"|\(\d+<([^>]+)>')  # of a line of strace: that of the call, or of its descriptor


class Scenario:
    """A command; `outputs` are the files that it writes, in its folder. `only_there`: only the calls on this folder fail."""

    def __init__(self, arguments, outputs, stdin=b"", only_there=False):
        self.arguments, self.outputs, self.stdin, self.only_there = arguments, outputs, stdin, only_there
        self.new, self.timed = {}, set()

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
        return {name: (folder / name).read_bytes() if (folder / name).exists() else b"" for name in self.outputs}

    def learn(self, first, second):
        """The new outputs, from two undisturbed runs."""
        self.new, self.timed = first, {name for name in first if first[name] != second[name]}
        if strange := [name for name in self.timed if pathlib.Path(name).suffix not in FORMS]:
            sys.exit(f"{' '.join(self.arguments)}: two runs write different {strange}")

    def states(self, folder):
        """For each output whether it is "old", "new" or "neither"."""
        for name, found in self.contents(folder).items():
            start, end = FORMS[pathlib.Path(name).suffix] if name in self.timed else (b"", b"")
            is_new = found.startswith(start) and found.rstrip().endswith(end) if name in self.timed else found == self.new[name]
            yield name, "old" if found == OLD else "new" if is_new else "neither"

    def left(self, folder):
        return sorted({path.name for path in folder.iterdir()} - set(self.outputs))


def scenarios(place, tool):
    """By name; makes models and texts in the folder `place`."""
    folders = {
        "plain": MODEL,
        "sentence": model_folders.sentence_model(place / "sentence"),
        "classifier": model_folders.classifier(place / "classifier", ["good", "bad"]),
    }
    blobs = {name: str(place / f"{name}.emb") for name in folders}
    for name, folder in folders.items():
        subprocess.run([tool, "convert", folder, "-o", blobs[name]], check=True, capture_output=True)
    texts = place / "texts"
    texts.write_bytes(b"a text\nanother\n")
    convert = ["convert", str(MODEL), "-o", "FOLDER/out.emb", "--threads", "1"]
    verify = ["verify", blobs["classifier"], str(folders["classifier"]), "--texts", str(texts), "-o", "FOLDER/out"]
    embed = ["embed", blobs["sentence"], "--npy", "FOLDER/out.npy"]
    return {
        "convert": Scenario(convert, ["out.emb"]),
        "report": Scenario([*convert, "--report", "FOLDER/r.json"], ["out.emb", "r.json"]),
        "page": Scenario([*convert, "--report", "FOLDER/r.html"], ["out.emb", "r.html"], only_there=True),
        "verify": Scenario([*verify, "--report", "FOLDER/r.html", "--threads", "1"], ["out", "r.html"], only_there=True),
        "start-up": Scenario(["inspect", blobs["plain"]], []),
        "output": Scenario(["inspect", blobs["plain"], "--json", "-o", "FOLDER/out.json"], ["out.json"]),
        "numpy": Scenario([*embed, "--threads", "1"], ["out.npy"], texts.read_bytes()),
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
            is_wanted = not scenario.only_there or str(folder) in line
            if i >= start and match[1] in FAULTS and is_wanted:
                calls.append((match[1], seen[match[1]], any(path in line for path in LIBRARY_FILES)))
    return calls


def names_cause(call, line, err):
    """Whether the messages name the cause of this line of strace, "refused", or only its file, "file"; else empty."""
    messages = [message for message in err.splitlines() if message.startswith("embert: ")]
    causes = [os.strerror(getattr(errno, ERRORS[call]))] if call in ERRORS else []
    causes += [OWN_WORDS[call]] if call in OWN_WORDS else []
    if any(cause in message for message in messages for cause in causes):
        return "refused"
    path = PATH.search(line)
    name = pathlib.Path(path[1] or path[2]).name if path and call == LOOK else ""
    return "file" if name and any(name in message for message in messages) else ""


def check(scenario, tool, folder, fault):
    """The result of a run with this fault for the table, and a message. If it breaks a rule, "wrong" and what is wrong."""
    name, number, action = fault
    trace = folder.parent / "trace"
    inject = f"inject={name}:{action}:when={number}"
    killed = action.startswith("signal")
    # A run may make fewer calls than those that counted them, as addresses are random.
    for _ in range(3):
        scenario.reset(folder)
        status, err = scenario.run(tool, folder, ["strace", "-qq", "-y", "-o", str(trace), "-e", f"trace={name}", "-e", inject])
        line = next((line for line in trace.read_text(errors="replace").splitlines() if "(INJECTED)" in line), "")
        if status == -signal.SIGKILL if killed else line:
            break
    else:
        return "wrong", f"no such call in three runs; ends with {status}"
    for output, state in scenario.states(folder):
        if state == "neither" or (state == "old" and status == 0):
            return "wrong", f"ends with {status}, and {output} is {state}"
    if not killed and status not in (0, 1, 2, 3):
        return "wrong", f"ends with {status}: {err.strip()[-120:]}"
    # A run that leaves nothing is followed by one that begins as the first did.
    if scenario.left(folder) and (problem := broken_run(scenario, tool, folder)):
        return "wrong", f"the next run {problem}"
    if killed or status == 0:
        return ("killed" if killed else "no matter"), ""
    message = err.strip().rpartition("embert: ")[2]
    result = names_cause(name, line, err)
    return (result, message) if result else ("wrong", f"exit code {status} without a message that names the cause: {message!r}")


def broken_run(scenario, tool, folder):
    """What is wrong with an undisturbed run; empty if nothing is."""
    status, _ = scenario.run(tool, folder)
    left = scenario.left(folder)
    return f"ends with {status} and leaves {left}" if status != 0 or left else ""


def with_unreadable_files(scenario, tool, folder):
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
        if bad := [output for output, state in scenario.states(folder) if state == "neither"]:
            wrong = wrong or f"{bad} is neither the old one nor the new one"
        results[kind] = "WRONG" if wrong else "whole output" if status == 0 else "refused by name"
        problems += [f"files of the processor, {kind}: {wrong}"] if wrong else []
    return results, problems


def run_scenario(name, scenario, tool, every):
    """The table, what broke a rule, and the messages that name a file and not the error."""
    failures, files = [], []
    results = collections.defaultdict(collections.Counter)
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch) / "folder"
        calls = min((calls_of(scenario, tool, folder) for _ in range(2)), key=len)
        first = scenario.contents(folder)
        problem = broken_run(scenario, tool, folder)
        scenario.learn(first, scenario.contents(folder))
        if problem:
            failures.append(f"{name}: an undisturbed run over new outputs {problem}")
        if name == "start-up" and any(in_library for _, _, in_library in calls):
            failures.append("start-up: reads the processor's files, on which cpuinfo crashes where they are broken")
        firsts = {call: i for i, (call, _, _) in reversed([*enumerate(calls)])}
        for i, (call, number, in_library) in enumerate(calls):
            if i % every != 0 and i != firsts[call]:
                continue
            for action in (FAULTS[call], "signal=KILL"):
                result, message = check(scenario, tool, folder, (call, number, action))
                if in_library and message.startswith("ends with -"):
                    result = "cpuinfo"
                results[call][result] += 1
                if result == "wrong":
                    failures.append(f"{name}: {call} {number} {action}: {message}")
                if result == "file":
                    files.append(message)
        unreadable, problems = with_unreadable_files(scenario, tool, folder)
        failures += [f"{name}: {problem}" for problem in problems]
    print(f"\n{name}: {' '.join(scenario.arguments[:1])}, {len(calls)} calls")
    for kind, result in unreadable.items():
        print(f"files of the processor, {kind}: {result}")
    print_table(results)
    return results, failures, files


def print_table(results):
    columns = ("refused", "file", "no matter", "killed", "cpuinfo", "wrong")
    print(f"{'call':<18}" + "".join(f"{column:>10}" for column in ("cases", *columns)))
    for call, counts in [*sorted(results.items()), ("all", sum(results.values(), collections.Counter()))]:
        print(f"{call:<18}{counts.total():>10}" + "".join(f"{counts[column]:>10}" for column in columns), flush=True)


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
    table, failures, files = collections.defaultdict(collections.Counter), [], set()
    with tempfile.TemporaryDirectory() as place:
        for name, scenario in scenarios(pathlib.Path(place), arguments.tool).items():
            if arguments.scenario in (None, name):
                results, broken, messages = run_scenario(name, scenario, arguments.tool, arguments.every)
                failures += broken
                files.update(messages)
                for call, counts in results.items():
                    table[call] += counts
    print("\nall scenarios")
    print_table(table)
    print("\nmessages that name a file, not its error:", *(sorted(files) or ["none"]), sep="\n")
    print("\n" + "\n".join(failures) if failures else "\nno case breaks a rule")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
