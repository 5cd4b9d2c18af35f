# SPDX-License-Identifier: Apache-2.0
"""Tokens of C and C++ sources without a compiler, and the files of the tree: shared by the lints."""

import pathlib
import re
from typing import Iterator, List, NamedTuple

SUFFIXES = {".c", ".cpp", ".h", ".hpp", ".inc"}
FOLDERS = ("kernels", "runtime", "converter", "targets", "tests")


class Token(NamedTuple):
    kind: str  # "comment", "string", "char", "number", "name", "directive" or "punctuation"
    text: str
    line: int
    after_space: bool


PATTERN = re.compile(
    r"""(?P<space>(?:\s|\\\n)+)
      |(?P<comment>//(?:[^\n\\]|\\.|\\\n)*|/\*.*?\*/)
      |(?P<string>R"([^()\\\s]*)\(.*?\)\4"|(?:u8|[uUL])?"(?:[^"\\\n]|\\.)*")
      |(?P<char>(?:u8|[uUL])?'(?:[^'\\\n]|\\.)+')
      |(?P<number>\.?\d(?:[eEpP][+-]|['\w.])*)
      |(?P<name>[A-Za-z_]\w*)
      |(?P<directive>\#[ \t]*[a-z]+)
      |(?P<punctuation>->|::|<<=|>>=|<=|>=|==|!=|&&|\|\||\+\+|--|\.\.\.|[-+*/%&|^]=|.)""",
    re.VERBOSE | re.DOTALL,
)


def tokens(text: str) -> Iterator[Token]:
    """All tokens with their lines, without white space."""
    line = 1
    space = True
    for match in PATTERN.finditer(text):
        kind, found = str(match.lastgroup), match.group()
        if kind != "space":
            yield Token(kind, found, line, space)
        space = kind == "space"
        line += found.count("\n")


def code(text: str) -> List[Token]:
    return [token for token in tokens(text) if token.kind != "comment"]


def sources(root: pathlib.Path) -> List[pathlib.Path]:
    return [
        path for folder in FOLDERS for path in sorted((root / folder).rglob("*")) if path.suffix in SUFFIXES and path.is_file()
    ]
