# SPDX-License-Identifier: Apache-2.0
"""The portable wheels give this machine's bytes for 500 texts: natively, and on emulated processors.

For glibc: pip installs the wheel for a Python of the other processor, which runs in the emulator. For musl no Python can be had:
a C program is linked to the library, and runs on musl. tests/run.sh --python-full builds the wheels and unpacks the systems; what
is missing is skipped with a line.
"""

import os
import pathlib
import shutil
import subprocess
import sys
import zipfile
from typing import List, NamedTuple

import embert
import pytest
from conftest import ROOT

WHEELS = ROOT / "build" / "wheels"
TEXTS = ROOT / "tests" / "data" / "tiny-intent" / "test.tsv"
HERE = pathlib.Path(__file__).parent


class System(NamedTuple):
    emulator: str
    debian: str  # its name of the processor
    folder: str  # of libraries
    zig: str  # target with musl
    loader: str  # of musl


SYSTEMS = {
    "x86_64": System("qemu-x86_64", "amd64", "x86_64-linux-gnu", "x86_64-linux-musl", "ld-musl-x86_64.so.1"),
    "aarch64": System("qemu-aarch64", "arm64", "aarch64-linux-gnu", "aarch64-linux-musl", "ld-musl-aarch64.so.1"),
    "armv7l": System("qemu-arm", "armhf", "arm-linux-gnueabihf", "arm-linux-musleabihf", "ld-musl-armhf.so.1"),
}
# A processor for each set of kernels that an emulator has: scalar and AVX2 (numpy itself needs AVX); NEON, dot product and I8MM;
# scalar and NEON.
CPUS = [
    ("x86_64", "SandyBridge"),
    ("x86_64", "Haswell"),
    ("aarch64", "cortex-a53"),
    ("aarch64", "cortex-a76"),
    ("aarch64", "max"),
    ("armv7l", "cortex-r5f"),
    ("armv7l", "cortex-a7"),
]


def existing(path: pathlib.Path, command: str) -> pathlib.Path:
    """The path, made by the command."""
    if not path.exists():
        pytest.skip(f"!!!! SKIPPED: no {path.relative_to(ROOT)}; {command}")
    return path


def wheel_of(platform: str) -> pathlib.Path:
    found = sorted(WHEELS.glob(f"embert-*{platform}.whl"))
    return existing(found[-1] if found else WHEELS / f"embert-*{platform}.whl", f"targets/python/build_wheels.sh {platform}")


def emulator_of(processor: str) -> str:
    emulator = SYSTEMS[processor].emulator
    if shutil.which(emulator) is None:
        pytest.skip(f"!!!! SKIPPED: no {emulator}; apt-get install qemu-user")
    return emulator


def installed(platform: str, folder: pathlib.Path) -> pathlib.Path:
    """pip takes the wheel for this platform. numpy is that of the Python that runs it."""
    command = [sys.executable, "-m", "pip", "-q", "install", "--no-deps", "--target", str(folder), "--platform", platform]
    subprocess.run([*command, "--only-binary=:all:", str(wheel_of(platform))], check=True)
    return folder


def output(command: List[str], texts: bytes, **environment: str) -> bytes:
    return subprocess.run(command, input=texts, stdout=subprocess.PIPE, check=True, env={**os.environ, **environment}).stdout


def digest(python: List[str], model: str, **environment: str) -> bytes:
    return output([*python, str(HERE / "digest_of_texts.py"), model, str(TEXTS)], b"", **environment)


@pytest.fixture(scope="module")
def expected(models) -> bytes:
    """The installed package's digests, by the kernels of this machine."""
    lines = digest([sys.executable], models("intent"))
    assert lines.count(b"\n") == 2
    return lines


@pytest.fixture(scope="module")
def lines() -> bytes:
    return b"".join(TEXTS.read_bytes().splitlines(keepends=True)[:500])


def test_manylinux_on_this_machine(models, expected, tmp_path):
    folder = installed("manylinux_2_17_x86_64", tmp_path)
    assert digest([sys.executable], models("intent"), PYTHONPATH=str(folder)) == expected


@pytest.mark.parametrize("processor, cpu", CPUS)
def test_manylinux(models, expected, tmp_path, processor, cpu):
    folder = installed(f"manylinux_2_17_{processor}", tmp_path)
    python = [emulator_of(processor), sys.executable]
    if processor != "x86_64":
        system = SYSTEMS[processor]
        root = ROOT / "build" / f"python-{system.debian}"
        existing(root / "complete", f"toolchains/make_sysroot.sh {system.debian} python")
        libraries = ":".join(str(root / "usr" / "lib" / system.folder / name) for name in ("blas", "lapack"))
        python = [
            system.emulator,
            "-L",
            str(root),
            "-E",
            f"LD_LIBRARY_PATH={libraries}",
            "-E",
            f"PYTHONHOME={root / 'usr'}",
            str(root / "usr" / "bin" / "python3"),
        ]
    assert digest(python, models("intent"), PYTHONPATH=str(folder), QEMU_CPU=cpu) == expected


@pytest.mark.parametrize("processor", SYSTEMS)
def test_tool_of_musllinux(models, lines, tmp_path, processor):
    """The tool is linked statically, so it runs on any system of its processor."""
    with zipfile.ZipFile(wheel_of(f"musllinux_1_2_{processor}")) as wheel:
        [name] = [name for name in wheel.namelist() if name.endswith(".data/scripts/embert")]
        tool = pathlib.Path(wheel.extract(name, tmp_path))
    tool.chmod(0o755)
    command = ["embed", models("intent"), "--json"]
    ours = output([str(pathlib.Path(sys.executable).with_name("embert")), *command], lines)
    assert ours.count(b"\n") == 500
    assert output([emulator_of(processor), str(tool), *command], lines) == ours


@pytest.mark.parametrize("processor", SYSTEMS)
def test_library_of_musllinux(models, lines, tmp_path, processor):
    system = SYSTEMS[processor]
    folder = installed(f"musllinux_1_2_{processor}", tmp_path) / "embert"
    root = ROOT / "build" / f"musl-{system.debian}"
    existing(root / "complete", f"toolchains/make_sysroot.sh {system.debian} musl")
    compiler = existing(ROOT / "build" / "wheel-tools" / "bin" / "python", "targets/python/build_wheels.sh")
    program = tmp_path / "embed_lines"
    subprocess.run([str(compiler), "-m", "ziglang", "cc", "-target", system.zig, "-dynamic", "-std=c99", "-O2", f"-I{ROOT}",
                    f"-I{ROOT / 'runtime' / 'include'}", str(HERE / "embed_lines.c"), f"-L{folder}", "-lembert_hosted", "-o",
                    str(program)], check=True)  # fmt: skip
    loader = [emulator_of(processor), str(root / "lib" / system.loader), "--library-path", str(folder)]
    with embert.SentenceTransformer(models("intent")) as model:
        ours = model.encode(lines.decode().splitlines()).tobytes()
    assert output([*loader, str(program), models("intent")], lines) == ours
