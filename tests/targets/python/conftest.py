# SPDX-License-Identifier: Apache-2.0
"""The tests run against the installed package: pip install ./targets/python && pytest tests/targets/python"""

import json
import os
import pathlib
import subprocess
import sys
import sysconfig
from typing import Any, Callable, Dict, List

import embert
import model_folders
import pytest

ROOT = pathlib.Path(__file__).resolve().parents[3]
SHARED = pathlib.Path(os.environ.get("EMBERT_SHARED_DIR", ROOT.parent / "shared"))
TINY_INTENT = ROOT / "targets" / "demo" / "tiny-intent"
TOOL = os.path.join(sysconfig.get_path("scripts"), "embert")

FOLDERS: Dict[str, Callable[[pathlib.Path], pathlib.Path]] = {
    "sentence": model_folders.sentence_model,
    "prompted": lambda folder: model_folders.sentence_model(
        folder, {"query": "query: ", "passage": "passage: ", "clustering": "cat "}, "clustering"
    ),
    "unnormalized": lambda folder: model_folders.sentence_model(folder, normalize=False),
    "labels": lambda folder: model_folders.classifier(folder, ["good", "bad", "ugly"]),
    "rerank": lambda folder: model_folders.classifier(folder, ["LABEL_0"]),
    "ner": model_folders.token_classifier,
    "qa": model_folders.question_answerer,
    "mask": model_folders.masked_language_model,
    "decoder": model_folders.decoder,
    "pair": model_folders.encoder_decoder,
}


class Models:
    """Folders and model files, each made when a test first asks for it."""

    def __init__(self, root: pathlib.Path) -> None:
        self._root = root

    def folder(self, name: str) -> pathlib.Path:
        if name == "intent":
            return TINY_INTENT
        folder = self._root / name
        return folder if folder.exists() else FOLDERS[name](folder)

    def __call__(self, name: str) -> str:
        path = self._root / f"{name}.emb"
        if not path.exists():
            embert.convert(self.folder(name), path, rounding="nearest")
        return str(path)


@pytest.fixture(scope="session")
def models(tmp_path_factory: pytest.TempPathFactory) -> Models:
    return Models(tmp_path_factory.mktemp("models"))


@pytest.fixture(scope="session")
def minilm(tmp_path_factory: pytest.TempPathFactory) -> str:
    """all-MiniLM-L6-v2, converted."""
    folder = minilm_folder()
    path = tmp_path_factory.mktemp("minilm") / "minilm.emb"
    embert.convert(folder, path, rounding="nearest")
    return str(path)


def minilm_folder() -> pathlib.Path:
    folder = os.environ.get("EMBERT_MINILM_DIR")
    if not folder:
        pytest.skip("!!!! SKIPPED: EMBERT_MINILM_DIR names no folder of all-MiniLM-L6-v2; nothing is said about it")
    return pathlib.Path(folder)


@pytest.fixture(scope="session")
def sentence_model(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A model whose vectors tell what a text is about: all-MiniLM-L6-v2, else the bundled tiny-embed."""
    folder = os.environ.get("EMBERT_MINILM_DIR") or ROOT / "targets" / "web" / "tiny-embed"
    path = tmp_path_factory.mktemp("sentence") / "sentence.emb"
    embert.convert(folder, path, rounding="nearest")
    return str(path)


@pytest.fixture(scope="session")
def intent_texts() -> List[str]:
    """4,500 texts of 1 to 30 words."""
    lines = (ROOT / "tests" / "data" / "tiny-intent" / "test.tsv").read_text(encoding="utf-8").splitlines()
    return [max(line.split("\t"), key=len) for line in lines]


@pytest.fixture(scope="session")
def many_texts(intent_texts: List[str]) -> List[str]:
    """10,000 different texts, of every length up to over the model's, with what is not ASCII."""
    texts = list(intent_texts)
    for i in range(10_000 - len(texts)):
        parts = [intent_texts[(7 * i + 13 * k) % len(intent_texts)] for k in range(i % 9)]
        texts.append(" ".join(parts) + ["", " déjà vu", " 東京", "\n", " \u200b"][i % 5])
    return texts


def run_tool(*arguments: str, texts: List[str]) -> List[Dict[str, Any]]:
    """Runs the tool of the same package; each text is a line of JSON Lines, so that it may hold line ends."""
    lines = "".join(json.dumps({"text": text}) + "\n" for text in texts)
    result = subprocess.run([TOOL, *arguments, "--jsonl", "--json"], input=lines.encode(), stdout=subprocess.PIPE, check=True)
    return [json.loads(line) for line in result.stdout.splitlines()]


def run_python(code: str, **options: Any) -> "subprocess.CompletedProcess[str]":
    """Runs a new Python on `code`."""
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=300, **options)
