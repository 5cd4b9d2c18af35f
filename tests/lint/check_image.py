#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The part of the library in a firmware, from the linker's map: a limit for code and tables, no mutable data, and nothing
that allocates.

  check_image.py --max-bytes N --allocates PROGRAM [--binutils PREFIX] MAP FIRMWARE
"""
import argparse
import collections
import re
import subprocess
import sys

# A section of the library in the map: name, perhaps a line break, address, size, archive and object.
PART = re.compile(r"^ \.(text|rodata|data|bss)\b\S*\s+0x[0-9a-f]+\s+0x([0-9a-f]+)\s+\S*/libembert\.a\(", re.MULTILINE)
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


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--max-bytes", type=int, required=True)
    parser.add_argument("--allocates", required=True, help="a program that does allocate: the check must find it")
    parser.add_argument("--binutils", default="", help="prefix of the target's nm")
    parser.add_argument("map")
    parser.add_argument("firmware")
    arguments = parser.parse_args()

    problems = []
    library = linked_parts(arguments.map)
    size, mutable = library["text"] + library["rodata"], library["data"] + library["bss"]
    print(f"runtime, kernels and tokenizer: {library['text']} bytes of code, {library['rodata']} of tables, {mutable} of "
          ".data and .bss")
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
    for problem in problems:
        print(problem)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
