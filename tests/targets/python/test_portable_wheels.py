# SPDX-License-Identifier: Apache-2.0
"""The portable wheels give this machine's bytes for 500 texts: natively, and on emulated ARM with a Python of that processor.

`targets/python/build_wheels.sh portable` builds the wheels, `toolchains/make_sysroot.sh arm64 python` (and armhf) unpacks the
Python. What is missing is skipped with a line.
"""
import os
import pathlib
import shutil
import subprocess
import sys
import zipfile
from typing import Dict, List, Tuple

import pytest
from conftest import ROOT

WHEELS = ROOT / "build" / "wheels"
TEXTS = ROOT / "tests" / "data" / "tiny-intent" / "test.tsv"
DIGEST = pathlib.Path(__file__).with_name("digest_of_texts.py")
SCALAR_X86, AVX2 = "Nehalem", "Haswell"

# Platform, emulated processor: no vectors, NEON, dot product, matrix multiplication, ...
EMULATED = [("aarch64", "cortex-a53"), ("aarch64", "cortex-a76"), ("aarch64", "max"), ("armv7l", "cortex-a7"),
            ("armv7l", "cortex-r5f"), ("x86_64", SCALAR_X86), ("x86_64", AVX2)]
# Of a platform: the emulator, the Debian name of its Python, the folder of its libraries.
SYSTEMS: Dict[str, Tuple[str, str, str]] = {
    "aarch64": ("qemu-aarch64", "arm64", "aarch64-linux-gnu"),
    "armv7l": ("qemu-arm", "armhf", "arm-linux-gnueabihf"),
    "x86_64": ("qemu-x86_64", "", ""),
}


def wheel_of(platform: str) -> pathlib.Path:
    found = sorted(WHEELS.glob(f"embert-*{platform}.whl"))
    if not found:
        pytest.skip(f"!!!! SKIPPED: no wheel for {platform}; targets/python/build_wheels.sh portable")
    return found[-1]


def emulator_of(processor: str) -> str:
    emulator = SYSTEMS[processor][0]
    if shutil.which(emulator) is None:
        pytest.skip(f"!!!! SKIPPED: no {emulator}; install qemu-user")
    return emulator


def installed(platform: str, tmp_path: pathlib.Path) -> pathlib.Path:
    """pip takes the wheel for this platform and no other; numpy is that of the Python that runs it."""
    command = [sys.executable, "-m", "pip", "-q", "install", "--no-deps", "--target", str(tmp_path), "--platform", platform,
               "--only-binary=:all:", str(wheel_of(platform))]
    subprocess.run(command, check=True)
    return tmp_path


@pytest.fixture(scope="module")
def expected(models) -> str:
    """What the installed package prints, by the kernels of this machine."""
    return digest([sys.executable], models("intent"))


def digest(python: List[str], model: str, **environment: str) -> str:
    result = subprocess.run([*python, str(DIGEST), model, str(TEXTS)], stdout=subprocess.PIPE, text=True, check=True,
                            env={**os.environ, **environment})
    assert result.stdout.count("\n") == 2
    return result.stdout


def test_manylinux_on_this_machine(models, expected, tmp_path):
    folder = installed("manylinux_2_17_x86_64", tmp_path)
    assert digest([sys.executable], models("intent"), PYTHONPATH=str(folder)) == expected


@pytest.mark.parametrize("processor, cpu", EMULATED)
def test_manylinux_emulated(models, expected, tmp_path, processor, cpu):
    folder = installed(f"manylinux_2_17_{processor}", tmp_path)
    emulator = emulator_of(processor)
    _, debian, libraries = SYSTEMS[processor]
    environment = {"PYTHONPATH": str(folder), "QEMU_CPU": cpu}
    python = [emulator, sys.executable]
    if debian:
        system = ROOT / "build" / f"python-{debian}"
        if not (system / "complete").exists():
            pytest.skip(f"!!!! SKIPPED: no Python for {processor}; toolchains/make_sysroot.sh {debian} python")
        folders = ":".join(str(system / "usr" / "lib" / libraries / name) for name in ("blas", "lapack"))
        python = [emulator, "-L", str(system), "-E", f"LD_LIBRARY_PATH={folders}", "-E", f"PYTHONHOME={system / 'usr'}",
                  str(system / "usr" / "bin" / "python3")]
    assert digest(python, models("intent"), **environment) == expected


@pytest.mark.parametrize("processor", ["x86_64", "aarch64", "armv7l"])
def test_tool_of_musllinux(models, tmp_path, processor):
    """The tool of these wheels is linked statically, so it also runs where the C library is another."""
    with zipfile.ZipFile(wheel_of(f"musllinux_1_2_{processor}")) as wheel:
        [name] = [name for name in wheel.namelist() if name.endswith(".data/scripts/embert")]
        tool = pathlib.Path(wheel.extract(name, tmp_path))
    tool.chmod(0o755)
    texts = TEXTS.read_bytes().splitlines(keepends=True)[:500]
    command = ["embed", models("intent"), "--json"]
    ours = pathlib.Path(sys.executable).with_name("embert")
    outputs = [subprocess.run([*start, *command], input=b"".join(texts), stdout=subprocess.PIPE, check=True).stdout
               for start in ([ours], [emulator_of(processor), tool])]
    assert outputs[0] == outputs[1] and outputs[0].count(b"\n") == 500
