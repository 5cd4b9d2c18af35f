#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes UD2 over each CPUID instruction of programs and libraries of x86-64, in place: make copies first. hide_isa.c
then answers in its stead, on processors on which CPUID does not fault (AMD's).

  cp -r peers peers_avx2; cp build/release/targets/cli/embert embert_avx2
  tests/bench/trap_cpuid.py embert_avx2 $(find peers_avx2 -name 'libLiteRt.so' -o -name 'libpywrap_litert_common.so' \\
      -o -name 'libopenvino.so.*' -o -name 'libopenvino_intel_cpu_plugin.so')
  EMBERT_CPUID_TRAPPED=1 LD_PRELOAD=$PWD/build/release/tests/bench/libhide_avx512.so tests/bench/compare_peers.py \\
      --tool ./embert_avx2 --python peers_avx2/bin/python ...

Needs objdump and readelf.
"""

from __future__ import annotations

import pathlib
import re
import subprocess
import sys

CPUID, UD2 = b"\x0f\xa2", b"\x0f\x0b"


def output_of(*command: str) -> str:
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


def trap(path: str) -> int:
    """The number of instructions that were changed."""
    # Name, type, address, offset, size of a section.
    rows = re.findall(r"\]\s+\S+\s+PROGBITS\s+([0-9a-f]+)\s+([0-9a-f]+)\s+([0-9a-f]+)", output_of("readelf", "-SW", path))
    sections = [(int(address, 16), int(offset, 16), int(size, 16)) for address, offset, size in rows]
    code = bytearray(pathlib.Path(path).read_bytes())
    found = re.findall(r"^\s*([0-9a-f]+):\s+cpuid\b", output_of("objdump", "-d", "--no-show-raw-insn", path), re.MULTILINE)
    for address in (int(text, 16) for text in found):
        at = next(offset + address - start for start, offset, size in sections if 0 < start <= address < start + size)
        if code[at : at + 2] != CPUID:
            raise ValueError(f"{path}: no CPUID at offset {at}")
        code[at : at + 2] = UD2
    pathlib.Path(path).write_bytes(code)
    return len(found)


def main() -> None:
    if len(sys.argv) < 2 or sys.argv[1].startswith("-"):
        sys.exit(__doc__)
    for path in sys.argv[1:]:
        print(f"{path}: {trap(path)} CPUID instructions")


if __name__ == "__main__":
    main()
