# SPDX-License-Identifier: Apache-2.0
"""Ray and Spark: whoever is killed, the output is complete and has the digest of the tool's vectors.

Sizes: 20,000 texts; with EMBERT_FULL=1 100,000 where one worker is killed half-way.
"""

import importlib.util
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
from typing import Any, List, NamedTuple

import embert
import pytest
from conftest import SHARED, TOOL
from corpus_runs import EXAMPLES, WORKERS, host_of, run

TEXTS = 20_000
FULL_TEXTS = 100_000
SHARDS = 50


class Corpus(NamedTuple):
    folder: pathlib.Path
    shard_texts: int
    digest: str  # of the tool's vectors


@pytest.fixture(params=["ray", "spark"])
def engine(request: pytest.FixtureRequest) -> str:
    packages = {"ray": ["ray"], "spark": ["pyspark", "pandas"]}[request.param]
    for package in [*packages, "pyarrow"]:
        if importlib.util.find_spec(package) is None:
            pytest.skip(f"!!!! SKIPPED: {package} is not installed; embedding with {request.param} is not tested")
    if request.param == "spark" and not (shutil.which("java") or os.environ.get("JAVA_HOME")):
        pytest.skip("!!!! SKIPPED: there is no Java; embedding with Spark is not tested")
    return str(request.param)


@pytest.fixture(scope="session")
def short_texts(intent_texts: List[str]) -> List[str]:
    """CLINC150, and of WikiText-2 the beginnings of paragraphs."""
    path = SHARED / "data" / "text" / "wikitext2" / "test.txt"
    if not path.exists():
        pytest.skip(f"!!!! SKIPPED: {path} does not exist; no corpus for Ray and Spark")
    lines = (line.strip() for line in path.read_text(encoding="utf-8").splitlines())
    return [*intent_texts, *(line[:160] for line in lines if len(line) > 20)]


@pytest.fixture(scope="session")
def corpus(tmp_path_factory: pytest.TempPathFactory, short_texts: List[str], sentence_model: str) -> Corpus:
    return make_corpus(tmp_path_factory.mktemp("corpus"), short_texts, TEXTS, sentence_model)


@pytest.fixture(scope="session")
def large_corpus(
    tmp_path_factory: pytest.TempPathFactory, short_texts: List[str], sentence_model: str, corpus: Corpus
) -> Corpus:
    if not os.environ.get("EMBERT_FULL"):
        return corpus
    return make_corpus(tmp_path_factory.mktemp("large"), short_texts, FULL_TEXTS, sentence_model)


def make_corpus(root: pathlib.Path, short_texts: List[str], count: int, model: str) -> Corpus:
    """A file of JSON Lines and a Parquet file; texts are repeated, with numbers. The tool makes the vectors to compare with."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    rows = [{"id": f"text-{i}", "text": f"{short_texts[i % len(short_texts)]} {i}"} for i in range(count)]
    folder = root / "input"
    folder.mkdir()
    lines = [json.dumps(row) + "\n" for row in rows]
    (folder / "first.jsonl").write_text("".join(lines[: count // 2]), encoding="utf-8")
    pq.write_table(pa.Table.from_pylist(rows[count // 2 :]), folder / "second.parquet", row_group_size=3_333)
    vectors = root / "vectors.npy"
    subprocess.run(
        [TOOL, "embed", model, "--jsonl", "--npy", str(vectors), "--threads", "0"], input="".join(lines), text=True, check=True
    )
    return Corpus(folder, count // SHARDS, digest_of(folder, "--npy", str(vectors)))


def digest_of(*arguments: Any) -> str:
    result = subprocess.run(
        [sys.executable, "-m", "corpus.digest", *map(str, arguments)],
        cwd=EXAMPLES,
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    return result.stdout.strip()


@pytest.fixture
def own_model(sentence_model: str, tmp_path: pathlib.Path) -> str:
    """A file that a test may replace, and whose mappings are those of its run."""
    return str(shutil.copy(sentence_model, tmp_path / "own.emb"))


def test_killed_worker(engine: str, large_corpus: Corpus, own_model: str, tmp_path: pathlib.Path) -> None:
    with run(engine, large_corpus.folder, tmp_path / "output", own_model, large_corpus.shard_texts) as running:
        workers = running.wait_for_workers(WORKERS)
        assert {mode[:3] for worker in workers for mode in worker.modes_of(own_model)} == {"r--"}, "it is mapped read-only"
        running.wait_for_shards(SHARDS // 2)
        workers[0].kill()
        assert len(running.finished()) < SHARDS, "the run was over before a worker could be killed"
        result = running.result()
    print(f"\n{engine}: {result}")
    assert len(running.finished()) == result["shards"] == SHARDS
    assert result["finished_before"] == 0
    assert result["digest"] == large_corpus.digest
    assert list((tmp_path / "output").glob(".*")) == [], "what the killed worker left is removed"


def test_killed_host(corpus: Corpus, own_model: str, tmp_path: pathlib.Path) -> None:
    """Spark: a Java process is killed with its Python worker."""
    if importlib.util.find_spec("pyspark") is None:
        pytest.skip("!!!! SKIPPED: pyspark is not installed; embedding with Spark is not tested")
    with run("spark", corpus.folder, tmp_path / "output", own_model, corpus.shard_texts) as running:
        worker = running.wait_for_workers(WORKERS)[0]
        host = host_of(worker)
        running.wait_for_shards(SHARDS // 4)
        host.kill()
        worker.kill()
        assert len(running.finished()) < SHARDS, "the run was over before a host could be killed"
        assert running.result()["digest"] == corpus.digest


def test_killed_driver(engine: str, corpus: Corpus, own_model: str, tmp_path: pathlib.Path) -> None:
    with run(engine, corpus.folder, tmp_path / "output", own_model, corpus.shard_texts) as running:
        running.wait_for_shards(SHARDS // 4)
        running.kill_driver()
        before = running.finished()
    assert SHARDS // 4 <= len(before) < SHARDS, "the driver was killed between the first and the last shard"
    with run(engine, corpus.folder, tmp_path / "output", own_model, corpus.shard_texts) as again:
        result = again.result()
    after = again.finished()
    assert result["finished_before"] == len(before) and result["digest"] == corpus.digest
    assert {name: after[name] for name in before} == before, "a finished shard was done again"
    assert list((tmp_path / "output").glob(".*")) == []
    # Nothing is left to do: no engine is started, and the digest is that of the files.
    with run(engine, corpus.folder, tmp_path / "output", own_model, corpus.shard_texts) as third:
        assert third.result() == {
            "texts": result["texts"],
            "shards": SHARDS,
            "finished_before": SHARDS,
            "digest": corpus.digest,
        }


def test_other_blob(engine: str, corpus: Corpus, own_model: str, models: Any, tmp_path: pathlib.Path) -> None:
    """The model file is replaced while a run goes on. Workers that have it open go on; those that start later are refused."""
    expected = embert.SentenceTransformer(own_model).digest
    found = embert.SentenceTransformer(models("sentence")).digest
    with run(engine, corpus.folder, tmp_path / "output", own_model, corpus.shard_texts) as running:
        running.wait_for_shards(1)
        shutil.copy(own_model, tmp_path / "first.emb")
        shutil.copy(models("sentence"), tmp_path / "other.emb")
        os.replace(tmp_path / "other.emb", own_model)
        for worker in running.workers():
            worker.kill()
        code, output = running.end()
        before = running.finished()
    assert code == 1 and len(before) < SHARDS and '"digest"' not in output
    assert re.search(rf"{own_model}: worker on \S+ refused: its model has SHA-256 {found}, the driver's has {expected}", output)
    with run(engine, corpus.folder, tmp_path / "output", own_model, corpus.shard_texts) as other:
        code, output = other.end()
    assert code == 1 and '"digest"' not in output
    assert f"_manifest.json: the output was begun with model_sha256 {expected}, this run has {found}" in output
    os.replace(tmp_path / "first.emb", own_model)
    with run(engine, corpus.folder, tmp_path / "output", own_model, corpus.shard_texts) as again:
        assert again.result()["digest"] == corpus.digest
    after = again.finished()
    assert {name: after[name] for name in before} == before
