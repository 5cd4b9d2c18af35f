#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The object files of runtime, tokenizer and kernels: no heap, I/O, exceptions, libm, float arithmetic or mutable data, no
weak symbols in kernel variants, and a limit for their size.

  check_symbols.py [--max-bytes N] [--float-scan] [--forbidden-in OBJECT] [--binutils PREFIX] -- OBJECT...
"""

import argparse
import re
import subprocess
import sys

# The library may call these from outside: memory functions and the compiler's integer division.
ALLOWED = re.compile(
    r"^(memcpy|memmove|memset|memcmp|_GLOBAL_OFFSET_TABLE_|__(u?div|u?mod)[dst]i[34]|__udivmod[dt]i4|__aeabi_.*)$"
)
FLOAT_ARITHMETIC = re.compile(
    r"^v?(add|sub|mul|div|sqrt|rcp|rsqrt|rcp14|rsqrt14|min|max|round|rndscale|range|reduce|scalef|getexp|getmant|fixupimm"
    r"|addsub|hadd|hsub|dp|cmp\w*)(ss|sd|ps|pd)$"
    r"|^vf[n]?m(add|sub|addsub|subadd)\d*(ss|sd|ps|pd)$|^v?cvt|^v?u?comis[sd]$"
    r"|^f(ld|ild|st|stp|ist|istp|add|addp|sub|subp|mul|mulp|div|divp|sqrt|com|comi|ucom|ucomi|chs|abs)[slpr]*$"
)
VARIANT = re.compile(r"/kernels/.*/(x86|arm|helium)/")
MUTABLE_SECTION = re.compile(r"^\.(data|bss|tdata|tbss|init_array|ctors)(\.|$)")
RELOCATED_CONSTANTS = ".data.rel.ro"


binutils = ""  # prefix of nm, objdump and size for another target


def run(tool, *arguments):
    return subprocess.run([binutils + tool, *arguments], check=True, capture_output=True, text=True).stdout


def symbols(path):
    """(type letter, name) of each symbol."""
    for line in run("nm", path).splitlines():
        fields = line.split()
        yield (fields[-2], fields[-1])


def mutable_sections(path):
    for line in run("objdump", "-h", path).splitlines():
        fields = line.split()
        if len(fields) >= 7 and fields[0].isdigit() and int(fields[2], 16) > 0:
            if MUTABLE_SECTION.match(fields[1]) and not fields[1].startswith(RELOCATED_CONSTANTS):
                yield fields[1], int(fields[2], 16)


def float_instructions(path):
    found = {}
    function = "?"
    for line in run("objdump", "-d", "--no-show-raw-insn", path).splitlines():
        if line.endswith(">:"):
            function = line.split("<", 1)[1][:-2]
        fields = line.split("\t")
        if len(fields) > 1 and fields[1].split():
            mnemonic = fields[1].split()[0]
            if FLOAT_ARITHMETIC.match(mnemonic):
                found.setdefault(function, set()).add(mnemonic)
    return found


def code_bytes(path):
    return int(run("size", path).splitlines()[1].split()[0])


def check(objects, float_scan):
    tables = {path: list(symbols(path)) for path in objects}
    defined = {name for table in tables.values() for kind, name in table if kind not in "Uw"}
    for path, table in tables.items():
        short = path.split("CMakeFiles/", 1)[-1]
        for kind, name in table:
            if kind in "Uw" and name not in defined and not ALLOWED.match(name):
                yield f"{short}: needs {name} from outside"
            if kind in "WVu" and VARIANT.search(path):
                yield f"{short}: weak symbol {name}: the linker might pick it for a processor without these instructions"
        for section, size in mutable_sections(path):
            yield f"{short}: {size} bytes of mutable data in {section}"
        if float_scan:
            for function, mnemonics in float_instructions(path).items():
                yield f"{short}: float arithmetic in {function}: {', '.join(sorted(mnemonics))}"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--max-bytes", type=int, default=0)
    parser.add_argument("--float-scan", action="store_true")
    parser.add_argument("--forbidden-in", help="an object full of what is forbidden: each check must find it")
    parser.add_argument("--binutils", default="", help="prefix of the target's nm, objdump and size")
    parser.add_argument("objects", nargs="+")
    arguments = parser.parse_args()
    global binutils
    binutils = arguments.binutils

    found = list(check(arguments.objects, arguments.float_scan))
    for problem in found:
        print(problem)
    if arguments.forbidden_in:
        seen = "\n".join(check([arguments.forbidden_in], arguments.float_scan))
        wanted = ["needs malloc", "needs printf", "mutable data"] + (["float arithmetic"] if arguments.float_scan else [])
        for text in wanted:
            if text not in seen:
                found.append(text)
                print(f"the checks let this pass: {text}")
    total = sum(code_bytes(path) for path in arguments.objects)
    print(f"{len(arguments.objects)} objects, {total} bytes of code and constants, {len(found)} problems")
    if arguments.max_bytes and total > arguments.max_bytes:
        print(f"more than {arguments.max_bytes} bytes")
        return 1
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
