#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes the int8 models of the peers that peers.py times, from a Hugging Face folder of all-MiniLM-L6-v2.

  python3 -m venv peers-make
  peers-make/bin/pip install litert-torch==0.10.0 nncf==3.4.0 openvino==2026.4.1 onnx==1.23.2 onnxruntime==1.32.0 tokenizers
  peers-make/bin/python tests/bench/make_peer_models.py MODEL_FOLDER OUT_FOLDER [--tokens 16,32,64,128]

LiteRT: dynamic-range int8 (weights int8, activations quantised as the model runs), one file for each length, because
its shapes are fixed. OpenVINO: NNCF post-training quantisation for transformers (SmoothQuant included), any length,
calibrated on the text that embert calibrates on. ONNX Runtime: dynamic quantisation with a scale a channel, any length.
All give the last hidden state.
"""

from __future__ import annotations

import argparse
import pathlib
import sys
from typing import Any

CALIBRATION_TEXT = pathlib.Path(__file__).resolve().parents[2] / "converter/calibrate/data/calibration_text.txt"
MOST_CALIBRATION_TEXTS = 300


def encoder_of(folder: pathlib.Path) -> Any:
    """The model as a module of ids and mask, without pooling; segments are all zero."""
    import torch
    from transformers import BertModel

    class Encoder(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.bert = BertModel.from_pretrained(folder, attn_implementation="eager", add_pooling_layer=False).eval()

        def forward(self, input_ids: Any, attention_mask: Any) -> Any:
            segments = torch.zeros_like(input_ids)
            output = self.bert(input_ids=input_ids, attention_mask=attention_mask, token_type_ids=segments)
            return output.last_hidden_state

    return Encoder().eval()


def make_litert(encoder: Any, out: pathlib.Path, tokens: list[int]) -> None:
    import litert_torch
    import torch
    from ai_edge_quantizer import quantizer, recipe

    for length in tokens:
        ids = torch.ones(1, length, dtype=torch.long)
        float_model = out / f"litert-float-1x{length}.tflite"
        litert_torch.convert(encoder, (ids, torch.ones_like(ids))).export(str(float_model))
        quantised = quantizer.Quantizer(str(float_model))
        quantised.load_quantization_recipe(recipe.dynamic_wi8_afp32())
        target = out / f"litert-int8-1x{length}.tflite"
        quantised.quantize().export_model(str(target), overwrite=True)
        float_model.unlink()
        print(f"{target}: {target.stat().st_size:,} bytes")


def make_openvino(encoder: Any, folder: pathlib.Path, out: pathlib.Path) -> None:
    import nncf
    import numpy
    import openvino
    import torch
    from tokenizers import Tokenizer

    ids = torch.ones(2, 24, dtype=torch.long)
    model = openvino.convert_model(encoder, example_input=(ids, torch.ones_like(ids)))
    # Scripted modules lose the names of their inputs, and the two must stay apart.
    for port, name in zip(model.inputs, ("input_ids", "attention_mask")):
        port.get_tensor().set_names({name})

    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokenizer.enable_truncation(128)
    tokenizer.no_padding()
    texts = CALIBRATION_TEXT.read_text(encoding="utf-8").splitlines()

    def inputs_of(text: str) -> dict[str, Any]:
        row = numpy.array([tokenizer.encode(text).ids], numpy.int64)
        return {"input_ids": row, "attention_mask": numpy.ones_like(row)}

    texts = [text for text in texts if text][:MOST_CALIBRATION_TEXTS]
    quantised = nncf.quantize(
        model,
        nncf.Dataset(texts, inputs_of),
        model_type=nncf.ModelType.TRANSFORMER,
        preset=nncf.QuantizationPreset.MIXED,
        subset_size=len(texts),
    )
    target = out / "openvino-int8.xml"
    openvino.save_model(quantised, target, compress_to_fp16=False)
    print(f"{target}: {target.with_suffix('.bin').stat().st_size:,} bytes of weights")


def make_onnxruntime(encoder: Any, out: pathlib.Path) -> None:
    import torch
    from onnxruntime.quantization import QuantType, quantize_dynamic

    ids = torch.ones(2, 24, dtype=torch.long)
    names = ["input_ids", "attention_mask"]
    float_model, target = out / "onnxruntime-float.onnx", out / "onnxruntime-int8.onnx"
    torch.onnx.export(
        encoder,
        (ids, torch.ones_like(ids)),
        str(float_model),
        input_names=names,
        output_names=["last_hidden_state"],
        dynamic_axes={name: {0: "batch", 1: "tokens"} for name in names},
        dynamo=False,
    )
    quantize_dynamic(float_model, target, weight_type=QuantType.QInt8, per_channel=True)
    float_model.unlink()
    print(f"{target}: {target.stat().st_size:,} bytes")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", type=pathlib.Path, help="a Hugging Face folder of a BERT encoder")
    parser.add_argument("out", type=pathlib.Path, help="folder for the peers' models")
    parser.add_argument("--tokens", default="16,32,64,128", help="lengths for LiteRT, whose shapes are fixed")
    parser.add_argument("--only", choices=("litert", "openvino", "onnxruntime"), help="make one peer's models alone")
    arguments = parser.parse_args()
    if not (arguments.model / "model.safetensors").exists():
        parser.error(f"{arguments.model}: no model.safetensors; give the folder of all-MiniLM-L6-v2")
    arguments.out.mkdir(parents=True, exist_ok=True)
    encoder = encoder_of(arguments.model)
    if arguments.only in (None, "litert"):
        make_litert(encoder, arguments.out, [int(length) for length in arguments.tokens.split(",")])
    if arguments.only in (None, "openvino"):
        make_openvino(encoder, arguments.model, arguments.out)
    if arguments.only in (None, "onnxruntime"):
        make_onnxruntime(encoder, arguments.out)
    return 0


if __name__ == "__main__":
    sys.exit(main())
