# SPDX-License-Identifier: Apache-2.0
"""The examples' package without an engine: shards, what is refused, the output folder, the digest."""

import json
import pathlib
import sys
from typing import Any, Dict, Iterable, List

import embert
import numpy as np
import pytest

pa = pytest.importorskip("pyarrow", reason="!!!! SKIPPED: pyarrow is not installed; the examples' shards are not tested")
from corpus_runs import EXAMPLES  # noqa: E402

sys.path.insert(0, str(EXAMPLES))
import pyarrow.parquet as pq  # noqa: E402
from corpus import digest, driver, output, shards, worker  # noqa: E402

ROWS: List[Dict[str, Any]] = [{"id": i, "text": f"text {i} é\u2028東", "other": [i]} for i in range(23)]


class OneProcess:
    """The engine without an engine."""

    workers = 1

    def __init__(self, workers: int) -> None:
        pass

    def embed(self, work: worker.Work, shard_jsons: List[str]) -> Iterable[worker.Record]:
        only = worker.Worker(work)
        return [only.embed(shard) for shard in shard_jsons]

    def stop(self) -> None:
        pass


def write_json_lines(path: pathlib.Path, rows: Iterable[Any]) -> pathlib.Path:
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
    return path


def run_main(monkeypatch: pytest.MonkeyPatch, *arguments: Any) -> None:
    monkeypatch.setattr(sys, "argv", ["embed", *map(str, arguments)])
    driver.main("", OneProcess)


@pytest.mark.parametrize("shard_texts", [1, 5, 23, 100])
@pytest.mark.parametrize("suffix", ["jsonl", "parquet"])
def test_shards_are_the_rows_in_order(tmp_path: pathlib.Path, suffix: str, shard_texts: int) -> None:
    path = tmp_path / f"texts.{suffix}"
    if suffix == "jsonl":
        write_json_lines(path, ROWS)
    else:
        pq.write_table(pa.Table.from_pylist(ROWS), path, row_group_size=4)
    files, parts = shards.plan(path, shard_texts)
    assert [file.rows for file in files] == [len(ROWS)]
    assert sorted(part.name for part in parts) == [part.name for part in parts]
    read = [shards.read(shards.Shard.from_json(part.to_json()), "text") for part in parts]
    assert max(len(ids) for ids, _ in read) <= shard_texts
    assert [identity for ids, _ in read for identity in ids] == [str(row["id"]) for row in ROWS]
    assert [text for _, texts in read for text in texts] == [row["text"] for row in ROWS]


def test_last_line_without_end_and_rows_without_id(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "texts.jsonl"
    path.write_text('{"text": "a"}\n{"text": "b"}', encoding="utf-8")
    assert shards.read(shards.plan(path, 10)[1][0], "text") == (["texts.jsonl:0", "texts.jsonl:1"], ["a", "b"])


@pytest.mark.parametrize(
    "line, message",
    [
        ('{"text": null}', "row 1: text: a string is expected, found a null or nothing"),
        ('{"other": "a"}', "row 1: text: a string is expected, found a null or nothing"),
        ('{"text": 3}', "row 1: text: a string is expected, found int"),
        ('["text"]', "row 1: a JSON object is expected"),
        ("{", "row 1: it is no JSON"),
        ("", "row 1: it is no JSON"),
    ],
)
def test_wrong_rows(tmp_path: pathlib.Path, line: str, message: str) -> None:
    path = tmp_path / "texts.jsonl"
    path.write_text(f'{{"text": "a"}}\n{line}\n{{"text": "c"}}\n', encoding="utf-8")
    with pytest.raises(ValueError, match=f"{path}: {message}"):
        shards.read(shards.plan(path, 10)[1][0], "text")


def test_wrong_inputs(tmp_path: pathlib.Path) -> None:
    with pytest.raises(ValueError, match="a folder of them, is expected"):
        shards.plan(tmp_path, 10)
    (tmp_path / "texts.csv").write_text("a")
    with pytest.raises(ValueError, match="texts.csv: a file"):
        shards.plan(tmp_path / "texts.csv", 10)
    (tmp_path / "no.parquet").write_text("a")
    with pytest.raises(ValueError, match="no.parquet: it is no Parquet file"):
        shards.plan(tmp_path / "no.parquet", 10)
    pq.write_table(pa.table({"body": ["a"]}), tmp_path / "no.parquet")
    with pytest.raises(ValueError, match="it has no column text; it has body"):
        shards.read(shards.plan(tmp_path / "no.parquet", 10)[1][0], "text")
    path = write_json_lines(tmp_path / "texts.jsonl", ROWS)
    part = shards.plan(path, 100)[1][0]
    write_json_lines(path, ROWS[:5])
    with pytest.raises(ValueError, match="it was changed: 23 rows from 0 are expected, found 5"):
        shards.read(part, "text")


def test_runs(tmp_path: pathlib.Path, models: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    source = tmp_path / "input"
    source.mkdir()
    write_json_lines(source / "a.jsonl", ROWS[:10])
    pq.write_table(pa.Table.from_pylist(ROWS[10:]), source / "b.parquet")
    with embert.SentenceTransformer(models("sentence")) as model:
        vectors = model.encode_document([row["text"] for row in ROWS])
    expected = digest.OutputDigest()
    expected.add([str(row["id"]) for row in ROWS], [row["text"] for row in ROWS], vectors)

    run_main(monkeypatch, source, tmp_path / "output", "--model", models("sentence"), "--shard-texts", 4)
    result = json.loads(capsys.readouterr().out)
    assert result["digest"] == expected.hexdigest()
    assert (result["texts"], result["shards"], result["finished_before"]) == (23, 7, 0)
    table = pq.read_table(tmp_path / "output")
    assert table.column_names == ["id", "text", "vector"]
    found = dict(zip(table["id"].to_pylist(), table["vector"].to_pylist()))
    assert all(np.array_equal(np.array(found[str(i)], np.float32), vectors[i]) for i in range(len(ROWS)))

    # A missing shard is done again, to the same bytes; another size of shards gives the same digest.
    lost = tmp_path / "output" / "a.jsonl.000000000004.parquet"
    before = lost.read_bytes()
    lost.unlink()
    (tmp_path / "output" / f"{output.UNFINISHED}killed").write_text("half")
    run_main(monkeypatch, source, tmp_path / "output", "--model", models("sentence"), "--shard-texts", 4)
    again = json.loads(capsys.readouterr().out)
    assert again["finished_before"] == 6 and again["digest"] == expected.hexdigest() and lost.read_bytes() == before
    assert not list((tmp_path / "output").glob(".*"))
    run_main(monkeypatch, source, tmp_path / "second", "--model", models("sentence"), "--shard-texts", 9)
    assert json.loads(capsys.readouterr().out)["digest"] == expected.hexdigest()


@pytest.mark.parametrize(
    "change, message",
    [
        ("input", "begun with files {'name': 'texts.jsonl', 'rows': 23"),
        ("model", "begun with model_sha256"),
        ("shards", "begun with shard_texts 4, this run has 5"),
        ("column", "begun with text_column text, this run has other"),
        ("foreign", "it has files but no _manifest.json"),
    ],
)
def test_refused_resumes(
    tmp_path: pathlib.Path, models: Any, monkeypatch: pytest.MonkeyPatch, change: str, message: str
) -> None:
    source = write_json_lines(tmp_path / "texts.jsonl", ROWS)
    folder = tmp_path / "output"
    arguments = [source, folder, "--model", models("sentence"), "--shard-texts", 4]
    run_main(monkeypatch, *arguments)
    before = {path.name: path.stat().st_mtime_ns for path in folder.iterdir()}
    if change == "input":
        write_json_lines(source, [{**ROWS[0], "text": "another"}, *ROWS[1:]])
    elif change == "model":
        arguments[3] = models("unnormalized")
    elif change == "shards":
        arguments[5] = 5
    elif change == "column":
        arguments += ["--text", "other"]
    else:
        (folder / "_manifest.json").unlink()
        del before["_manifest.json"]
    with pytest.raises(SystemExit, match=message):
        run_main(monkeypatch, *arguments)
    assert {path.name: path.stat().st_mtime_ns for path in folder.iterdir()} == before


def test_errors_of_workers_end_the_run(tmp_path: pathlib.Path, models: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    source = write_json_lines(tmp_path / "texts.jsonl", [*ROWS[:5], {"text": 7}])
    with pytest.raises(SystemExit, match="row 5: text: a string is expected, found int"):
        run_main(monkeypatch, source, tmp_path / "output", "--model", models("sentence"), "--shard-texts", 2)
    assert output.finished(tmp_path / "output") == {"texts.jsonl.000000000000.parquet", "texts.jsonl.000000000002.parquet"}


def test_another_model_is_refused(tmp_path: pathlib.Path, models: Any) -> None:
    work = worker.Work(models("sentence"), "0" * 64, str(tmp_path), "text")
    with pytest.raises(
        embert.ModelFileError, match=rf"{models('sentence')}: worker on \S+ refused: .* the driver's has 0{{64}}"
    ):
        worker.open_model(work)


@pytest.mark.parametrize("option", ["--shard-texts", "--workers"])
@pytest.mark.parametrize("number", ["0", "-1", "x"])
def test_numbers_below_one_are_refused(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], option: str, number: str
) -> None:
    path = write_json_lines(tmp_path / "texts.jsonl", ROWS)
    with pytest.raises(SystemExit) as end:
        run_main(monkeypatch, path, tmp_path / "out", "--model", "m.emb", option, number)
    assert end.value.code == 2 and option in capsys.readouterr().err
    assert not (tmp_path / "out").exists()
