#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""One noun names contract, scalar reference, variants and test of an operation, and a test covers every row of
variants.inc.   check_kernels.py ROOT
"""

import pathlib
import re
import sys

ROW = re.compile(r"^EMBERT_KERNEL\((\w+), (\w+), (\w+), (\w+)\)$", re.M)
EXTENSION = re.compile(r'^    \{(kIsa\w+), "(\w+)", [^}]*\},$', re.M)
FUNCTION_TYPE = re.compile(r"^using (\w+)Fn = ", re.M)
VARIANT = re.compile(r"^kernels/(scalar|x86|arm|helium|dsp|wasm)/(\w+)_([a-z0-9]+)\.cpp$")
CONTRACT = re.compile(r"^kernels/contracts/(\w+)\.hpp$")
TEST = re.compile(r"^tests/kernels/(\w+)_test\.cpp$")
LISTED = re.compile(r"^\s+((?:scalar|x86|arm|helium|dsp|wasm)/\w+\.cpp)\)?$", re.M)
TESTS_OF_MORE = {"detection", "dispatch", "fixed_point", "layernorm_error"}  # of the table and of the reference arithmetic


def type_of(operation):
    """add_relative_positions and AddRelativePositions, layernorm and LayerNorm: the same letters."""
    return operation.replace("_", "").lower()


def problems(files):
    """What is wrong in a tree, given as {path: text}."""
    contracts = {match[1]: text for path, text in files.items() if (match := CONTRACT.match(path))}
    tests = {match[1]: text for path, text in files.items() if (match := TEST.match(path))}
    variants = [(path, *match.groups()) for path in files if (match := VARIANT.match(path))]
    extensions = dict(EXTENSION.findall(files["kernels/processor.hpp"]))
    extensions |= {"kIsaScalar": "scalar", "kIsaAvx512FreePipes": "avx512vnni"}
    rows = ROW.findall(files["kernels/variants.inc"])
    noun_of_type = {type_of(name): noun for noun, text in contracts.items() for name in FUNCTION_TYPE.findall(text)}

    for noun in sorted(contracts):
        if f"kernels/scalar/{noun}_scalar.cpp" not in files:
            yield f"kernels/contracts/{noun}.hpp has no kernels/scalar/{noun}_scalar.cpp"
        if noun not in tests:
            yield f"kernels/contracts/{noun}.hpp has no tests/kernels/{noun}_test.cpp"
    for noun in sorted(set(tests) - set(contracts) - TESTS_OF_MORE):
        yield f"tests/kernels/{noun}_test.cpp has no kernels/contracts/{noun}.hpp"

    listed = set(LISTED.findall(files["kernels/sources.cmake"]))
    for path, _, noun, isa in variants:
        if noun not in contracts:
            yield f"{path}: no kernels/contracts/{noun}.hpp"
        if isa not in extensions.values():
            yield f"{path}: {isa} is no ISA extension of kernels/processor.hpp"
        if path.removeprefix("kernels/") not in listed:
            yield f"{path} is not in kernels/sources.cmake"
    for path in sorted(listed - {path.removeprefix("kernels/") for path, *_ in variants}):
        yield f"kernels/sources.cmake lists kernels/{path}, which does not exist"

    for operation, function_type, function, isa in rows:
        row = f"kernels/variants.inc, {operation} {function}"
        noun = noun_of_type.get(type_of(operation))
        if noun is None:
            yield f"{row}: no contract declares a type of the operation's name"
            continue
        if type_of(function_type) != type_of(operation) + "fn":
            yield f"{row}: {function_type} is another operation's type"
        if isa not in extensions:
            yield f"{row}: {isa} is no ISA extension of kernels/processor.hpp"
            continue
        sources = [path for path, _, of, name in variants if of == noun and name == extensions[isa]]
        if not any(re.search(rf"^\w+ {function}\(", files[path], re.M) for path in sources):
            yield f"{row}: not defined in a file {noun}_{extensions[isa]}.cpp"
        if f"variants_of(&Kernels::{operation})" not in tests.get(noun, ""):
            yield f"{row}: no test covers it; tests/kernels/{noun}_test.cpp lacks variants_of(&Kernels::{operation})"
    defined = {function for path, *_ in variants for function in re.findall(r"^\w+ (\w+)\(const \w+Args& ", files[path], re.M)}
    for function in sorted(defined - {function for _, _, function, _ in rows}):
        if re.search(rf"_({'|'.join(extensions.values())})$", function):
            yield f"{function} has no row in kernels/variants.inc"
    for path, text in sorted(files.items()):
        if text.count("#define EMBERT_KERNEL(") != text.count('#include "kernels/variants.inc"'):
            yield f"{path}: not every definition of EMBERT_KERNEL is followed by an inclusion of kernels/variants.inc"


def read_tree(root):
    paths = [path for folder in ("kernels", "tests/kernels") for path in (root / folder).rglob("*") if path.is_file()]
    return {path.relative_to(root).as_posix(): path.read_text(encoding="utf-8") for path in paths}


def self_test(files):
    """The problems that the checks miss in trees made to have them."""

    def replaced(path, old, new):
        return {**files, path: files[path].replace(old, new)}

    def renamed(old, new):
        return {(new if path == old else path): text for path, text in files.items()}

    gemm, softmax = "EMBERT_KERNEL(gemm, GemmFn, gemm_s32_n16k4_scalar", "EMBERT_KERNEL(softmax, SoftmaxFn, softmax_u8_s32_avx2"
    breaches = [
        (
            renamed("kernels/scalar/softmax_scalar.cpp", "kernels/scalar/max_scalar.cpp"),
            "has no kernels/scalar/softmax_scalar.cpp",
        ),
        (renamed("tests/kernels/softmax_test.cpp", "tests/kernels/max_test.cpp"), "has no tests/kernels/softmax_test.cpp"),
        (renamed("kernels/x86/softmax_avx2.cpp", "kernels/x86/max_avx2.cpp"), "no kernels/contracts/max.hpp"),
        (renamed("kernels/x86/softmax_avx2.cpp", "kernels/x86/softmax_avx3.cpp"), "avx3 is no ISA extension"),
        (replaced("kernels/sources.cmake", "  x86/softmax_avx2.cpp\n", ""), "is not in kernels/sources.cmake"),
        (
            replaced("kernels/variants.inc", gemm, "EMBERT_KERNEL(pool, PoolFn, pool_scalar, kIsaScalar)\n" + gemm),
            "no contract declares",
        ),
        (
            replaced("kernels/variants.inc", "(append_key, AppendKeyFn,", "(append_key, RequantizeKeyFn,"),
            "another operation's type",
        ),
        (replaced("kernels/variants.inc", softmax, softmax.replace("u8_s32", "u8")), "not defined in a file softmax_avx2.cpp"),
        (replaced("kernels/variants.inc", softmax + ", kIsaAvx2)\n", ""), "softmax_u8_s32_avx2 has no row"),
        (
            replaced("tests/kernels/qkv_test.cpp", "variants_of(&Kernels::append_key)", "append_key"),
            "append_key requantize_key_n16k4_scalar: no test covers it",
        ),
        (replaced("tests/kernels/dispatch_test.cpp", '#include "kernels/variants.inc"', ""), "not every definition"),
    ]
    return [problem for tree, problem in breaches if not any(problem in text for text in problems(tree))]


def main():
    files = read_tree(pathlib.Path(sys.argv[1]).resolve())
    found = list(problems(files)) + [f"the checks let this pass: {problem}" for problem in self_test(files)]
    for problem in found:
        print(problem)
    rows = len(ROW.findall(files["kernels/variants.inc"]))
    print(f"{rows} rows, {len(found)} problems")
    return 1 if found or rows < 50 else 0


if __name__ == "__main__":
    sys.exit(main())
