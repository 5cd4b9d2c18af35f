#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The pages of `convert --report` and `verify --report`: whole, self-contained, with every number.   report_test.py EMBERT"""

from __future__ import annotations

import json
import pathlib
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree as ET
from typing import Any, Callable, ClassVar, List, Optional, Set

ROOT = pathlib.Path(__file__).resolve().parents[3]
FOLDER = ROOT / "targets/demo/tiny-intent"
TOOL = ""
HOSTILE = "</td><script>alert(1)</script>\"'&<img src=x onerror=y>"


def run(
    *arguments: object, before: Optional[Callable[[], None]] = None, stdin: Any = None
) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [TOOL, *map(str, arguments)], capture_output=True, text=True, preexec_fn=before, check=False, stdin=stdin
    )


def numbers_of(value: Any) -> Set[float]:
    """All numbers in JSON."""
    if isinstance(value, bool):
        return set()
    if isinstance(value, (int, float)):
        return {float(value)}
    below = value.values() if isinstance(value, dict) else value if isinstance(value, list) else []
    return set().union(*map(numbers_of, below)) if below else set()


def page_of(path: pathlib.Path) -> ET.Element:
    """Fails unless each element is closed and each '<' and '&' of a text is escaped."""
    text = path.read_text(encoding="utf-8")
    assert text.startswith("<!DOCTYPE html>\n") and text.endswith("</html>\n")
    return ET.fromstring(text.split("\n", 1)[1])


class Reports(unittest.TestCase):
    scratch: ClassVar[pathlib.Path]
    model: ClassVar[pathlib.Path]
    labelled: ClassVar[pathlib.Path]
    holder: ClassVar["tempfile.TemporaryDirectory[str]"]

    @classmethod
    def setUpClass(cls) -> None:
        cls.holder = tempfile.TemporaryDirectory()
        cls.scratch = pathlib.Path(cls.holder.name)
        cls.model = cls.scratch / "intent.emb"
        cls.made = run(
            "convert", FOLDER, "-o", cls.model, "--report", cls.scratch / "convert.html", "--json", "--precision", "balanced"
        )
        rows = (ROOT / "tests/data/tiny-intent/test.tsv").read_text(encoding="utf-8").splitlines()[1::20]
        cls.labelled = cls.scratch / "labelled.tsv"
        cls.labelled.write_text("".join("\t".join(row.split("\t")[1:3]) + "\n" for row in rows), encoding="utf-8")

    made: ClassVar["subprocess.CompletedProcess[str]"]

    @classmethod
    def tearDownClass(cls) -> None:
        cls.holder.cleanup()

    def verify(self, *more: object, **options: Any) -> "subprocess.CompletedProcess[str]":
        return run("verify", self.model, FOLDER, *more, **options)

    def check_page(self, path: pathlib.Path, data: Any) -> ET.Element:
        page = page_of(path)
        self.assertEqual({node.tag for node in page.iter()} & {"script", "link", "img", "iframe", "object", "form"}, set())
        for node in page.iter():
            for name, value in node.attrib.items():
                self.assertFalse(name.startswith("on") or name in ("src", "style"), name)
                self.assertTrue(name != "href" or value.startswith("#"), value)
        self.assertNotRegex(path.read_text(encoding="utf-8"), r"https?:|url\(|@import")
        self.assertIn("prefers-color-scheme: dark", path.read_text(encoding="utf-8"))
        targets = {node.attrib["id"] for node in page.iter("section")}
        self.assertEqual({node.attrib["href"][1:] for node in page.iter("a")}, targets, "the list of sections")
        shown = {float(node.attrib["value"]) for node in page.iter("data")}
        self.assertEqual(numbers_of(data) - shown, set(), "numbers of the JSON that the page lacks")
        self.assertEqual(shown - numbers_of(data), set(), "numbers of the page that the JSON lacks")
        return page

    def headings(self, page: ET.Element) -> List[str]:
        return ["".join(node.itertext()) for node in page.iter("h3")]

    def test_convert(self) -> None:
        self.assertEqual(self.made.returncode, 0, self.made.stderr)
        data = json.loads(self.made.stdout)
        page = self.check_page(self.scratch / "convert.html", data)
        headings = self.headings(page)
        for heading in (
            "Cosine between the two models, text by text",
            "Worst texts",
            "Error from layer to layer",
            "Rounding of the weights",
            "How far the inputs of the dense layers reach",
            "Inputs of 16 bits, and inputs read twice",
            "Map of the file",
            "The arena over a pass",
            "Time of one text",
        ):
            self.assertIn(heading, headings)
        held_out = data["held_out"]
        self.assertEqual(sum(column["texts"] for column in held_out["histogram"]), held_out["texts"])
        self.assertAlmostEqual(held_out["cosine_mean"], data["certificate"]["held_out"]["cosine_mean"], 5)
        self.assertEqual(len(held_out["hidden_errors"]), 1 + len(data["layer_errors"]))
        self.assertTrue(any(node.attrib.get("class") == "bought" for node in page.iter("span")))

    def test_arena_is_that_of_the_runtime(self) -> None:
        arena = json.loads(self.made.stdout)["arena"]
        at = 0
        for area in arena["areas"]:  # they fill the arena without a gap
            self.assertEqual(area["offset"], at)
            at += area["bytes"]
        self.assertEqual(at, arena["bytes"])
        names = [step["step"] for step in arena["steps"]]
        self.assertEqual(names[0], "embeddings")
        self.assertEqual(names[1:4], ["layer 0: attention", "layer 0: attention output", "layer 0: feed-forward network"])
        self.assertEqual(len(names), 7)
        place = {area["name"]: area for area in arena["areas"]}

        def writes(step: int, area: str) -> bool:
            begin, end = place[area]["offset"], place[area]["offset"] + place[area]["bytes"]
            return any(one["offset"] < end and one["offset"] + one["bytes"] > begin for one in arena["steps"][step]["written"])

        self.assertTrue(writes(0, "residual"))
        self.assertFalse(writes(0, "context, feed-forward rows"), "embeddings go into the residual")
        self.assertFalse(writes(1, "residual"), "attention writes its context beside the residual")
        self.assertTrue(writes(1, "context, feed-forward rows"))
        self.assertTrue(writes(1, "scratch of thread 0") and writes(1, "scratch of thread 1"))
        self.assertTrue(writes(2, "residual") and writes(3, "residual"))

    def test_verify(self) -> None:
        path = self.scratch / "verify.html"
        result = self.verify("--labelled", self.labelled, "--max-loss", "0.05", "--report", path, "--json")
        self.assertEqual(result.returncode, 0, result.stderr)
        data = json.loads(result.stdout)
        page = self.check_page(path, data)
        self.assertIn("How good both models are", self.headings(page))
        self.assertEqual(
            [node.attrib["class"] for node in page.iter("p") if "verdict" in node.attrib.get("class", "")], ["verdict pass"]
        )
        self.assertEqual(len(data["differing"]) > 0, "Answers that changed" in self.headings(page))
        # Without a page the JSON is the same but for what is measured for the page.
        plain = json.loads(self.verify("--labelled", self.labelled, "--max-loss", "0.05", "--json").stdout)
        self.assertEqual({key: data[key] for key in plain}, plain)

    def test_tags(self) -> None:
        folder = self.scratch / "tagger"
        shutil.copytree(FOLDER, folder)
        config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
        config["architectures"] = ["BertForTokenClassification"]
        config["id2label"] = {key: f"B-{label}" for key, label in config["id2label"].items()}
        config["label2id"] = {label: int(key) for key, label in config["id2label"].items()}
        (folder / "config.json").write_text(json.dumps(config), encoding="utf-8")
        model, tags, path = self.scratch / "tagger.emb", self.scratch / "tags.tsv", self.scratch / "tags.html"
        self.assertEqual(run("convert", folder, "-o", model, "--rounding", "nearest").returncode, 0)
        tags.write_text("wake\tB-alarm\nme\tO\n\nplay\tB-play_music\njazz\tO\n", encoding="utf-8")
        result = run("verify", model, folder, "--labelled", tags, "--report", path, "--json")
        self.assertEqual(result.returncode, 0, result.stderr)
        data = json.loads(result.stdout)
        self.assertIn("precision", data)
        self.check_page(path, data)

    def test_texts_and_labels_are_escaped(self) -> None:
        folder = self.scratch / "hostile <b>&folder"
        shutil.copytree(FOLDER, folder)
        config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
        config["id2label"] = {key: HOSTILE + key for key in config["id2label"]}
        config["label2id"] = {label: int(key) for key, label in config["id2label"].items()}
        (folder / "config.json").write_text(json.dumps(config), encoding="utf-8")
        model, texts = self.scratch / "hostile <i>.emb", self.scratch / "hostile.txt"
        self.assertEqual(run("convert", folder, "-o", model, "--rounding", "nearest").returncode, 0)
        texts.write_bytes((HOSTILE + " \u202e\x1b[31m\x07 caf\u00e9\n" + "a" * 3000 + "\n]]>\n").encode())
        path = self.scratch / "hostile.html"
        result = run("verify", model, folder, "--texts", texts, "--report", path, "--json")
        self.assertEqual(result.returncode, 0, result.stderr)
        page = self.check_page(path, json.loads(result.stdout))
        said = "".join(page.itertext())
        self.assertIn(HOSTILE + " ", said)
        self.assertRegex(said, re.escape(HOSTILE) + r"\d")
        self.assertNotRegex(said, r"[\x00-\x08\x0b-\x1f\x7f]")

    def test_a_report_that_cannot_be_written_is_refused_before_the_work(self) -> None:
        model, texts = self.scratch / "new.emb", self.scratch / "some.txt"
        texts.write_text("a text\n", encoding="utf-8")
        refusals = [
            (self.scratch, "directory"),
            (self.scratch / "no/such/report.html", "cannot"),
            ("-", "expected the name of a file"),
            ("", "expected the name of a file"),
            (FOLDER / "model.safetensors", "is a file of the model folder"),
        ]
        for path, part in refusals:
            for call in (("convert", FOLDER, "-o", model), ("verify", self.model, FOLDER, "--texts", texts)):
                with self.subTest(path=str(path), command=call[0]):
                    result = run(*call, "--report", path)
                    self.assertEqual(result.returncode, 1, result.stderr)
                    self.assertIn(part, result.stderr)
                    self.assertEqual((result.stdout, result.stderr.count("\n"), model.exists()), ("", 1, False))
        for path, part in ((self.model, "the call reads this file as MODEL"), (texts, "the call reads this file as --texts")):
            result = self.verify("--texts", texts, "--report", path)
            self.assertEqual((result.returncode, part in result.stderr), (1, True), result.stderr)
        with texts.open("rb") as lines:
            result = run("verify", self.model, FOLDER, "--texts", "-", "--report", texts, stdin=lines)
        self.assertEqual((result.returncode, "the call reads this file as stdin" in result.stderr), (1, True), result.stderr)
        result = run("convert", FOLDER, "-o", "-")
        self.assertEqual((result.returncode, "expected the name of a file" in result.stderr), (1, True), result.stderr)
        both = self.scratch / "both.html"
        result = self.verify("--texts", texts, "--report", both, "--output", both)
        self.assertEqual(result.returncode, 1, result.stderr)
        self.assertIn("both.html", result.stderr)
        self.assertFalse(both.exists())

    def test_an_existing_report_survives_a_failed_run(self) -> None:
        folder = self.scratch / "kept"
        folder.mkdir()
        report, model = folder / "report.html", folder / "m.emb"
        report.write_text("old", encoding="utf-8")
        bad = self.scratch / "bad.tsv"
        bad.write_text("a\ttimer\nb\tno such label\n", encoding="utf-8")

        def full_disk() -> None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))

        self.assertEqual(self.verify("--labelled", bad, "--report", report).returncode, 2)
        self.assertEqual(self.verify("--labelled", self.labelled, "--report", report, before=full_disk).returncode, 3)
        self.assertEqual(run("convert", folder, "-o", model, "--report", report).returncode, 2)
        self.assertEqual(report.read_text(encoding="utf-8"), "old")
        self.assertEqual([path.name for path in folder.iterdir()], ["report.html"])
        # A model whose report can not be written does not replace the old one.
        model.write_text("old", encoding="utf-8")
        self.assertEqual(run("convert", FOLDER, "-o", model, "--rounding", "nearest", "--report", "/dev/full").returncode, 3)
        self.assertEqual(model.read_text(encoding="utf-8"), "old")

    def test_a_failed_verdict_is_reported(self) -> None:
        folder = self.scratch / "damaged"
        shutil.copytree(FOLDER, folder)
        weights = bytearray((folder / "model.safetensors").read_bytes())
        middle = len(weights) // 2 // 4 * 4
        weights[middle : middle + 200000] = bytes(200000)
        (folder / "model.safetensors").write_bytes(weights)
        model, path = self.scratch / "damaged.emb", self.scratch / "failed.html"
        self.assertEqual(run("convert", folder, "-o", model, "--rounding", "nearest").returncode, 0)
        result = run("verify", model, FOLDER, "--labelled", self.labelled, "--max-loss", "0.01", "--report", path)
        self.assertEqual(result.returncode, 2, result.stderr)
        verdicts = [node.attrib["class"] for node in page_of(path).iter("p") if "verdict" in node.attrib.get("class", "")]
        self.assertEqual(verdicts, ["verdict fail"])

    def test_another_name_gives_json(self) -> None:
        path = self.scratch / "report.json"
        result = self.verify("--labelled", self.labelled, "--report", path, "--json")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(json.loads(path.read_text(encoding="utf-8")), json.loads(result.stdout))


if __name__ == "__main__":
    TOOL = str(pathlib.Path(sys.argv.pop(1)).resolve())
    unittest.main(verbosity=2)
