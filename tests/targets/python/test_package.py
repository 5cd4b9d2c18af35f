# SPDX-License-Identifier: Apache-2.0
"""The package as installed: import, memory, types, files."""

import importlib.metadata
import json
import pathlib
import subprocess

import embert
import pytest
from conftest import ROOT, TOOL, run_python

MODULES_OF_OTHERS = {
    "torch",
    "transformers",
    "sentence_transformers",
    "tokenizers",
    "langchain_core",
    "llama_index",
    "haystack",
    "chromadb",
    "ray",
    "pyspark",
    "scipy",
    "sklearn",
    "tqdm",
    "asyncio",
    "multiprocessing",
    "hashlib",
}


def imported_by(code):
    loaded = run_python(f"import sys, numpy; before = set(sys.modules); {code}; print(*(set(sys.modules) - before))")
    return {name.split(".")[0] for name in loaded.stdout.split()}


def test_import_imports_nothing():
    assert imported_by("import embert") == {"embert"}


def test_names_are_imported_when_used():
    assert not imported_by("from embert import *") & MODULES_OF_OTHERS
    assert set(embert.__all__) == set(embert._MODULES) < set(dir(embert))


def test_metadata():
    assert embert.__version__ == importlib.metadata.version("embert")
    assert f"project(embert VERSION {embert.__version__}" in (ROOT / "CMakeLists.txt").read_text()
    [requirement] = importlib.metadata.requires("embert") or []
    assert requirement.startswith("numpy")
    assert not hasattr(embert, "no_such_name")


def test_files():
    files = [str(path) for path in importlib.metadata.files("embert") or []]
    for name in ("embert/py.typed", "embert/libembert_hosted.so"):
        assert name in files
    assert any(name.endswith("licenses/LICENSE") for name in files)
    folder = pathlib.Path(embert.__file__).parent
    assert sum(path.stat().st_size for path in folder.rglob("*") if path.suffix != ".pyc") < 12_000_000


def test_tool_is_installed():
    assert subprocess.run([TOOL, "--help"], capture_output=True).returncode == 0


def test_memory_does_not_grow(models, many_texts, tmp_path):
    """100,000 texts, results dropped by chunk: at most 2 MB more than after the first 10,000."""
    (tmp_path / "texts.json").write_text(json.dumps(many_texts))
    result = run_python(f"""
import json, embert
texts = json.load(open({str(tmp_path / "texts.json")!r}))
model = embert.SentenceTransformer({models("intent")!r}, threads=2)
def resident():
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) for line in file if line.startswith("VmRSS"))
for round in range(10):
    for i in range(0, len(texts), 1000):
        model.encode(texts[i:i + 1000])
    if round == 0:
        first = resident()
print(first, resident() - first)
""")
    print("KB after 10,000 texts, growth to 100,000:", result.stdout)
    assert int(result.stdout.split()[1]) <= 2048, result.stderr


def test_memory_of_json_tasks(models, intent_texts):
    result = run_python(f"""
import embert
texts = {intent_texts[:1000]!r}
classify = embert.pipeline("text-classification", {models("intent")!r})
tokenizer = embert.Tokenizer({models("intent")!r})
def resident():
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) for line in file if line.startswith("VmRSS"))
for round in range(20):
    classify(texts)
    tokenizer.encode_batch(texts)
    if round == 4:
        first = resident()
print(resident() - first)
""")
    assert int(result.stdout) <= 2048, result


def test_types():
    pytest.importorskip("mypy", reason="!!!! SKIPPED: no mypy, types were not checked")
    from mypy import api

    output, _, status = api.run(
        ["--config-file", str(ROOT / "targets/python/pyproject.toml"), str(ROOT / "targets/python/embert")]
    )
    assert status == 0, output


def test_readme_has_three_lines_to_a_vector(models, monkeypatch, tmp_path):
    """The first block of the README, with the folder of the test."""
    text = (ROOT / "targets" / "python" / "README.md").read_text(encoding="utf-8")
    code = text.split("```python\n")[1].split("```")[0]
    (tmp_path / "all-MiniLM-L6-v2").symlink_to(models.folder("sentence"))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    names = {}
    exec(code, names)
    assert names["vectors"].shape == (2, 32)
