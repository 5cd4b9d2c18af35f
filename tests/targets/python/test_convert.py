# SPDX-License-Identifier: Apache-2.0
"""Conversion, the cache of converted folders, inspect and verify."""

import pathlib
import resource
import shutil
import subprocess
import sys

import embert
import numpy as np
import pytest
from conftest import TOOL, run_python
from embert import _folder_cache


def test_report_and_progress(models, tmp_path):
    seen = []
    out = tmp_path / "out.emb"
    report = embert.convert(models.folder("sentence"), out, progress=lambda stage, done: seen.append((stage, done)))
    assert out.stat().st_size == report["blob_bytes"]
    assert seen and all(isinstance(stage, str) and 0 <= done <= 1 for stage, done in seen)
    again = tmp_path / "again.emb"
    embert.convert(str(models.folder("sentence")), str(again), threads=1)
    assert again.read_bytes() == out.read_bytes()
    by_tool = tmp_path / "tool.emb"
    subprocess.run([TOOL, "convert", models.folder("sentence"), "-o", by_tool], check=True, capture_output=True)
    assert by_tool.read_bytes() == out.read_bytes()


def test_options(models, tmp_path):
    texts = tmp_path / "texts.txt"
    texts.write_text("the cat sat on the mat\na dog in the fog\n" * 20)
    report = embert.convert(
        models.folder("sentence"), tmp_path / "out.emb", rounding="nearest", calibration=texts, max_tokens=32
    )
    assert report["calibration"]["texts"] == 35 and report["rounding"] == "nearest"
    with embert.SentenceTransformer(tmp_path / "out.emb") as model:
        assert model.max_seq_length == 32


def test_pruned_vocabulary(models, tmp_path):
    texts = tmp_path / "texts.txt"
    texts.write_text("the cat sat on the mat\n")
    folder = models.folder("intent")
    reports = [
        embert.convert(folder, tmp_path / "out.emb", rounding="nearest", **options)
        for options in ({}, {"keep_vocabulary": texts}, {"scripts": ["Latin", "Common"]}, {"vocabulary_size": 1000})
    ]
    assert "vocabulary" not in reports[0]["certificate"]
    kept = [report["certificate"]["vocabulary"]["kept_tokens"] for report in reports[1:]]
    assert kept[0] < 1000 == kept[2]
    assert all(reports[i]["blob_bytes"] < reports[0]["blob_bytes"] for i in (1, 3))


def test_pruned_vocabulary_refuses_bad_arguments(models, tmp_path):
    folder = models.folder("intent")
    with pytest.raises(TypeError, match="scripts is a string"):
        embert.convert(folder, tmp_path / "m.emb", scripts="Latin")
    with pytest.raises(ValueError, match="Elvish"):
        embert.convert(folder, tmp_path / "m.emb", scripts=["Elvish"])
    with pytest.raises(ValueError, match="^vocabulary_size="):
        embert.convert(folder, tmp_path / "m.emb", vocabulary_size=0)
    with pytest.raises(FileNotFoundError, match="texts.txt"):
        embert.convert(folder, tmp_path / "m.emb", keep_vocabulary=tmp_path / "texts.txt")
    assert not list(tmp_path.iterdir())


def test_embeddings_of_four_bits(models, tmp_path):
    folder, out = models.folder("sentence"), tmp_path / "out.emb"
    large = embert.convert(folder, out, rounding="nearest")
    small = embert.convert(folder, out, rounding="nearest", embeddings="4bit")
    assert small["bytes"]["embeddings"] < large["bytes"]["embeddings"]
    assert small["certificate"]["with_8bit_embeddings"] == large["certificate"]["held_out"]


def test_exception_of_progress_ends_it(models, tmp_path):
    def stop(_stage, _done):
        raise KeyError("enough")

    with pytest.raises(KeyError, match="enough"):
        embert.convert(models.folder("sentence"), tmp_path / "out.emb", progress=stop)
    assert list(tmp_path.iterdir()) == []


def test_full_disk(models, tmp_path):
    """A limit of the size of files stands for a full disk: what was there stays, and nothing half-written is left."""
    out = tmp_path / "out.emb"
    out.write_bytes(b"what was there")
    code = f"""
import resource, signal, embert
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (20000, resource.RLIM_INFINITY))
try:
    embert.convert({str(models.folder("sentence"))!r}, {str(out)!r}, rounding="nearest")
except OSError as error:
    print("OSError:", error)
"""
    result = run_python(code)
    assert result.stdout.startswith("OSError:") and str(out) in result.stdout and result.stdout.count("\n") == 1, result
    assert out.read_bytes() == b"what was there" and [path.name for path in tmp_path.iterdir()] == ["out.emb"]
    assert resource.getrlimit(resource.RLIMIT_FSIZE)[0] == resource.RLIM_INFINITY


def test_folder_is_converted_once(models, tmp_path, capfd):
    folder, cache = models.folder("sentence"), tmp_path / "cache"
    with embert.SentenceTransformer(folder, cache_folder=cache) as model:
        [file] = cache.iterdir()
        assert model.path == str(file) and file.name.startswith("sentence-") and file.suffix == ".emb"
        first = model.encode("a cat")
    assert "converting" in capfd.readouterr().err
    made = file.stat().st_mtime_ns
    with embert.Tokenizer(folder, cache_folder=cache), embert.SentenceTransformer(folder, cache_folder=cache) as model:
        assert np.array_equal(model.encode("a cat"), first)
    assert file.stat().st_mtime_ns == made and capfd.readouterr().err == ""


def test_folder_without_stderr(models, tmp_path):
    """Python then has None for it."""
    code = "import embert, sys; print(embert.SentenceTransformer(sys.argv[1], cache_folder=sys.argv[2]).encode('a cat').shape)"
    command = 'exec "$@" 2>&-'
    result = subprocess.run(
        ["sh", "-c", command, "sh", sys.executable, "-c", code, str(models.folder("sentence")), str(tmp_path / "cache")],
        stdout=subprocess.PIPE,
        text=True,
    )
    assert result.stdout == "(32,)\n" and result.returncode == 0, result


def test_another_folder_is_another_file(models, tmp_path):
    folder, cache = tmp_path / "model", tmp_path / "cache"
    shutil.copytree(models.folder("sentence"), folder)
    embert.Tokenizer(folder, cache_folder=cache).close()
    (folder / "README.md").write_text("no part of the model")
    embert.Tokenizer(folder, cache_folder=cache).close()
    assert len(list(cache.iterdir())) == 1
    (folder / "1_Pooling" / "config.json").write_text(
        (folder / "1_Pooling" / "config.json")
        .read_text()
        .replace('"pooling_mode_cls_token": false', '"pooling_mode_cls_token": true')
        .replace('"pooling_mode_mean_tokens": true', '"pooling_mode_mean_tokens": false')
    )
    embert.Tokenizer(folder, cache_folder=cache).close()
    assert len(list(cache.iterdir())) == 2


def test_modules_may_lie_deep(models, tmp_path):
    folder, cache = tmp_path / "model", tmp_path / "cache"
    shutil.copytree(models.folder("sentence"), folder)
    deep = folder / "some" / ".modules" / "pooling"
    deep.parent.mkdir(parents=True)
    (folder / "1_Pooling").rename(deep)
    modules = folder / "modules.json"
    modules.write_text(modules.read_text().replace("1_Pooling", "some/.modules/pooling"))
    (folder / "some" / "circle").symlink_to(folder, target_is_directory=True)
    (folder / "some" / "round").symlink_to(folder / "some", target_is_directory=True)
    with embert.SentenceTransformer(folder, cache_folder=cache) as model:
        mean = model.encode("a cat")
    config = deep / "config.json"
    config.write_text(
        config.read_text()
        .replace('"pooling_mode_cls_token": false', '"pooling_mode_cls_token": true')
        .replace('"pooling_mode_mean_tokens": true', '"pooling_mode_mean_tokens": false')
    )
    with embert.SentenceTransformer(folder, cache_folder=cache) as model:
        assert not np.array_equal(model.encode("a cat"), mean)


@pytest.mark.parametrize("name", ["sentencepiece.bpe.model", "spiece.model", "shards/of/model-1.safetensors"])
def test_every_file_of_a_model_counts(tmp_path, name):
    path = tmp_path / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"one")
    before = _folder_cache._folder_digest(str(tmp_path))
    path.write_bytes(b"two")
    assert _folder_cache._folder_digest(str(tmp_path)) != before


def test_folder_of_too_many_files(models, tmp_path, monkeypatch):
    folder = tmp_path / "model"
    shutil.copytree(models.folder("sentence"), folder)
    monkeypatch.setattr(_folder_cache, "_MOST_FILES", 20)
    embert.Tokenizer(folder, cache_folder=tmp_path / "cache").close()
    for i in range(5):  # links that all lead to each other: 5 x 4 x 3 x 2 ways through them
        (folder / f"{i}").mkdir()
        for k in range(5):
            (folder / f"{i}" / f"{k}").symlink_to(folder / f"{k}", target_is_directory=True)
    with pytest.raises(embert.ModelFileError, match="more than 20 files and folders"):
        embert.Tokenizer(folder, cache_folder=tmp_path / "cache")


def test_default_cache(models, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    with embert.SentenceTransformer(models.folder("sentence")) as model:
        assert pathlib.Path(model.path).parent == tmp_path / "xdg" / "embert"
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    with embert.SentenceTransformer(models.folder("sentence")) as model:
        assert pathlib.Path(model.path).parent == tmp_path / "home" / ".cache" / "embert"


def test_several_processes_convert_once(models, tmp_path):
    code = f"""
import embert
print(embert.SentenceTransformer({str(models.folder("sentence"))!r}, cache_folder={str(tmp_path)!r}).digest)
"""
    processes = [
        subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for _ in range(4)
    ]
    results = [process.communicate(timeout=300) for process in processes]
    assert len({out for out, _ in results}) == 1 and len(results[0][0]) == 65
    assert "".join(err for _, err in results).count("converting") == 1
    assert len(list(tmp_path.iterdir())) == 1


def test_inspect(models):
    facts = embert.inspect(models("prompted"))
    assert facts["header"]["hidden_size"] == 32 and "embed" in facts["tasks"]
    assert facts["prompts"] == {"query": "query: ", "passage": "passage: ", "clustering": "cat "}
    assert facts["default_prompt_name"] == "clustering"
    assert embert.inspect(pathlib.Path(models("ner")))["token_labels"] == ["O", "B-PER", "I-PER", "B-LOC", "I-LOC"]


def test_verify(models):
    texts = ["the cat sat on the mat", "a dog in the fog", "where is paris?"]
    result = embert.verify(models("sentence"), models.folder("sentence"), texts)
    assert result["compared"] == "embeddings" and result["texts"] == 3 and result["cosine_mean"] > 0.99
    with embert.SentenceTransformer(models("sentence")) as model:
        assert embert.verify(model, models.folder("sentence"), texts) == result


@pytest.mark.parametrize("threads", [float("nan"), 0, -1, True, "2"])
def test_convert_refuses_numbers_by_name(models, tmp_path, threads):
    with pytest.raises(ValueError, match=r"^threads="):
        embert.convert(models.folder("intent"), tmp_path / "m.emb", threads=threads)
    assert not list(tmp_path.iterdir())


def test_missing_calibration_file_is_named(models, tmp_path):
    with pytest.raises(FileNotFoundError, match="texts.txt"):
        embert.convert(models.folder("intent"), tmp_path / "m.emb", calibration=tmp_path / "texts.txt")
    assert not list(tmp_path.iterdir())
