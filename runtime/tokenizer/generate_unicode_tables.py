#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes unicode_tables.cpp: what the Hugging Face fast BERT tokenizer does with each Unicode code point.

Source of the data: the behaviour of the Python package tokenizers 0.19.1, asked about all 1,112,064 scalar values.
It mixes several versions of Unicode (its control and mark tables, its decompositions and the lower-case mapping and
white space of its compiler's standard library are of different ages), so no Unicode data file gives the same answers.

    pip install tokenizers==0.19.1
    python generate_unicode_tables.py            writes wordpiece/unicode_tables.cpp
    python generate_unicode_tables.py --check    exit code 1 if the file differs
"""

import pathlib
import sys

import tokenizers
from tokenizers import normalizers, pre_tokenizers

VERSION = "0.19.1"
REMOVED, SPACE, PUNCTUATION, CJK, MARK, DECOMPOSES = 1, 2, 4, 8, 16, 32
TABLE_END = 0x20000  # code points from here on are described by ranges
HANGUL = range(0xAC00, 0xD7A4)
COMPATIBILITY = range(0x2F800, 0x2FA1E)
LONG_MARKER = 0xD800  # never the target of a decomposition


def bert(**on):
    settings = dict(clean_text=False, handle_chinese_chars=False, strip_accents=False, lowercase=False)
    return normalizers.BertNormalizer(**{**settings, **on}).normalize_str


def combining_class_reader(nfd):
    """Finds canonical combining classes by watching how NFD sorts pairs of marks."""
    # One well-known mark of each class from 1 to 240, by age; only their order is used, and it is checked below.
    known = {1: 0x334, 6: 0x16FF0, 7: 0x93C, 8: 0x3099, 9: 0x94D, 10: 0x5B0, 11: 0x5B1, 12: 0x5B2, 13: 0x5B3, 14: 0x5B4,
             15: 0x5B5, 16: 0x5B6, 17: 0x5B7, 18: 0x5B8, 19: 0x5B9, 20: 0x5BB, 21: 0x5BC, 22: 0x5BD, 23: 0x5BF,
             24: 0x5C1, 25: 0x5C2, 26: 0xFB1E, 27: 0x64B, 28: 0x64C, 29: 0x64D, 30: 0x64E, 31: 0x64F, 32: 0x650,
             33: 0x651, 34: 0x652, 35: 0x670, 36: 0x711, 84: 0xC55, 91: 0xC56, 103: 0xE38, 107: 0xE48, 118: 0xEB8,
             122: 0xEC8, 129: 0xF71, 130: 0xF72, 132: 0xF74, 202: 0x321, 214: 0x1DCE, 216: 0x31B, 218: 0x302A,
             220: 0x316, 222: 0x59A, 224: 0x302E, 226: 0x1D16D, 228: 0x5AE, 230: 0x301, 232: 0x302C, 233: 0x35C,
             234: 0x35D, 240: 0x345}  # fmt: skip

    def before(a, b):  # class(a) < class(b), both not 0
        return a != b and nfd(chr(b) + chr(a)) == chr(a) + chr(b)

    known = {k: c for k, c in known.items() if before(c, 0x345) or k == 240}
    order = sorted(known)
    for low, high in zip(order, order[1:]):
        assert before(known[low], known[high]), (low, high)

    def read(cp):
        first = ord(nfd(chr(cp))[0])
        if first == 0x345 or not before(first, 0x345):
            return 240 if before(known[1], first) else 0
        same = [k for k in order if not before(first, known[k]) and not before(known[k], first)]
        assert len(same) == 1, (hex(cp), same)
        return same[0]

    return read


def read_code_points():
    clean = bert(clean_text=True)
    chinese = bert(handle_chinese_chars=True)
    strip = bert(strip_accents=True)
    lower = bert(lowercase=True)
    nfd = normalizers.NFD().normalize_str
    split = pre_tokenizers.BertPreTokenizer().pre_tokenize_str
    combining_class = combining_class_reader(nfd)
    records, decompositions = {}, {}
    for cp in range(0x110000):
        if 0xD800 <= cp < 0xE000:
            records[cp] = (0, 0, 0)
            continue
        c = chr(cp)
        text = "a" + c + "b"
        cleaned, pieces, stripped, lowered = clean(text), len(split(text)), strip(c), lower(c)
        flags = {1: 0, 2: SPACE, 3: PUNCTUATION}[pieces]
        if cleaned == "ab":
            flags |= REMOVED
        else:
            assert cleaned == ("a b" if flags & SPACE else text), hex(cp)
        if chinese(text) != text:
            flags |= CJK
        if not stripped:
            flags |= MARK
        elif stripped != c and cp not in HANGUL:
            flags |= DECOMPOSES
            decompositions[cp] = [ord(x) for x in stripped]
        ccc = combining_class(cp)
        if lowered != c and cp != 0x130:  # U+0130 is the only one that becomes two; the code knows it
            assert len(lowered) == 1, hex(cp)
            delta = ord(lowered) - cp
        else:
            delta = 0
        records[cp] = (delta, flags, ccc)
    # What the code relies on.
    assert lower("\u0130") == "i\u0307"
    for cp in HANGUL:
        index = cp - 0xAC00
        parts = [0x1100 + index // 588, 0x1161 + index % 588 // 28] + ([0x11A7 + index % 28] if index % 28 else [])
        assert strip(chr(cp)) == "".join(map(chr, parts)) and records[cp] == (0, 0, 0), hex(cp)
    for cp, parts in decompositions.items():
        first, *rest = [records[part][2] for part in parts]
        assert len(parts) <= 3 and first == 0 and records[cp][2] == 0, hex(cp)
        assert all(rest) or not any(rest), hex(cp)  # a tail is all starters or all marks
        assert not any(records[part][1] & (MARK | DECOMPOSES) for part in parts), hex(cp)
    return records, decompositions


def two_stage(values, shift):
    blocks, stage1, stage2 = {}, [], []
    for start in range(0, len(values), 1 << shift):
        block = tuple(values[start : start + (1 << shift)])
        if block not in blocks:
            blocks[block] = len(blocks)
            stage2.extend(block)
        stage1.append(blocks[block])
    return stage1, stage2


def array(kind, name, values, per_line=24):
    lines = [f"const {kind} {name}[{len(values)}] = {{"]
    for start in range(0, len(values), per_line):
        lines.append("    " + ", ".join(str(v) for v in values[start : start + per_line]) + ",")
    return "\n".join(lines + ["};"])


def generate():
    assert tokenizers.__version__ == VERSION, f"needs tokenizers {VERSION}, found {tokenizers.__version__}"
    records, decompositions = read_code_points()
    distinct = sorted(set(records.values()), key=lambda r: (r != (0, 0, 0), r))
    number = {record: i for i, record in enumerate(distinct)}
    assert len(distinct) <= 256, len(distinct)
    values = [number[records[cp]] for cp in range(TABLE_END)]
    fitting = [s for s in range(4, 9) if max(two_stage(values, s)[0]) < 256]
    shift = min(fitting, key=lambda s: sum(map(len, two_stage(values, s))))
    stage1, stage2 = two_stage(values, shift)
    ranges = []
    for cp in range(TABLE_END, 0x110000):
        if not ranges or ranges[-1][1] != number[records[cp]]:
            ranges.append((cp, number[records[cp]]))

    plain = [0] * 0x10000
    long_list = []
    for cp, parts in sorted(decompositions.items()):
        if cp in COMPATIBILITY:
            assert len(parts) == 1
        elif cp < 0x10000 and len(parts) == 1 and parts[0] < 0x10000:
            plain[cp] = parts[0]
        else:
            long_list.append((cp, parts + [0] * (3 - len(parts))))
            if cp < 0x10000:
                plain[cp] = LONG_MARKER
    plain_shift = min(range(3, 8), key=lambda s: len(two_stage(plain, s)[0]) + 2 * len(two_stage(plain, s)[1]))
    plain1, plain2 = two_stage(plain, plain_shift)
    assert max(plain1) < 256
    compatibility = [decompositions.get(cp, [cp])[0] for cp in COMPATIBILITY]

    sizes = [
        len(stage1),
        len(stage2),
        8 * len(distinct),
        8 * len(ranges),
        len(plain1),
        2 * len(plain2),
        4 * len(compatibility),
        16 * len(long_list),
    ]
    print(f"{sum(sizes)} bytes of tables: {sizes}", file=sys.stderr)
    rows = "\n".join(f"    {{{d}, {f}, {c}}}," for d, f, c in distinct)
    range_rows = "\n".join(f"    {{{start:#x}, {record}}}," for start, record in ranges)
    long_rows = "\n".join(f"    {{{cp:#x}, {{{', '.join(hex(p) for p in parts)}}}}}," for cp, parts in long_list)
    return f"""// SPDX-License-Identifier: Apache-2.0
// Written by generate_unicode_tables.py from the behaviour of tokenizers {VERSION}; {sum(sizes)} bytes. Do not edit.
// clang-format off
#include "runtime/tokenizer/wordpiece/unicode_tables.hpp"

namespace embert {{
namespace unicode {{

static_assert(kPropertyShift == {shift} && kDecompositionShift == {plain_shift}, "regenerate the tables");
static_assert(kPropertyRangeCount == {len(ranges)} && kLongDecompositionCount == {len(long_list)}, "regenerate the tables");

{array("uint8_t", "kPropertyStage1", stage1)}

{array("uint8_t", "kPropertyStage2", stage2)}

const Properties kProperties[{len(distinct)}] = {{
{rows}
}};

const PropertyRange kPropertyRanges[{len(ranges)}] = {{
{range_rows}
}};

{array("uint8_t", "kDecompositionStage1", plain1)}

{array("uint16_t", "kDecompositionStage2", plain2, 16)}

{array("uint32_t", "kCompatibilitySupplement", compatibility, 12)}

const LongDecomposition kLongDecompositions[{len(long_list)}] = {{
{long_rows}
}};

}}  // namespace unicode
}}  // namespace embert
"""


def main():
    target = pathlib.Path(__file__).resolve().parent / "wordpiece" / "unicode_tables.cpp"
    text = generate()
    if "--check" in sys.argv[1:]:
        same = target.read_text(encoding="ascii") == text
        print("the same" if same else "different", file=sys.stderr)
        return 0 if same else 1
    target.write_text(text, encoding="ascii")
    return 0


if __name__ == "__main__":
    sys.exit(main())
