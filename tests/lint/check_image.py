#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The part of the library in a firmware, from the linker's map: a limit for code and tables, no mutable data, and nothing
that allocates. The whole image less the model has the size that `embert fit` knows (kernel_sets.inc).

  check_image.py --max-bytes N --allocates PROGRAM [--binutils PREFIX] --kernel-sets FILE --isa NAME --model FILE MAP FIRMWARE
"""

import argparse
import collections
import os
import re
import subprocess
import sys

# A section of the library in the map: name, perhaps a line break, address, size, archive and object.
PART = re.compile(r"^ \.(text|rodata|data|bss)\b\S*\s+0x[0-9a-f]+\s+0x([0-9a-f]+)\s+\S*/libembert\.a\(", re.MULTILINE)
MEMORY = 262144  # EMBERT_FIRMWARE_MEMORY of the emulated boards
MOST_DEVIATION = 0.02  # from the sizes that `embert fit` knows
ALLOCATION = re.compile(r"^_*(malloc|calloc|realloc|memalign|free|sbrk)(_r)?$|^_Z(nw|na|dl|da)")


def linked_parts(path):
    """Bytes of the library in the image, by kind of section."""
    with open(path, encoding="utf-8") as file:
        memory_map = file.read().split("Linker script and memory map", 1)[1]
    total = collections.Counter()
    for kind, size in PART.findall(memory_map):
        total[kind] += int(size, 16)
    return total


def allocating_symbols(binutils, program):
    names = subprocess.run([binutils + "nm", program], check=True, capture_output=True, text=True).stdout.splitlines()
    return sorted({name for name in (line.split()[-1] for line in names) if ALLOCATION.match(name)})


def image_bytes(binutils, firmware, model):
    """Flash of the image without the model, and its variables without the block of EMBERT_FIRMWARE_MEMORY."""
    lines = subprocess.run([binutils + "size", "-A", firmware], check=True, capture_output=True, text=True).stdout.splitlines()
    sections = {fields[0]: int(fields[1]) for fields in map(str.split, lines) if len(fields) == 3 and fields[1].isdigit()}
    flash = sum(sections.get(name, 0) for name in (".vectors", ".text", ".rodata", ".data"))
    return flash - os.path.getsize(model), sections.get(".data", 0) + sections[".bss"] - MEMORY


def recorded_bytes(path, isa):
    """Code with WordPiece, and variables, of a row of kernel_sets.inc."""
    with open(path, encoding="utf-8") as file:
        row = re.search(r'isa = "' + isa + r'".*?code = \{(\d+),.*?variables = (\d+),', file.read(), re.DOTALL)
    return (int(row[1]), int(row[2])) if row else (0, 0)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--max-bytes", type=int, required=True)
    parser.add_argument("--allocates", required=True, help="a program that does allocate: the check must find it")
    parser.add_argument("--binutils", default="", help="prefix of the target's nm")
    parser.add_argument("--kernel-sets", required=True, help="targets/cli/fit/kernel_sets.inc")
    parser.add_argument("--isa", required=True, help="the row of the kernels in the firmware")
    parser.add_argument("--model", required=True, help="the file in the place of the model")
    parser.add_argument("map")
    parser.add_argument("firmware")
    arguments = parser.parse_args()

    problems = []
    library = linked_parts(arguments.map)
    size, mutable = library["text"] + library["rodata"], library["data"] + library["bss"]
    print(
        f"runtime, kernels and tokenizer: {library['text']} bytes of code, {library['rodata']} of tables, {mutable} of "
        ".data and .bss"
    )
    if library["text"] == 0:
        problems.append("the library is not in the map")
    if size > arguments.max_bytes:
        problems.append(f"{size} bytes of code and tables are more than {arguments.max_bytes}")
    if mutable:
        problems.append("mutable data")
    found = allocating_symbols(arguments.binutils, arguments.firmware)
    print(f"symbols that allocate: {', '.join(found) or 'none'}")
    if found:
        problems.append("something allocates")
    if not allocating_symbols(arguments.binutils, arguments.allocates):
        problems.append(f"{arguments.allocates} allocates, and the check does not see it")
    for what, built, recorded in zip(
        ("code and tables", "variables"),
        image_bytes(arguments.binutils, arguments.firmware, arguments.model),
        recorded_bytes(arguments.kernel_sets, arguments.isa),
    ):
        print(f"{what} of the image: {built} bytes; `embert fit` says {recorded}")
        if abs(built - recorded) > MOST_DEVIATION * built:
            problems.append(f"{what}: {arguments.kernel_sets} needs {built} for {arguments.isa}")
    for problem in problems:
        print(problem)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
