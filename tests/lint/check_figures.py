#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every measured figure in a README comes from tests/bench/figures.json.   check_figures.py ROOT [--update]

A README marks a figure with its id in a comment right behind it, which Markdown does not show:

    16 tokens take 0.46 ms<!--=speed-16--> on one thread

One mark may cover several numbers, such as cells of a row: `0.99953 | 0.99817 <!--=cosine-clinc150-->`. The text in front
of the mark must be that of the file. --update writes the file's texts into the READMEs: numbers may change, the words
around them may not.

figures.json has `machines` (name: description), `runs` (name: command, commit, machine, date) and `figures` (id: text, what,
run). The lint fails where text and file differ, where an id is not known or not used, and where a README has what looks like a
measured figure without a mark: a number with a unit of time, size or share, or a cosine. Limits ("at most 64 KB", "< 60 s") and
the phrases of NOT_MEASURED need no mark, nor does code.
"""

import json
import pathlib
import re
import sys
from typing import Any, Dict, Iterator, List, NamedTuple, Set

DATA = "tests/bench/figures.json"
MARK = re.compile(r"(?P<space> ?)<!--=(?P<id>[a-z0-9-]+)-->")
NUMBER = re.compile(r"\d[\d,]*(?:\.\d+)?")

MEASURED = re.compile(
    r"\d (?:ms|us|ns|s|minutes|seconds|kB|KB|MB|GB|GB/s|%|times (?:as|faster|more|less)|(?:million|billion) instructions)"
    r"(?![\w/])"
    r"|\b\d{2,3},\d{3}(?:,\d{3})* bytes\b|\b0\.9[89]\d+"
)
LIMIT = re.compile(
    r"(?:<=?|>=?|at most|at least|up to|below|above|within|less than|more than|over|of at most|every|each|for) "
    r"(?:the )?[\d.,]+[^\d]*$"
)
# Phrases that look measured and are not: sizes that follow from a model's shape, facts about processors and formats.
NOT_MEASURED: Dict[str, List[str]] = {
    "tests/bench/README.md": ["(1.2 MB)", "the 1 MB L2"],
    "converter/README.md": ["get 2.5 % of their", "| 2.5 % |", "5 % at each end", "| mean | 1 % | worst |"],
    "tests/README.md": ["an arena of over\n500 KB"],
}


class Problem(NamedTuple):
    path: str
    line: int
    text: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.text}"


def shape(text: str) -> "re.Pattern[str]":
    """What the text of a figure may have been before: other numbers, the same words."""
    parts = [re.escape(part) for part in NUMBER.split(text)]
    return re.compile(NUMBER.pattern.join(parts) + r"$")


def blank_code(text: str) -> str:
    """Code blocks and code spans as spaces, so that lines and columns stay."""

    def blank(match: "re.Match[str]") -> str:
        return re.sub(r"[^\n]", " ", match.group())

    text = re.sub(r"^```.*?^```", blank, text, flags=re.MULTILINE | re.DOTALL)
    text = re.sub(r"^(?: {4}|\t)(?![-*|\d]).*$", blank, text, flags=re.MULTILINE)
    return re.sub(r"`[^`\n]*`", blank, text)


def unmarked(path: str, text: str) -> Iterator[Problem]:
    """`text` without its marked figures."""
    for phrase in NOT_MEASURED.get(path, []):
        text = text.replace(phrase, " " * len(phrase))
    for number, line in enumerate(blank_code(text).split("\n"), 1):
        for match in MEASURED.finditer(line):
            if not LIMIT.search(line[: match.end()]):
                found = line[max(0, match.start() - 12) : match.end()].strip()
                yield Problem(
                    path,
                    number,
                    f'"{found}" looks measured and has no mark; give it an id in {DATA} and write '
                    "<!--=id--> behind it, or add the phrase to NOT_MEASURED",
                )
                break


def check_readme(path: str, text: str, figures: Dict[str, Any], used: Set[str]) -> Iterator[Problem]:
    rest = ""
    begin = 0
    for match in MARK.finditer(text):
        name = match["id"]
        before = text[begin : match.start()]
        line = text.count("\n", 0, match.start()) + 1
        used.add(name)
        if name not in figures:
            yield Problem(path, line, f"{DATA} has no figure {name}")
        else:
            expected = figures[name]["text"]
            if before.endswith(expected) and not before[: -len(expected)][-1:].isdigit():
                before = before[: -len(expected)] + " " * len(expected)
            else:
                yield Problem(
                    path,
                    line,
                    f'{name} is "{before[-len(expected) :].strip()}" here and "{expected}" in {DATA}; run '
                    "tests/lint/check_figures.py ROOT --update, or mend the file",
                )
        rest += before + " " * len(match.group())
        begin = match.end()
    yield from unmarked(path, rest + text[begin:])


def check_data(data: Dict[str, Any]) -> Iterator[Problem]:
    for name, run in data["runs"].items():
        for key in ("command", "commit", "machine", "date"):
            if not run.get(key):
                yield Problem(DATA, 1, f"run {name} has no {key}")
        if run.get("machine") not in data["machines"]:
            yield Problem(DATA, 1, f'run {name} is on the machine "{run.get("machine")}", which "machines" does not describe')
    for name, figure in data["figures"].items():
        for key in ("text", "what", "run"):
            if not figure.get(key):
                yield Problem(DATA, 1, f"figure {name} has no {key}")
        if figure.get("run") not in data["runs"]:
            yield Problem(DATA, 1, f'figure {name} is of the run "{figure.get("run")}", which "runs" does not describe')
    for name in sorted(data["runs"].keys() - {figure.get("run") for figure in data["figures"].values()}):
        yield Problem(DATA, 1, f"run {name} has no figure; remove it")


def updated(text: str, figures: Dict[str, Any]) -> str:
    out = ""
    begin = 0
    for match in MARK.finditer(text):
        before = text[begin : match.start()]
        figure = figures.get(match["id"])
        if figure:
            old = shape(figure["text"]).search(before)
            if old:
                before = before[: old.start()] + figure["text"]
        out += before + match.group()
        begin = match.end()
    return out + text[begin:]


def readmes(root: pathlib.Path) -> List[pathlib.Path]:
    return [root / "README.md"] + [
        path
        for folder in ("runtime", "kernels", "converter", "targets", "tests", "toolchains")
        for path in sorted((root / folder).rglob("README.md"))
    ]


def self_test() -> List[str]:
    data: Dict[str, Any] = {
        "machines": {"m": "a machine"},
        "runs": {"r": {"command": "c", "commit": "0", "machine": "m", "date": "d"}},
        "figures": {
            "time": {"text": "0.46 ms", "what": "w", "run": "r"},
            "row": {"text": "0.991 | 0.99", "what": "w", "run": "r"},
        },
    }
    figures = data["figures"]
    good = [
        "in 0.46 ms<!--=time--> it",
        "| 0.991 | 0.99 <!--=row--> |",
        "in < 5 ms",
        "at most 64 KB",
        "`9 ms`",
        "```\n7 ms\n```",
        "4,500 texts",
    ]
    bad = [
        "in 0.47 ms<!--=time--> it",
        "in 0.46 ms it",
        "10.46 ms<!--=time-->",
        "| 0.991 | 0.98 <!--=row--> |",
        "1 ms<!--=other-->",
        "a cosine of 0.9991",
        "240,512 bytes",
        "takes 19 s",
        "12 % less",
    ]
    wrong = [f"self-test: refused: {text}" for text in good if list(check_readme("a", text, figures, set()))]
    wrong += [f"self-test: not found: {text}" for text in bad if not list(check_readme("a", text, figures, set()))]
    if (
        updated("in 7.1 ms<!--=time-->, | 1 | 2.5 <!--=row--> |", figures)
        != "in 0.46 ms<!--=time-->, | 0.991 | 0.99 <!--=row--> |"
    ):
        wrong.append("self-test: --update does not replace numbers")
    if list(check_data(data)):
        wrong.append("self-test: sound data is refused")
    for broken in ({**data, "machines": {}}, {**data, "runs": {}}, {**data, "figures": {}}):
        if not list(check_data(broken)):
            wrong.append("self-test: incomplete data passes")
    return wrong


def main() -> int:
    root = pathlib.Path(sys.argv[1]).resolve()
    data = json.loads((root / DATA).read_text(encoding="utf-8"))
    figures = data["figures"]
    if "--update" in sys.argv:
        for path in readmes(root):
            old = path.read_text(encoding="utf-8")
            new = updated(old, figures)
            if new != old:
                path.write_text(new, encoding="utf-8")
                print(f"{path.relative_to(root)}: written")
    found: List[Any] = [*self_test(), *check_data(data)]
    used: Set[str] = set()
    for path in readmes(root):
        found += check_readme(path.relative_to(root).as_posix(), path.read_text(encoding="utf-8"), figures, used)
    found += [
        Problem(DATA, 1, f"no README uses the figure {name}; remove it, or mark it with <!--={name}-->")
        for name in sorted(figures.keys() - used)
    ]
    for problem in found:
        print(problem)
    print(f"{len(readmes(root))} READMEs, {len(figures)} figures, {len(found)} problems")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
