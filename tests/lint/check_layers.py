#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Each folder includes only the folders below it.   check_layers.py ROOT

Also: an SPDX line at the head of each file, at most 600 lines in a file, no path of one machine. The check reads the text
of the sources and needs no compiler.
"""

import pathlib
import re
import sys

C_HEADERS = {"stdint.h", "stddef.h", "string.h"}
INTRINSICS = {"immintrin.h", "nmmintrin.h", "arm_neon.h", "arm_mve.h", "arm_acle.h", "wasm_simd128.h"}
VARIANT_FOLDERS = ("kernels/x86/", "kernels/arm/", "kernels/helium/", "kernels/dsp/", "kernels/wasm/")
PACKING = ("kernels/arithmetic/", "kernels/processor.hpp")
ANY = None

# The arithmetic of the converter and its stages in the order of the data: each includes itself and those before it. The files beside the
# stages are convert.cpp, which calls them all, and helpers that any stage may use.
STAGES = ("files", "arithmetic", "model", "import", "reference", "calibrate", "quantize", "export", "vocabulary", "verify")
CONVERTER_HELPERS = ("converter/convert_error.hpp", "converter/workers.hpp")
BELOW_CONVERTER = ("runtime/format/", "embert/", "kernels/variants.hpp", *PACKING)
CONVERTER_RULES = [
    (
        f"converter/{stage}/",
        (*(f"converter/{earlier}/" for earlier in STAGES[: number + 1]), *CONVERTER_HELPERS, *BELOW_CONVERTER),
        ANY,
    )
    for number, stage in enumerate(STAGES)
]

# (folder, prefixes of quoted includes, names of angle includes). The first rule whose folder holds the file counts.
RULES = [
    ("kernels/scalar/", ("kernels/",), C_HEADERS),
    *[(folder, ("kernels/",), C_HEADERS | INTRINSICS) for folder in VARIANT_FOLDERS],
    ("kernels/", ("kernels/",), C_HEADERS),
    ("runtime/include/", ("embert/",), {"stdint.h", "stddef.h"}),
    ("runtime/format/", (), {"stdint.h", "stddef.h"}),
    ("runtime/host/", ("runtime/host/", "kernels/processor.hpp", "kernels/dispatch.hpp", "embert/"), ANY),
    ("runtime/tokenizer/", ("runtime/tokenizer/", "runtime/format/", "embert/"), C_HEADERS),
    ("runtime/tasks/", ("runtime/tasks/", "runtime/model/", "runtime/tokenizer/", "kernels/arithmetic/", "embert/"), C_HEADERS),
    ("runtime/model/", ("runtime/model/", "runtime/tokenizer/", "runtime/format/", "kernels/", "embert/"), C_HEADERS),
    (
        "runtime/engine/",
        ("runtime/engine/", "runtime/tasks/", "runtime/model/", "runtime/format/", "kernels/", "embert/"),
        C_HEADERS,
    ),
    ("runtime/generation/", ("runtime/", "kernels/", "embert/"), C_HEADERS),
    *CONVERTER_RULES,
    ("converter/", ("converter/", *BELOW_CONVERTER), ANY),
    ("targets/cli/report/arena_trace", ("targets/", "embert/", "runtime/engine/arena_plan.hpp"), ANY),
    ("targets/cli/bench/peak", ("targets/cli/", "kernels/processor.hpp"), ANY),
    ("targets/", ("targets/", "embert/", "converter/"), ANY),
    ("tests/", ANY, ANY),
]
# Variants do not use the kernel table: it calls them.
NOT_IN_VARIANTS = {"kernels/dispatch.hpp"}

CODE = {".c", ".cpp", ".h", ".hpp", ".inc"}
SCRIPTS = {".py", ".sh", ".cmake", ""}
LONG_BY_NATURE = re.compile(r"_tables\.|_data\.|/data/")
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')
MACHINE_PATH = re.compile(r"/(home|root|work|Users)/\w")
MAX_LINES = 600


def sources(root):
    for folder in ("kernels", "runtime", "converter", "targets", "tests", "toolchains", ".ci"):
        for path in sorted((root / folder).rglob("*")):
            is_script = path.suffix in SCRIPTS and path.is_file() and path.read_bytes()[:2] == b"#!"
            if path.is_file() and (
                path.suffix in CODE or path.suffix in (".py", ".sh", ".cmake") or is_script or path.name == "CMakeLists.txt"
            ):
                yield path


def include_problem(name, bracket, target):
    rule = next((rule for rule in RULES if name.startswith(rule[0])), None)
    if rule is None:
        return None
    _, quoted, angle = rule
    if bracket == "<":
        if angle is not ANY and target not in angle:
            return f"<{target}> is not among the headers of this folder: {', '.join(sorted(angle))}"
        if target in INTRINSICS and not name.startswith(VARIANT_FOLDERS + ("targets/cli/bench/peak", "tests/")):
            return f"<{target}>: intrinsics belong to the kernel variants"
        return None
    if quoted is not ANY and not target.startswith(quoted):
        return f'"{target}" is not below this folder, which may include {", ".join(quoted) or "nothing"}'
    if name.startswith(VARIANT_FOLDERS) and target in NOT_IN_VARIANTS:
        return f'"{target}" is the table, which calls the variants; they must not include it'
    return None


def problems(root, path):
    name = path.relative_to(root).as_posix()
    lines = path.read_text(encoding="utf-8").split("\n")
    if not any("SPDX-License-Identifier: Apache-2.0" in line for line in lines[:3]):
        yield 1, "no SPDX line at the head; add SPDX-License-Identifier: Apache-2.0"
    if len(lines) > MAX_LINES + 1 and not LONG_BY_NATURE.search(name):
        yield len(lines), f"longer than {MAX_LINES} lines; split it by idea"
    for number, line in enumerate(lines, 1):
        if MACHINE_PATH.search(line) and not name.startswith("tests/lint/"):
            yield number, "a path of one machine; use a relative path or an option"
        match = INCLUDE.match(line)
        if path.suffix in CODE and match:
            problem = include_problem(name, *match.groups())
            if problem:
                yield number, problem


def self_test():
    """The rules catch what they are for."""
    breaches = [
        ("kernels/contracts/gemm.hpp", '"', "runtime/model/model.hpp"),
        ("kernels/contracts/gemm.hpp", "<", "vector"),
        ("kernels/scalar/gemm_scalar.cpp", "<", "immintrin.h"),
        ("runtime/engine/engine.cpp", "<", "math.h"),
        ("runtime/format/blob_format.hpp", "<", "string.h"),
        ("runtime/engine/engine.cpp", '"', "converter/verify/verify.hpp"),
        ("converter/verify/verify.cpp", '"', "runtime/model/model.hpp"),
        ("converter/verify/verify.cpp", '"', "kernels/dispatch.hpp"),
        ("converter/export/write_blob.cpp", '"', "converter/verify/verify.hpp"),
        ("converter/calibrate/measure_ranges.cpp", '"', "converter/convert.hpp"),
        ("targets/cli/main.cpp", '"', "runtime/model/model.hpp"),
        ("runtime/tokenizer/tokenize.cpp", '"', "runtime/model/model.hpp"),
        ("runtime/tasks/classify.cpp", '"', "runtime/engine/run.hpp"),
        ("runtime/engine/text.cpp", '"', "runtime/generation/generate.hpp"),
        ("kernels/x86/gemm_avx2.cpp", '"', "kernels/dispatch.hpp"),
        ("runtime/engine/engine.cpp", '"', "model.hpp"),
    ]
    return [breach for breach in breaches if include_problem(*breach) is None]


def main():
    root = pathlib.Path(sys.argv[1]).resolve()
    missed = self_test()
    for breach in missed:
        print(f"the rules let this pass: {breach}")
    found = len(missed)
    count = 0
    for path in sources(root):
        count += 1
        for number, problem in problems(root, path):
            print(f"{path.relative_to(root)}:{number}: {problem}")
            found += 1
    print(f"{count} files, {found} problems")
    return 1 if found or count < 50 else 0


if __name__ == "__main__":
    sys.exit(main())
