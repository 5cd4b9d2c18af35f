#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""C and C++ sources are laid out as .clang-format says.   check_format.py CLANG_FORMAT ROOT
Not among them: the public headers, whose tables of comments are laid out by hand, and generated tables.
"""
import pathlib
import subprocess
import sys

clang_format, root = sys.argv[1], pathlib.Path(sys.argv[2])
files = [str(path) for folder in ("kernels", "runtime", "converter", "targets", "tests")
         for path in sorted((root / folder).rglob("*"))
         if path.suffix in (".c", ".cpp", ".h", ".hpp")
         and path.parent.name != "embert" and not path.stem.endswith("_tables")]
version = subprocess.run([clang_format, "--version"], capture_output=True, text=True, check=True).stdout
if " 14." not in version:
    print(f"SKIPPED: other versions lay out other ways: {version.strip()}")
    sys.exit(0)
result = subprocess.run([clang_format, "--dry-run", "--Werror", "--ferror-limit=1", *files], check=False)
print(f"{len(files)} files")
sys.exit(result.returncode)
