#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes script_tables.cpp: the Unicode script of each code point.

Source of the data: Unicode's Scripts.txt, version 18.0.0, as the Python package fonttools 4.68.0 carries it.

    pip install fonttools==4.68.0
    python generate_script_tables.py            writes script_tables.cpp
    python generate_script_tables.py --check    exit code 1 if the file differs
"""

import pathlib
import sys

import fontTools
from fontTools.unicodedata import Scripts

VERSION = "4.68.0"


def generate():
    assert fontTools.version == VERSION, f"needs fonttools {VERSION}, found {fontTools.version}"
    names = sorted(Scripts.NAMES[code] for code in set(Scripts.VALUES))
    lines = [
        "// SPDX-License-Identifier: Apache-2.0",
        f"// Written by generate_script_tables.py from Unicode's Scripts.txt in fonttools {VERSION}. Do not edit.",
        "// clang-format off",
        '#include "converter/vocabulary/script_tables.hpp"',
        "",
        "namespace embert::convert {",
        "",
        "const std::array<const char*, kScriptCount> kScriptNames = {{",
    ]
    lines += [f'    "{name}",' for name in names]
    lines += ["}};", "", "const std::array<ScriptRange, kScriptRangeCount> kScriptRanges = {{"]
    ranges = [f"{{0x{first:X}, {names.index(Scripts.NAMES[code])}}}" for first, code in zip(Scripts.RANGES, Scripts.VALUES)]
    lines += ["    " + ", ".join(ranges[start : start + 6]) + "," for start in range(0, len(ranges), 6)]
    return "\n".join([*lines, "}};", "", "}  // namespace embert::convert", ""]), len(names), len(Scripts.RANGES)


def main():
    text, names, ranges = generate()
    path = pathlib.Path(__file__).with_name("script_tables.cpp")
    header = path.with_suffix(".hpp").read_text(encoding="utf-8")
    assert f"kScriptCount = {names};" in header and f"kScriptRangeCount = {ranges};" in header, (names, ranges)
    if "--check" in sys.argv[1:]:
        return 0 if path.read_text(encoding="utf-8") == text else 1
    path.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
