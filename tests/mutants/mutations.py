# SPDX-License-Identifier: Apache-2.0
"""Mutants of a C++ source: one changed operator, number, sign, index or instruction each."""

import re
from typing import Iterator, List, NamedTuple, Tuple

# clang-format puts spaces around binary operators and none inside template arguments, so text is enough to tell them apart.
# (pattern, replacement): every match on a line is a mutant.
CHANGES: List[Tuple[str, str]] = [
    (r"(?<= )<(?= )", "<="), (r"(?<= )<=(?= )", "<"), (r"(?<= )>(?= )", ">="), (r"(?<= )>=(?= )", ">"),
    (r"(?<= )==(?= )", "!="), (r"(?<= )!=(?= )", "=="), (r"(?<= )&&(?= )", "||"), (r"(?<= )\|\|(?= )", "&&"),
    (r"(?<= )\+(?= )", "-"), (r"(?<= )-(?= )", "+"), (r"(?<= )\*(?= )", "+"), (r"(?<= )/(?= )", "*"),
    (r"(?<= )%(?= )", "/"), (r"(?<= )<<(?= )", ">>"), (r"(?<= )>>(?= )", "<<"), (r"(?<= )&(?= )", "|"),
    (r"(?<= )\^(?= )", "&"), (r"(?<= )\+=(?= )", "-="), (r"(?<= )-=(?= )", "+="),
    (r"(?:(?<=[(,\[])|(?<=[=?:,] )|(?<=return ))-(?=[\w(])", ""), (r"(?<=\()!(?=\w)|(?<=[=&|] )!(?=\w)", ""),
    (r"\[(\w[^\[\]]*)\]", r"[\1 + 1]"), (r"\btrue\b", "false"), (r"\bfalse\b", "true"),
    (r"_min_", "_max_"), (r"_max_", "_min_"), (r"_add_", "_sub_"), (r"_sub_", "_add_"), (r"_adds_", "_add_"),
    (r"_srai_", "_srli_"), (r"_srli_", "_srai_"), (r"_slli_", "_srli_"), (r"unpacklo", "unpackhi"),
    (r"unpackhi", "unpacklo"), (r"_packs_", "_packus_"), (r"_packus_", "_packs_"), (r"_cmpgt_", "_cmpeq_"),
    (r"_cmplt_", "_cmple_"), (r"_and_", "_or_"), (r"_xor_", "_or_"), (r"_andnot_", "_and_"), (r"_mulhi_", "_mullo_"),
    # NEON and Helium
    (r"\bvmax", "vmin"), (r"\bvmin", "vmax"), (r"\bvadd(?=q?_)", "vsub"), (r"\bvsub(?=q?_)", "vadd"),
    (r"\bvaddw", "vsubw"), (r"\bvmla(?=[lq_])", "vmls"), (r"\bvq(?=add|sub)", "v"), (r"\bvqrdmulh", "vqdmulh"),
    (r"\bvrshl", "vshl"), (r"\bvq?rshrn_", "vshrn_"), (r"\bvqmovn_", "vmovn_"), (r"\bvrsra", "vsra"),
    (r"(?<=get_)low(?=_)", "high"), (r"(?<=get_)high(?=_)", "low"), (r"\bvzip1", "vzip2"), (r"\bvzip2", "vzip1"),
    (r"\bvuzp1", "vuzp2"), (r"\bvuzp2", "vuzp1"), (r"\bvand", "vorr"), (r"\bveor", "vorr"), (r"\bvcgt", "vcge"),
    (r"\bvpadal", "vpaddl"), (r"\bvpmax", "vpmin"),
    # SIMD128
    (r"(?<=[x1]\d)_add\(", "_sub("), (r"(?<=[x1]\d)_sub\(", "_add("), (r"(?<=[x1]\d)_max\(", "_min("),
    (r"(?<=[x1]\d)_min\(", "_max("), (r"(?<=[x1]\d)_shr\(", "_shl("), (r"extend_low", "extend_high"),
    (r"extend_high", "extend_low"), (r"_u(?=\d+x\d+_narrow)", "_i"), (r"_i(?=\d+x\d+_narrow)", "_u"),
    (r"_mulhrs_", "_mulhi_"), (r"_cvtepi", "_cvtepu"), (r"_cvtepu", "_cvtepi"), (r"_mullo_", "_mulhi_"),
]  # fmt: skip
NUMBER = re.compile(r"(?<![\w.])(0x[0-9a-fA-F]+|\d+)(?=(?:u|U|l|L|ll|ull)?\b)")
# The size of an array: a larger one changes nothing.
ARRAY = re.compile(r"^\s*(?:(?:alignas\(\w+\)|const|static|constexpr) )*(?:\w*int\w*|__m\d+i|__mmask\w+)\b[^=(]*$")
SKIPPED = re.compile(r"^\s*(?:#|//|static_assert|using |namespace|asm\b)")


class Mutant(NamedTuple):
    path: str  # from the root of the repository
    number: int  # of the line, from 1
    before: str
    after: str

    def text(self, source: str) -> str:
        lines = source.split("\n")
        lines[self.number - 1] = self.after
        return "\n".join(lines)


def mutants_of(path: str, source: str) -> Iterator[Mutant]:
    for index, line in enumerate(source.split("\n")):
        code = line.split("//")[0].rstrip()
        if not code.strip() or SKIPPED.match(code) or '"' in code:
            continue
        for begin, end, new in changes_of(code):
            yield Mutant(path, index + 1, line, line[:begin] + new + line[end:])


def changes_of(code: str) -> Iterator[Tuple[int, int, str]]:
    declares_array = ARRAY.match(code)
    for pattern, replacement in CHANGES:
        for match in re.finditer(pattern, code):
            if not (declares_array and match[0][0] == "["):
                yield match.start(), match.end(), match.expand(replacement)
    for match in NUMBER.finditer(code):
        if declares_array and code[match.start() - 1] == "[":
            continue
        value, is_hex = int(match[1], 0), match[1].startswith("0x")
        for other in (value + 1, value - 1):
            if other >= 0:
                yield match.start(), match.end(), hex(other) if is_hex else str(other)
