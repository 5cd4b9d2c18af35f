#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How close embert and its int8 peers are to float32: the cosine between their embeddings of all-MiniLM-L6-v2.

  peers-make/bin/python tests/bench/peer_cosine.py MODEL_FOLDER PEER_MODELS --tool TOOL --blob minilm.emb [--texts 500]

peers-make and PEER_MODELS are those of make_peer_models.py, made with --tokens 16,32,64. The texts are the bundled test
sentences of CLINC150, on which nothing was calibrated. The reference is PyTorch in float32. An embedding is the mean of
the last hidden state over the tokens, of length 1. Prints a TSV: program, texts, mean, 1st percentile, worst.
"""

from __future__ import annotations

import argparse
import json
import pathlib
import subprocess
import sys
from typing import Any, Callable

import numpy

SENTENCES = pathlib.Path(__file__).resolve().parents[1] / "data/tiny-intent/test.tsv"

Encoder = Callable[[list[int]], Any]  # ids of one text -> last hidden state [tokens, H] or longer


def embedding(hidden: Any, tokens: int) -> Any:
    mean = numpy.asarray(hidden, numpy.float64)[:tokens].mean(axis=0)
    return mean / numpy.linalg.norm(mean)


def torch_float(folder: pathlib.Path) -> Encoder:
    import torch
    from transformers import BertModel

    model = BertModel.from_pretrained(folder, add_pooling_layer=False).eval()

    def run(ids: list[int]) -> Any:
        with torch.no_grad():
            return model(torch.tensor([ids])).last_hidden_state[0].numpy()

    return run


def litert(models: pathlib.Path) -> Encoder:
    """Texts are padded, behind a mask, to the next length that there is a file of."""
    from ai_edge_litert.interpreter import Interpreter

    interpreters = {}
    for path in models.glob("litert-int8-1x*.tflite"):
        interpreter = Interpreter(model_path=str(path), num_threads=1)
        interpreter.allocate_tensors()
        interpreters[int(path.stem.rsplit("x", 1)[1])] = interpreter

    def run(ids: list[int]) -> Any:
        length = min(size for size in interpreters if size >= len(ids))
        interpreter = interpreters[length]
        rows = numpy.zeros((2, 1, length))
        rows[0, 0, : len(ids)] = ids
        rows[1, 0, : len(ids)] = 1
        for detail, row in zip(interpreter.get_input_details(), rows):
            interpreter.set_tensor(detail["index"], row.astype(detail["dtype"]))
        interpreter.invoke()
        return interpreter.get_tensor(interpreter.get_output_details()[0]["index"])[0]

    return run


def openvino(models: pathlib.Path) -> Encoder:
    from openvino import Core

    compiled = Core().compile_model(str(models / "openvino-int8.xml"), "CPU", {"INFERENCE_PRECISION_HINT": "f32"})

    def run(ids: list[int]) -> Any:
        row = numpy.array([ids], numpy.int64)
        feed = {i: row if "input_ids" in port.get_names() else numpy.ones_like(row) for i, port in enumerate(compiled.inputs)}
        return compiled(feed)[0][0]

    return run


def embert_vectors(tool: str, blob: str, texts: list[str]) -> Any:
    command = [tool, "embed", blob, "--json"]
    lines = subprocess.run(command, input="\n".join(texts) + "\n", check=True, stdout=subprocess.PIPE, text=True).stdout
    vectors = numpy.array([json.loads(line)["embedding"] for line in lines.splitlines()])
    return vectors / numpy.linalg.norm(vectors, axis=1, keepdims=True)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", type=pathlib.Path)
    parser.add_argument("peers", type=pathlib.Path)
    parser.add_argument("--tool", required=True)
    parser.add_argument("--blob", required=True)
    parser.add_argument("--texts", type=int, default=500)
    arguments = parser.parse_args()
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(arguments.model / "tokenizer.json"))
    tokenizer.no_padding()
    sentences = [line.split("\t")[1] for line in SENTENCES.read_text(encoding="utf-8").splitlines()[1:]]
    texts = sentences[:: max(1, len(sentences) // arguments.texts)][: arguments.texts]
    ids = [tokenizer.encode(text).ids for text in texts]

    reference = torch_float(arguments.model)
    wanted = numpy.array([embedding(reference(row), len(row)) for row in ids])
    found = {"embert": embert_vectors(arguments.tool, arguments.blob, texts)}
    for name, encoder in (("litert", litert(arguments.peers)), ("openvino", openvino(arguments.peers))):
        found[name] = numpy.array([embedding(encoder(row), len(row)) for row in ids])
    print("program\ttexts\tmean\tpercentile_1\tworst")
    for name, vectors in found.items():
        cosines = (wanted * vectors).sum(axis=1)
        shown = "\t".join(f"{value:.5f}" for value in (cosines.mean(), numpy.percentile(cosines, 1), cosines.min()))
        print(f"{name}\t{len(texts)}\t{shown}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
