#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes byte_level_tables.cpp: letters, numbers and white space as the ByteLevel pre-tokenizer's regular expression
sees them, and the compositions of NFC, for each Unicode code point.

Source of the data: the behaviour of the Python package tokenizers 0.19.1, asked about all 1,112,064 scalar values. Its
regular expressions and its NFC are of different versions of Unicode (NFC: version 9).

    pip install tokenizers==0.19.1
    python generate_byte_level_tables.py            writes the file beside this script
    python generate_byte_level_tables.py --check    exit code 1 if the file differs
"""

import pathlib
import sys

import tokenizers
from tokenizers import normalizers, pre_tokenizers

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from generate_unicode_tables import HANGUL, VERSION, array, two_stage  # noqa: E402

OTHER, LETTER, NUMBER, SPACE, SPECIAL = 0, 1, 2, 3, 4
VOWELS, FINALS = range(0x1161, 0x1176), range(0x11A8, 0x11C3)  # jamo that compose with what is before them
SCALARS = [cp for cp in range(0x110000) if not 0xD800 <= cp < 0xE000]


def read_classes():
    split = pre_tokenizers.ByteLevel(add_prefix_space=False).pre_tokenize_str

    def joins(before, c, after):
        return len(split(before + c + after)) == 1

    classes = {}
    for cp in SCALARS:
        c = chr(cp)
        found = [k for k, (a, b) in {LETTER: "ab", NUMBER: "12", OTHER: "!?"}.items() if joins(a, c, b)]
        assert len(found) <= 1, hex(cp)
        classes[cp] = found[0] if found else SPACE
    return classes


def read_compositions():
    """Of each code point that NFD changes, but Hangul: (first, second or 0), and whether NFC puts it together again."""
    nfc, nfd = normalizers.NFC().normalize_str, normalizers.NFD().normalize_str
    decomposed = {cp: nfd(chr(cp)) for cp in SCALARS if cp not in HANGUL}
    decomposed = {cp: full for cp, full in decomposed.items() if full != chr(cp)}
    parts, composes = {}, set()
    for cp, full in decomposed.items():
        c = chr(cp)
        if len(full) == 1:
            parts[cp] = (ord(full), 0)
        elif nfc(c) == c:
            first = nfc(full[:-1])
            assert len(first) == 1 and nfc(first + full[-1]) == c, hex(cp)
            parts[cp] = (ord(first), ord(full[-1]))
            composes.add(cp)
        else:
            # The last part stands alone; those before it are one code point, composed or not.
            before = full[:-1]
            first = ord(before) if len(before) == 1 else min(p for p, x in decomposed.items() if x == before)
            parts[cp] = (first, ord(full[-1]))
    return parts, composes


def check_marks(parts, composes):
    """Only marks and seconds need a look at their neighbours: the rest of NFC is the code point alone."""
    nfc = normalizers.NFC().normalize_str
    seconds = {second for cp, (_, second) in parts.items() if cp in composes}
    special = set()
    for cp in SCALARS:
        c = chr(cp)
        is_mark = nfc("\u4e00\u0345" + c) != "\u4e00\u0345" + nfc(c)  # all but U+0345 itself sort before it
        if is_mark or cp in seconds or nfc(c) != c or cp in VOWELS or cp in FINALS or cp == 0x345:
            special.add(cp)
    return special


def generate():
    assert tokenizers.__version__ == VERSION, f"needs tokenizers {VERSION}, found {tokenizers.__version__}"
    classes = read_classes()
    parts, composes = read_compositions()
    special = check_marks(parts, composes)
    assert min(special) >= 0x300
    values = [classes.get(cp, OTHER) | (SPECIAL if cp in special else 0) for cp in range(0x110000)]
    table_end = 0x110000
    while values[table_end - 1] == OTHER:
        table_end -= 1
    table_end = (table_end + 0xFFF) & ~0xFFF
    packed = [values[i] | values[i + 1] << 4 for i in range(0, table_end, 2)]
    # Two code points a byte.
    shift = min((s for s in range(4, 9)), key=lambda s: len(two_stage(packed, s)[0]) * 2 + len(two_stage(packed, s)[1]))
    stage1, stage2 = two_stage(packed, shift)

    small = sorted((cp, *p) for cp, p in parts.items() if cp < 0xF900)
    rest = sorted((cp, *p) for cp, p in parts.items() if cp >= 0xF900 and p[1] != 0)
    singles = {cp for cp, p in parts.items() if cp >= 0xF900 and p[1] == 0}
    assert all(0xF900 <= cp < 0xFAFF or 0x2F800 <= cp < 0x2FA1E for cp in singles)
    assert all(max(row) < 0x10000 for row in small), "a part beyond the basic plane"
    order = sorted((row[2], row[1], i) for i, row in enumerate(small) if row[0] in composes)
    composed_rest = [row for row in rest if row[0] in composes]
    assert all(row[0] > 0xFFFF for row in composed_rest)
    excluded = [row for row in rest if row[0] not in composes]
    sizes = [2 * len(stage1), len(stage2), 6 * len(small), 2 * len(order), 12 * (len(composed_rest) + len(excluded))]
    print(f"{sum(sizes)} bytes of tables: {sizes}", file=sys.stderr)

    def rows(table):
        return "\n".join(
            "    " + ", ".join(f"{{{a:#x}, {b:#x}, {c:#x}}}" for a, b, c in table[i : i + 4]) + ","
            for i in range(0, len(table), 4)
        )

    return f"""// SPDX-License-Identifier: Apache-2.0
// Written by generate_byte_level_tables.py from the behaviour of tokenizers {VERSION}; {sum(sizes)} bytes. Do not edit.
// clang-format off
#include "runtime/tokenizer/bpe/byte_level_tables.hpp"

namespace embert {{
namespace unicode {{

static_assert(kTextClassEnd == {table_end:#x} && kTextClassShift == {shift + 1}, "regenerate the tables");
static_assert(kSmallCompositionCount == {len(small)} && kComposingCount == {len(order)}, "regenerate the tables");
static_assert(kLargeCompositionCount == {len(composed_rest)} && kLargeDecompositionCount == {len(rest)}, "regenerate the tables");

{array("uint16_t", "kTextClassStage1", stage1)}

{array("uint8_t", "kTextClassStage2", stage2)}

const SmallComposition kSmallCompositions[{len(small)}] = {{
{rows(small)}
}};

{array("uint16_t", "kComposingOrder", [i for _, _, i in order])}

const LargeComposition kLargeCompositions[{len(rest)}] = {{
{rows(composed_rest + excluded)}
}};

}}  // namespace unicode
}}  // namespace embert
"""


def main():
    target = pathlib.Path(__file__).with_name("byte_level_tables.cpp")
    text = generate()
    if "--check" in sys.argv[1:]:
        same = target.read_text(encoding="ascii") == text
        print("the same" if same else "different", file=sys.stderr)
        return 0 if same else 1
    target.write_text(text, encoding="ascii")
    return 0


if __name__ == "__main__":
    sys.exit(main())
