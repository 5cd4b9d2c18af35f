#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes grapheme_tables.cpp and nfkd_tables.cpp: Unicode as the normalizers of the package tokenizers know it.

Source of the data: the behaviour of the Python package tokenizers 0.19.1, asked about all 1,112,064 scalar values. Graphemes
(UAX #29) are seen through a Precompiled map that makes a Q of each look-up: a grapheme of fewer than 6 bytes is one
look-up, a longer one is a look-up for each code point. Where that shows no difference (regional indicators), there is none.

    pip install tokenizers==0.19.1
    python generate_unigram_tables.py            writes the files beside this script
    python generate_unigram_tables.py --check    exit code 1 if a file differs
"""

import pathlib
import struct
import sys

import tokenizers
from tokenizers import normalizers

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from generate_unicode_tables import HANGUL, VERSION, array, combining_class_reader, two_stage  # noqa: E402

OTHER, CONTROL, EXTEND, ZWJ, SPACING, PREPEND, L, V, T, LV, LVT, PICTURE = range(12)
ACUTE, JOINER = "\u0301", "\u200d"
MARK = 1
TABLE_END = 0x20000


def one_byte_map():
    """A Precompiled map with each byte as a key, so that every look-up gives Q: a darts-clone array of two blocks of children."""
    units = [0] * 1024
    units[0] = 256 << 10  # the root's children: 256 ^ byte
    for byte in range(1, 256):
        units[256 ^ byte] = (256 ^ byte ^ 512 ^ byte) << 10 | 1 << 8 | byte
        units[512 ^ byte] = 0x80000000  # value 0: the first string
    return struct.pack("<I", 4096) + struct.pack("<1024I", *units) + b"Q\0"


def grapheme_categories():
    look_ups = normalizers.Precompiled(one_byte_map()).normalize_str

    def count(text):
        return len(look_ups(text))

    def joins(before, after):  # no break between them; `after` has three bytes, so both together are a long grapheme
        return count(before + after + ACUTE) == 3

    out = {}
    for cp in range(0x110000):
        if 0xD800 <= cp < 0xE000:
            out[cp] = OTHER
            continue
        c = chr(cp)
        if c == JOINER:
            out[cp] = ZWJ
        elif count("a" + c) == 1:
            out[cp] = EXTEND if count("\U0001f600" + c + JOINER + "\u00a9" + ACUTE) == 5 else SPACING
        elif cp not in (13, 10) and count(c + "a") == 1:
            out[cp] = PREPEND
        elif count(c + JOINER + "\u00a9" + ACUTE) == 4:
            out[cp] = PICTURE
        elif count(c + ACUTE + ACUTE) == 2:  # the marks are a grapheme of their own
            out[cp] = CONTROL
        elif joins(c, "\u1100"):
            out[cp] = L
        elif joins(c, "\u1161"):
            out[cp] = V if joins("\u1161", c) else LV
        elif joins(c, "\u11a8"):
            out[cp] = T if joins("\u1161", c) else LVT
        else:
            out[cp] = OTHER
    # What the code relies on.
    for cp in HANGUL:
        assert out[cp] == (LV if (cp - 0xAC00) % 28 == 0 else LVT), hex(cp)
        out[cp] = OTHER
    assert count("\u0928\u094d\u0928" + ACUTE) == 3  # rule GB9c is not there yet
    assert all(out[cp] in (OTHER, EXTEND) for cp in range(TABLE_END, 0x110000) if cp < 0xE0000)
    return out


def smallest(values, width):
    fitting = [s for s in range(3, 9) if max(two_stage(values, s)[0]) < 256]
    return min(fitting, key=lambda s: len(two_stage(values, s)[0]) + width * len(two_stage(values, s)[1]))


def header(what, bytes_, includes):
    return f"""// SPDX-License-Identifier: Apache-2.0
// Written by generate_unigram_tables.py from the behaviour of tokenizers {VERSION}; {bytes_} bytes. Do not edit.
// clang-format off
#include "runtime/tokenizer/unigram/{includes}"

namespace embert {{
namespace {what} {{
"""


def grapheme_file():
    categories = grapheme_categories()
    values = [categories[cp] for cp in range(TABLE_END)]
    shift = smallest(values, 0.5)
    stage1, stage2 = two_stage(values, shift)
    packed = [stage2[i] | stage2[i + 1] << 4 for i in range(0, len(stage2), 2)]
    tail = [
        (cp, categories[cp]) for cp in range(TABLE_END, 0x110000) if categories[cp] != categories[cp - 1] or cp == TABLE_END
    ]
    sizes = len(stage1) + len(packed) + 8 * len(tail)
    rows = "\n".join(f"    {{{cp:#x}, {category}}}," for cp, category in tail)
    return (
        header("grapheme", sizes, "grapheme_tables.hpp")
        + f"""
static_assert(kShift == {shift} && kRangeCount == {len(tail)}, "regenerate the tables");

{array("uint8_t", "kStage1", stage1)}

{array("uint8_t", "kStage2", packed)}

const Range kRanges[{len(tail)}] = {{
{rows}
}};

}}  // namespace grapheme
}}  // namespace embert
"""
    )


def utf16(cp):
    return [cp] if cp < 0x10000 else [0xD800 + (cp - 0x10000 >> 10), 0xDC00 + (cp - 0x10000 & 0x3FF)]


def nfkd_file():
    nfkd = normalizers.NFKD().normalize_str
    strip = normalizers.StripAccents().normalize_str
    lower = normalizers.Lowercase().normalize_str
    combining_class = combining_class_reader(normalizers.NFD().normalize_str)
    records, decomposed = {}, {}
    for cp in range(0x110000):
        records[cp] = (0, 0, 0)
        if 0xD800 <= cp < 0xE000:
            continue
        c = chr(cp)
        parts = [] if cp in HANGUL else [ord(x) for x in nfkd(c)]
        if parts and parts != [cp]:
            decomposed[cp] = parts
        lowered = lower(c)
        assert len(lowered) == 1 or cp == 0x130, hex(cp)
        delta = ord(lowered) - cp if len(lowered) == 1 else 0
        records[cp] = (delta, 0 if strip(c) else MARK, combining_class(cp) if parts == [cp] else 0)
    pool, places, plain = [0], {}, [0] * 0x10000
    high = []
    for cp, parts in sorted(decomposed.items()):
        units = [u for part in parts for u in utf16(part)]
        assert len(units) < 32 and records[parts[0]][2] == 0 or len(parts) <= 3, hex(cp)
        key = tuple([len(units)] + units)
        if key not in places:
            places[key] = len(pool)
            pool += key
        if cp < 0x10000:
            plain[cp] = places[key]
        else:
            high.append((cp, places[key]))
    assert len(pool) < 0x10000, len(pool)
    shift = smallest(plain, 2)
    stage1, stage2 = two_stage(plain, shift)
    distinct = sorted(set(records.values()), key=lambda r: (r != (0, 0, 0), r))
    number = {record: i for i, record in enumerate(distinct)}
    assert len(distinct) <= 256
    values = [number[records[cp]] for cp in range(TABLE_END)]
    rshift = smallest(values, 1)
    rstage1, rstage2 = two_stage(values, rshift)
    ranges = []
    for cp in range(TABLE_END, 0x110000):
        if not ranges or ranges[-1][1] != number[records[cp]]:
            ranges.append((cp, number[records[cp]]))
    sizes = (
        len(stage1)
        + 2 * len(stage2)
        + 2 * len(pool)
        + 8 * len(high)
        + 8 * len(distinct)
        + len(rstage1)
        + len(rstage2)
        + 8 * len(ranges)
    )
    print("nfkd", sizes, len(stage1), 2 * len(stage2), 2 * len(pool), 8 * len(high), file=sys.stderr)
    high_rows = "\n".join(f"    {{{cp:#x}, {place}}}," for cp, place in high)
    rows = "\n".join(f"    {{{d}, {f}, {c}}}," for d, f, c in distinct)
    range_rows = "\n".join(f"    {{{start:#x}, {record}}}," for start, record in ranges)
    return (
        header("nfkd", sizes, "nfkd_tables.hpp")
        + f"""
static_assert(kShift == {shift} && kHighCount == {len(high)}, "regenerate the tables");
static_assert(kPropertyShift == {rshift} && kPropertyRangeCount == {len(ranges)}, "regenerate the tables");

{array("uint8_t", "kStage1", stage1)}

{array("uint16_t", "kStage2", stage2, 16)}

{array("uint16_t", "kPool", pool, 16)}

const High kHigh[{len(high)}] = {{
{high_rows}
}};

{array("uint8_t", "kPropertyStage1", rstage1)}

{array("uint8_t", "kPropertyStage2", rstage2)}

const Properties kProperties[{len(distinct)}] = {{
{rows}
}};

const PropertyRange kPropertyRanges[{len(ranges)}] = {{
{range_rows}
}};

}}  // namespace nfkd
}}  // namespace embert
"""
    )


def main():
    assert tokenizers.__version__ == VERSION, f"needs tokenizers {VERSION}, found {tokenizers.__version__}"
    folder, same = pathlib.Path(__file__).resolve().parent, True
    for name, generate in (("grapheme_tables.cpp", grapheme_file), ("nfkd_tables.cpp", nfkd_file)):
        text = generate()
        if "--check" in sys.argv[1:]:
            same = same and (folder / name).read_text(encoding="ascii") == text
        else:
            (folder / name).write_text(text, encoding="ascii")
    return 0 if same else 1


if __name__ == "__main__":
    sys.exit(main())
