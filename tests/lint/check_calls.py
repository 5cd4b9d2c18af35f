#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A call with more than five arguments names them, so that two of one type are not swapped.   check_calls.py ROOT

Counts arguments of calls and parameters of functions `f(a, b, ...)`, and values of braced initialisers `T{a, b, ...}`.
Fine are designated initialisers (`{.m = m, ...}`), containers and arrays (many values of one type), lists of literals of
one kind (tables), and the exceptions below. --summary prints the number of findings in each folder alone.
"""

import collections
import pathlib
import re
import sys
from typing import Iterator, List, NamedTuple, Optional, Tuple

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from cpp_tokens import Token, code, sources  # noqa: E402

MOST = 5

# Callees with positional arguments that are not ours to change, and the reason.
EXCEPTIONS: List[Tuple[str, str]] = [
    (r"_mm\d*_\w+|wasm_\w+|__builtin_\w+|v\w+q?_[sufp]\d+\w*", "SIMD intrinsics"),
    (r"\w*printf", "a format and its values"),
    (r"asm|__asm__|volatile", "operands of assembly"),
    (
        r"[A-Z][A-Z0-9_]+|Values|Types|Combine|AnyOf|AllOf|ElementsAre\w*|UnorderedElementsAre\w*",
        "macros and lists of GoogleTest and of variants.inc",
    ),
    (
        r"xnn_\w+|pthreadpool_\w+|mmap|getnameinfo|sendto|recvfrom|qemu_plugin_\w+|__get_cpuid_count|\w*libc_start_main",
        "functions of other libraries",
    ),
    (r"max|min|format|tie|tuple|make_tuple|variant", "any number of values of one kind"),
]
EXCEPTION = re.compile("|".join(f"(?:{pattern})" for pattern, _ in EXCEPTIONS))

# Types that hold many values of one type.
CONTAINERS = re.compile(r"vector|array|set|map|unordered_map|unordered_set|initializer_list|string|deque|span|Bytes|Json")
NOT_CALLED = {"if", "for", "while", "switch", "return", "sizeof", "alignof", "catch", "decltype", "static_assert",
              "alignas", "defined"}  # fmt: skip
OPENERS = {"(": ")", "{": "}", "[": "]", "<": ">"}


class Finding(NamedTuple):
    line: int
    name: str
    values: int


class Group:
    """What stands between two brackets, while it is read."""

    def __init__(self, opener: int) -> None:
        self.opener = opener
        self.items: List[List[Token]] = [[]]
        self.is_block = False

    def values(self) -> List[List[Token]]:
        return [item for item in self.items if item]


def opens_template(tokens: List[Token], i: int) -> bool:
    """clang-format puts a space before a `<` that compares, and none before that of a template."""
    before = tokens[i - 1] if i > 0 else None
    return before is not None and (
        before.text == "template" or (before.kind == "name" and before.text != "operator" and not tokens[i].after_space)
    )


def before_template(tokens: List[Token], i: int) -> int:
    """The index in front of `<...>` that ends at i, or i."""
    if i < 0 or tokens[i].text != ">":
        return i
    depth = 0
    while i >= 0:
        depth += {">": 1, "<": -1}.get(tokens[i].text, 0)
        i -= 1
        if depth == 0:
            break
    return i


def callee(tokens: List[Token], opener: int) -> Optional[str]:
    """The name that is called by the parenthesis, if it is a call or a declaration."""
    i = before_template(tokens, opener - 1)
    if i < 0:
        return None
    if tokens[i].text in ("]", ")"):
        return "lambda or function pointer"
    if tokens[i].kind != "name" or tokens[i].text in NOT_CALLED:
        return None
    return tokens[i].text


def holds_many(tokens: List[Token], opener: int) -> bool:
    """The brace initialises an array or container, or is the list of a loop."""
    i = opener - 1
    if i >= 0 and tokens[i].text == ":":
        return True  # for (x : {...})
    if i >= 0 and tokens[i].text == "=":
        i -= 1
    if i >= 0 and tokens[i].text == "]":
        return True
    # `std::vector<int>{`, `std::vector<int> ids = {`, `ids{` in one declaration
    for _ in range(2):
        j = before_template(tokens, i)
        if j >= 0 and tokens[j].kind == "name" and CONTAINERS.fullmatch(tokens[j].text):
            return True
        i = j - 1
        if i >= 0 and tokens[i].text == "&":
            i -= 1
    return False


def kind_of_literal(item: List[Token]) -> Optional[str]:
    """Numbers, strings, characters and braced rows make tables; None: something else."""
    rest = [token for token in item if token.text not in ("-", "+", "~", "(", ")", "*", "/", "<", ">", "|")]
    if item[0].text == "{":
        return "row"
    kinds = {token.kind for token in rest if token.text not in ("true", "false", "INFINITY")}
    return kinds.pop() if len(kinds) == 1 and kinds <= {"number", "string", "char"} else "number" if not kinds else None


def is_plain(item: List[Token]) -> bool:
    """A literal or a name alone, such as kMax or Type::kSigned."""
    return kind_of_literal(item) is not None or all(token.kind == "name" or token.text == "::" for token in item)


def is_table_row(values: List[List[Token]], tokens: List[Token], outer: Optional[Group]) -> bool:
    """A row of literals and names in a table, whose columns the lines above and below show."""
    if outer is None or not all(is_plain(value) for value in values):
        return False
    opener = outer.opener
    return (tokens[opener].text == "{" and holds_many(tokens, opener)) or tokens[opener - 1].text == "Values"


def is_command_line(values: List[List[Token]]) -> bool:
    """Arguments of a program: an option among them, or several strings after the subcommand."""
    texts = [value[0].text for value in values if value[0].kind == "string"]
    return any(text.startswith('"-') for text in texts) or (
        len(texts) >= 3 and re.fullmatch(r'"[a-z-]+"', values[0][0].text) is not None
    )


def judge(tokens: List[Token], group: Group, outer: Optional[Group]) -> Optional[Finding]:
    values = group.values()
    opener = tokens[group.opener]
    if len(values) <= MOST or group.is_block:
        return None
    if opener.text == "(":
        name = callee(tokens, group.opener)
        if name is None or EXCEPTION.fullmatch(name):
            return None
        return Finding(opener.line, name, len(values))
    if opener.text != "{":
        return None
    before = tokens[group.opener - 1]
    name = before.text if before.kind == "name" else "initialiser"
    i = group.opener - 1
    while i >= 0 and tokens[i].text not in (";", "{", "}", "(", ")"):
        if tokens[i].text in ("enum", "namespace"):
            return None
        i -= 1
    if all(value[0].text == "." for value in values) or holds_many(tokens, group.opener):
        return None
    kinds = {kind_of_literal(value) for value in values}
    same = len({" ".join(token.text for token in value) for value in values}) == 1
    if (len(kinds) == 1 and None not in kinds) or same or is_table_row(values, tokens, outer) or is_command_line(values):
        return None
    return Finding(opener.line, name + "{}", len(values))


def findings(text: str) -> Iterator[Finding]:
    tokens = code(text)
    stack: List[Group] = []
    for i, token in enumerate(tokens):
        if token.text in ("(", "{", "[") or (token.text == "<" and opens_template(tokens, i)):
            if stack:
                stack[-1].items[-1].append(token)
            stack.append(Group(i))
            continue
        if token.text in (")", "}", "]", ">") and stack:
            while token.text != ">" and stack and tokens[stack[-1].opener].text == "<":
                stack.pop()  # it was a comparison
            if stack and OPENERS[tokens[stack[-1].opener].text] == token.text:
                group = stack.pop()
                found = judge(tokens, group, stack[-1] if stack else None)
                if found:
                    yield found
        elif stack:
            if token.text == ";":
                stack[-1].is_block = True
            if token.text == ",":
                stack[-1].items.append([])
                continue
        if stack:
            stack[-1].items[-1].append(token)


def self_test() -> List[str]:
    caught = [
        "void f(int a, int b, int c, int d, int e, int g);",
        "gemm({m, n, k, lhs, rhs, dst});",
        "return {a, b, c, d, e, f};",
        "x = f(a, std::map<int, int>(), c, d, e, f);",
        "const Args args = {a, 2, c, d, e, f};",
        "auto f = [](int a, int b, int c, int d, int e, int g) {};",
        "g(a < b, c, d, e, f, h);",
        "f({1, kTwo, 3, kFour, 5, 6});",
        "Row rows[] = {{f(a), 1, 2, 3, 4, 5}};",
        "T{a, b, c, d, e, f}.run();",
        'f({"gelu", a, b, c, d, e});',
    ]
    passed = [
        "f(a, b, c, d, std::pair<int, int>(1, 2));",
        "gemm({.m = m, .n = n, .k = k, .a = a, .b = b, .c = c});",
        "std::vector<int> v = {a, b, c, d, e, f};",
        "int t[6] = {a, b, c, d, e, f};",
        "for (int x : {a, b, c, d, e, f}) g(x);",
        "enum class E { a, b, c, d, e, f };",
        "_mm256_set_epi32(a, b, c, d, e, f, g, h);",
        'std::printf("%d", a, b, c, d, e);',
        "row = {1, 2, -3, 4, 5, 6};",
        "void f() { int a, b, c, d, e, g; }",
        "// f(a, b, c, d, e, f)\n",
        'Row rows[] = {{"a", 1, 2, 3, kFour, T::kFive}, {"b", 1, 2, 3, kFour, T::kSix}};',
        'run({"convert", folder, "-o", model, "--rounding", way});',
        "Fn table = {f, f, f, f, f, f};",
        "std::array<int, 6>{a, b, c, d, e, f};",
        'f("a, b, c, d, e, f, g");',
    ]
    return [f"passes, but should not: {text}" for text in caught if not list(findings(text))] + [
        f"is refused, but should not be: {text}" for text in passed if list(findings(text))
    ]


def main() -> int:
    root = pathlib.Path(sys.argv[1]).resolve()
    missed = self_test()
    for problem in missed:
        print(f"self-test: {problem}")
    count = len(missed)
    files = sources(root)
    folders: "collections.Counter[str]" = collections.Counter()
    for path in files:
        name = path.relative_to(root).as_posix()
        for line, callee_name, number in findings(path.read_text(encoding="utf-8")):
            folders["/".join(name.split("/")[:2])] += 1
            if "--summary" not in sys.argv:
                print(
                    f"{name}:{line}: {callee_name} with {number} positional values; more than {MOST} are named: "
                    "{.a = a, .b = b, ...} or a small struct"
                )
    for folder, number in sorted(folders.items()):
        print(f"{number:4} {folder}")
    print(f"{len(files)} files, {sum(folders.values())} calls to mend")
    return 1 if count or folders or len(files) < 50 else 0


if __name__ == "__main__":
    sys.exit(main())
