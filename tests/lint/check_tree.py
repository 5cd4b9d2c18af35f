#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The shape of the tree.   check_tree.py ROOT

- A folder has at most 20 entries, so that `ls` shows its idea.
- Names of sources and headers are unique, so that a name is an address.
- Includes form no cycle, and chains of them are short. The deepest chain of each folder is printed.
- embert.h, the header that most users read, has at most 200 lines.
- Sources, headers and scripts that a README names in backquotes exist.
"""

import collections
import functools
import pathlib
import re
import sys
from typing import Dict, Iterator, List, Set, Tuple

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).parent))
from cpp_tokens import SUFFIXES  # noqa: E402

FOLDERS = ("kernels", "runtime", "converter", "targets", "tests", "toolchains", ".ci")
MAX_ENTRIES = 20
# Folders with one file for each of many things of one kind.
LONG_FOLDERS = {
    "kernels/x86": "one file for each kernel variant",
    "kernels/arm": "one file for each kernel variant",
    "tests/kernels": "one file for each operation",
}
MAX_ARROWS = {"kernels": 8, "runtime": 8, "converter": 8, "targets": 10, "tests": 10}
MAX_HEADER_LINES = {"runtime/include/embert/embert.h": 200}
# Folders that a build adds to the include paths; all other includes start at the root or beside the file.
INCLUDE_PATHS = ("", "runtime/include/")
# Files of users, of builds and of systems that READMEs name.
OTHERS = {"program.c", "immintrin.h"}
INCLUDE = re.compile(r'^\s*#\s*include\s+["<]([^">]+)[">]', re.MULTILINE)


def is_hidden(name: str) -> bool:
    return name == "__pycache__" or name.endswith(".pyc")


def entries_problems(folders: Dict[str, List[str]]) -> Iterator[str]:
    for folder, names in sorted(folders.items()):
        if len(names) > MAX_ENTRIES and folder not in LONG_FOLDERS:
            yield (
                f"{folder}: {len(names)} entries, at most {MAX_ENTRIES}; move what belongs together into a folder "
                "(LONG_FOLDERS in check_tree.py has the exceptions)"
            )
    for folder in sorted(LONG_FOLDERS.keys() - folders.keys()):
        yield f"tests/lint/check_tree.py: LONG_FOLDERS names {folder}, which does not exist"


def name_problems(sources: List[str]) -> Iterator[str]:
    by_name = collections.defaultdict(list)
    for path in sources:
        by_name[path.rsplit("/", 1)[-1]].append(path)
    for name, paths in sorted(by_name.items()):
        if len(paths) > 1:
            yield f"{paths[1]}:1: the name {name} is also that of {paths[0]}; rename one after what it alone does"


def included(path: str, texts: Dict[str, str]) -> List[str]:
    folder = path.rsplit("/", 1)[0] + "/"
    found = []
    for name in INCLUDE.findall(texts[path]):
        candidates = [prefix + name for prefix in INCLUDE_PATHS] + [folder + name]
        found += [candidate for candidate in candidates if candidate in texts][:1]
    return found


def include_problems(texts: Dict[str, str], chains: List[str]) -> Iterator[str]:
    """Appends the deepest chain of each folder to `chains`."""
    graph = {path: included(path, texts) for path in texts}
    open_files: List[str] = []
    cycles: List[str] = []

    @functools.lru_cache(None)
    def chain(path: str) -> Tuple[str, ...]:
        if path in open_files:
            cycle = open_files[open_files.index(path) :] + [path]
            cycles.append(f"{path}:1: include cycle: {' -> '.join(cycle)}; one of these must not need the next")
            return ()
        open_files.append(path)
        below = max((chain(next_path) for next_path in graph[path]), key=len, default=())
        open_files.pop()
        return (path,) + below

    deepest: Dict[str, Tuple[str, ...]] = {}
    for path in sorted(graph):
        top = path.split("/")[0]
        deepest[top] = max(deepest.get(top, ()), chain(path), key=len)
    yield from cycles
    for top, files in sorted(deepest.items()):
        arrows = len(files) - 1
        chains.append(f"{top}: {arrows} arrows: {' -> '.join(files)}")
        if arrows > MAX_ARROWS.get(top, arrows):
            yield (
                f"{files[0]}:1: the deepest chain of includes in {top} has {arrows} arrows, at most {MAX_ARROWS[top]}; "
                "move types that others need to files of their own"
            )


def line_problems(texts: Dict[str, str]) -> Iterator[str]:
    for path, most in MAX_HEADER_LINES.items():
        count = texts[path].count("\n") if path in texts else 0
        if count == 0:
            yield f"{path} does not exist"
        elif count > most:
            yield f"{path}:{count}: {count} lines, at most {most}; what few users need belongs into a header of its own"


def readme_problems(readmes: Dict[str, str], names: Set[str]) -> Iterator[str]:
    for path, text in sorted(readmes.items()):
        for number, line in enumerate(text.split("\n"), 1):
            for quoted in re.findall(r"`([^`]+)`", line):
                # `plan.{hpp,cpp}` is two names.
                braces = re.fullmatch(r"([\w./-]+)\{([\w,]+)\}", quoted)
                files = [braces[1] + end for end in braces[2].split(",")] if braces else [quoted]
                for file in files:
                    name = file.rsplit("/", 1)[-1]
                    if re.fullmatch(r"[\w-]+\.(c|cpp|h|hpp|inc|py|sh|cmake)", name) and name not in names:
                        yield f"{path}:{number}: {file} does not exist; name the file that does this now"


def self_test() -> List[str]:
    """Each check finds what it is for."""
    lines = {path: "\n" for path in MAX_HEADER_LINES}
    deep = {f"kernels/file{i}.hpp": f'#include "kernels/file{i + 1}.hpp"\n' for i in range(9)}
    deep["kernels/file9.hpp"] = ""
    cycle = {"runtime/a.hpp": '#include "b.hpp"\n', "runtime/b.hpp": '#include "runtime/a.hpp"\n'}
    full = {**{folder: [] for folder in LONG_FOLDERS}, "runtime": [str(i) for i in range(MAX_ENTRIES + 1)]}
    checks = {
        "entries": list(entries_problems(full)),
        "missing folder": list(entries_problems({})),
        "names": list(name_problems(["runtime/a.hpp", "kernels/a.hpp"])),
        "depth": list(include_problems(deep, [])),
        "cycle": list(include_problems(cycle, [])),
        "lines": list(line_problems({path: "\n" * (most + 1) for path, most in MAX_HEADER_LINES.items()})),
        "no header": list(line_problems({})),
        "file of a README": list(readme_problems({"README.md": "see `runtime/plan.{hpp,cpp}`"}, {"plan.hpp"})),
    }
    wrong = [f"self-test: {name} found nothing" for name, found in checks.items() if not found]
    wrong += [
        f"self-test: refused without cause: {problem}"
        for problem in [
            *line_problems(lines),
            *readme_problems({"README.md": "`a.hpp`, `b.{hpp,cpp}`"}, {"a.hpp", "b.hpp", "b.cpp"}),
        ]
    ]
    return wrong


def main() -> int:
    root = pathlib.Path(sys.argv[1]).resolve()
    found = self_test()
    paths = [path for folder in FOLDERS for path in sorted((root / folder).rglob("*")) if not is_hidden(path.name)]
    folders: Dict[str, List[str]] = {folder: [] for folder in FOLDERS}
    texts: Dict[str, str] = {}
    for path in paths:
        name = path.relative_to(root).as_posix()
        folders.setdefault(name.rsplit("/", 1)[0], []).append(path.name)
        if path.is_file() and path.suffix in SUFFIXES:
            texts[name] = path.read_text(encoding="utf-8")
    chains: List[str] = []
    found += [
        *entries_problems(folders),
        *name_problems(sorted(texts)),
        *include_problems(texts, chains),
        *line_problems(texts),
    ]
    readmes = {
        path.relative_to(root).as_posix(): path.read_text(encoding="utf-8")
        for path in [root / "README.md", *paths]
        if path.name == "README.md"
    }
    found += readme_problems(readmes, {path.name for path in paths} | OTHERS)
    for line in chains + found:
        print(line)
    print(f"{len(folders)} folders, {len(texts)} sources and headers, {len(found)} problems")
    return 1 if found or len(texts) < 50 else 0


if __name__ == "__main__":
    sys.exit(main())
