#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures how many instructions each kind of work takes (targets/cli/fit/model_work.hpp) and writes them into
targets/cli/fit/kernel_sets.inc. Emulators count passes of models with random weights at several lengths; the non-negative
least squares of the relative errors give the costs. Then the trained models are counted and compared. Needs numpy and scipy, and cross builds of
encode_passes (-DEMBERT_BENCH=ON) in build/cortex-m4, cortex-m33, cortex-m55 and aarch64.

  tests/bench/fit_costs.py --plugin libcount_instructions.so --work FOLDER [--minilm HF_DIR] [--write | --check]

With --check only the trained models are counted, and compared with what `embert fit` says. It fails if one differs by more
than 10 %.
"""

import argparse
import json
import pathlib
import re
import shutil
import struct
import subprocess
import sys

import numpy
from scipy.optimize import nnls

ROOT = pathlib.Path(__file__).resolve().parents[2]
TOOL = ROOT / "build/release/targets/cli/embert"
TINY = ROOT / "targets/demo/tiny-intent"
KERNEL_SETS = ROOT / "targets/cli/fit/kernel_sets.inc"
BOARDS = {"scalar": ("cortex-m33", "mps2-an505"), "dsp": ("cortex-m4", "mps2-an386"), "mve": ("cortex-m55", "mps3-an547")}
FIT_BOARDS = {
    "scalar": "mps2-an505",
    "dsp": "mps2-an386",
    "mve": "mps3-an547",
    "neon": "raspberry-pi-4b",
    "dotprod": "raspberry-pi-5",
}
PROCESSORS = {"neon": "cortex-a53", "dotprod": "cortex-a76"}
# name: layers, width, heads, feed-forward width, labels (0: mean pooling)
SHAPES = {
    "m256": (4, 256, 4, 1024, 10),
    "m312": (3, 312, 12, 1200, 0),
    "m64": (2, 64, 2, 256, 3),
    "m192": (2, 192, 3, 768, 0),
    "m128": (2, 128, 4, 512, 77),
    "n128": (2, 128, 2, 512, 30),
}
SHAPES_AT_OTHER_LENGTHS = {"c320": (3, 320, 5, 1280, 20), "c96": (4, 96, 3, 384, 0)}
PRECISE = ("m64", "m256", "c96")  # are also converted with --precision high
LENGTHS, OTHER_LENGTHS = (1, 4, 8, 16, 31, 33, 64, 128), (2, 5, 14, 24, 40, 77)
MOST_MULTIPLY_ADDS = {"scalar": 3e7}  # of a count; more only take the emulator's time
MOST_OF_OTHERS = 2e8
TRAINED_LENGTHS, MOST_OF_TRAINED = (*OTHER_LENGTHS, 128), 2e9
MOST_ERROR = 0.1


def write_folder(folder, shape):
    """A BERT with random weights and the tokenizer of tiny-intent."""
    layers, width, heads, inner, labels = shape
    folder.mkdir(parents=True, exist_ok=True)
    config = json.loads((TINY / "config.json").read_text(encoding="utf-8"))
    for key in ("id2label", "label2id"):
        config.pop(key)
    config.update(
        hidden_size=width,
        num_hidden_layers=layers,
        num_attention_heads=heads,
        intermediate_size=inner,
        max_position_embeddings=128,
        architectures=["BertForSequenceClassification" if labels else "BertModel"],
    )
    if labels:
        config["id2label"] = {str(i): f"label{i}" for i in range(labels)}
        config["label2id"] = {f"label{i}": i for i in range(labels)}
    (folder / "config.json").write_text(json.dumps(config), encoding="utf-8")
    for name in ("tokenizer.json", "tokenizer_config.json", "special_tokens_map.json", "vocab.txt"):
        shutil.copy(TINY / name, folder)
    random = numpy.random.default_rng(width)
    tensors = {}

    def dense(name, rows, columns):
        tensors[f"{name}.weight"] = random.normal(0, columns**-0.5, (rows, columns))
        tensors[f"{name}.bias"] = random.normal(0, 0.02, rows)

    def norm(name):
        tensors[f"{name}.weight"], tensors[f"{name}.bias"] = numpy.ones(width), numpy.zeros(width)

    bert = "bert." if labels else ""
    for name, rows in (("word", config["vocab_size"]), ("position", 128), ("token_type", 2)):
        tensors[f"{bert}embeddings.{name}_embeddings.weight"] = random.normal(0, 0.05, (rows, width))
    norm(f"{bert}embeddings.LayerNorm")
    for layer in range(layers):
        at = f"{bert}encoder.layer.{layer}."
        for part in ("query", "key", "value"):
            dense(f"{at}attention.self.{part}", width, width)
        dense(f"{at}attention.output.dense", width, width)
        norm(f"{at}attention.output.LayerNorm")
        dense(f"{at}intermediate.dense", inner, width)
        dense(f"{at}output.dense", width, inner)
        norm(f"{at}output.LayerNorm")
    dense(f"{bert}pooler.dense", width, width)
    if labels:
        dense("classifier", labels, width)
    header, data = {}, b""
    for name, values in tensors.items():
        stored = values.astype("<f4").tobytes()
        header[name] = {"dtype": "F32", "shape": list(values.shape), "data_offsets": [len(data), len(data) + len(stored)]}
        data += stored
    text = json.dumps(header).encode()
    (folder / "model.safetensors").write_bytes(struct.pack("<Q", len(text)) + text + data)


def convert(folder, blob, precision="fast"):
    if not blob.exists():
        subprocess.run(
            [TOOL, "convert", folder, "-o", blob, "--rounding", "nearest", "--precision", precision, "--quiet"],
            check=True,
            stdout=subprocess.DEVNULL,
        )
    return blob


def count(isa, options, blob, tokens, passes):
    """Instructions of a whole run of encode_passes; nothing if the model does not fit the emulated board, as it says itself."""
    plugin = ["-plugin", options.plugin, "-d", "plugin"]
    arguments = [str(blob), str(tokens), str(passes), "answer"]
    if isa in BOARDS:
        build, machine = BOARDS[isa]
        semihosting = ",".join(["enable=on,target=native,arg=encode_passes", *(f"arg={word}" for word in arguments)])
        command = ["qemu-system-arm", "-M", machine, *plugin, "-display", "none", "-monitor", "none", "-serial", "none",
                   "-semihosting-config", semihosting, "-kernel", ROOT / f"build/{build}/tests/bench/encode_passes"]  # fmt: skip
    else:
        command = [
            "qemu-aarch64",
            "-L",
            "/usr/aarch64-linux-gnu",
            "-cpu",
            PROCESSORS[isa],
            *plugin,
            ROOT / "build/aarch64/tests/bench/encode_passes",
            *arguments,
        ]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    total = re.search(r"(\d+) total", run.stderr)
    status = re.search(rf"^{isa}, (EMBERT_STATUS_\w+)", run.stdout, re.MULTILINE)
    if not status or not total:
        sys.exit(f"{' '.join(map(str, command))}: no count: {run.stderr.strip()[-500:]}")
    return int(total[1]) if status[1] == "EMBERT_STATUS_OK" else None


def instructions(isa, options, blob, tokens):
    """Instructions of a pass; counted once."""
    notes = options.work / "counts.json"
    known = json.loads(notes.read_text(encoding="utf-8")) if notes.exists() else {}
    key = f"{isa} {blob.stem} {tokens}"
    if key not in known:
        one, two = (count(isa, options, blob, tokens, passes) for passes in (1, 2))
        known[key] = None if one is None or two is None else two - one
        notes.write_text(json.dumps(known, indent=1), encoding="utf-8")
    return known[key]


def work_of(blob, tokens):
    run = subprocess.run(
        [TOOL, "fit", blob, "--flash", "4G", "--ram", "4G", "--tokens", str(tokens), "--json"],
        capture_output=True,
        text=True,
        check=True,
    )
    return list(json.loads(run.stdout)["work"].values())


def points(isa, options, blobs, lengths, most=MOST_OF_OTHERS):
    """(name, tokens, work, instructions) of each model and length that ran."""
    found = []
    for blob in blobs:
        positions = json.loads(
            subprocess.run([TOOL, "inspect", blob, "--json"], capture_output=True, text=True, check=True).stdout
        )["header"]["max_positions"]
        for tokens in (tokens for tokens in lengths if tokens <= positions):
            work = work_of(blob, tokens)
            if work[0] > MOST_MULTIPLY_ADDS.get(isa, most):
                continue
            counted = instructions(isa, options, blob, tokens)
            if counted is not None:
                found.append((blob.stem, tokens, work, counted))
    return found


def errors(found, costs):
    return [float(numpy.dot(work, costs)) / counted - 1 for _, _, work, counted in found]


def check_fit(isa, options, trained):
    """The largest relative error of `embert fit` for the trained models."""
    found = []
    for blob in trained:
        for name, tokens, _, counted in points(isa, options, [blob], TRAINED_LENGTHS, MOST_OF_TRAINED):
            run = subprocess.run(
                [TOOL, "fit", blob, "--board", FIT_BOARDS[isa], "--tokens", str(tokens), "--json"],
                capture_output=True,
                text=True,
                check=False,
            )  # 2: too large for that board
            kernels = json.loads(run.stdout)["kernels"][0]
            error = (kernels["instructions"] - kernels["text_instructions"]) / counted - 1
            print(f"{isa}: {name:16} {tokens:4} tokens {counted / 1e6:10.3f} million, embert fit {error:+.1%}", flush=True)
            found.append(abs(error))
    if not found:
        sys.exit(f"{isa}: nothing was compared")
    return max(found)


def write_costs(isa, costs):
    text = KERNEL_SETS.read_text(encoding="utf-8")
    written = [f"{cost:.4g}" for cost in costs]
    numbers = (",\n" + " " * 18).join(", ".join(written[at : at + 7]) for at in range(0, len(written), 7))
    costs_of_isa = re.compile(r'(\.isa = "' + isa + r'".*?\.instructions = )\{[^}]*\}', re.DOTALL)
    text, changed = costs_of_isa.subn(rf"\1{{{numbers}}}", text, count=1)
    if changed != 1:
        sys.exit(f"{KERNEL_SETS} has no {isa}")
    KERNEL_SETS.write_text(text, encoding="utf-8")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--plugin", required=True)
    parser.add_argument(
        "--work",
        required=True,
        type=pathlib.Path,
        help="a folder for models and counts, which the next run takes as they are: a new one after a change",
    )
    parser.add_argument("--minilm", type=pathlib.Path, help="also checks all-MiniLM-L6-v2")
    parser.add_argument("--isa", default="scalar,dsp,mve,neon,dotprod", help="of these kernels")
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--write", action="store_true", help="writes the costs into kernel_sets.inc")
    what.add_argument("--check", action="store_true", help="compares `embert fit` with counts of the trained models")
    options = parser.parse_args()
    options.work.mkdir(parents=True, exist_ok=True)
    trained = [convert(TINY, options.work / "tiny-intent.emb"), convert(TINY, options.work / "tiny-intent-high.emb", "high")]
    if options.minilm:
        trained.append(convert(options.minilm, options.work / "minilm.emb"))
    if options.check:
        worst = max(check_fit(isa, options, trained) for isa in options.isa.split(","))
        if worst > MOST_ERROR:
            sys.exit(f"FAILED: `embert fit` differs by {worst:.1%}, more than {MOST_ERROR:.0%}")
        return
    blobs = {}
    for name, shape in {**SHAPES, **SHAPES_AT_OTHER_LENGTHS}.items():
        if not (options.work / name).exists():
            write_folder(options.work / name, shape)
        blobs[name] = convert(options.work / name, options.work / f"{name}.emb")
    precise = [convert(options.work / name, options.work / f"{name}-high.emb", "high") for name in PRECISE]
    for isa in options.isa.split(","):
        measured = [
            *points(isa, options, [blobs[name] for name in SHAPES], LENGTHS),
            *points(isa, options, [blobs[name] for name in SHAPES_AT_OTHER_LENGTHS] + precise, OTHER_LENGTHS),
        ]
        matrix = numpy.array([numpy.array(work) / counted for _, _, work, counted in measured])
        costs, _ = nnls(matrix, numpy.ones(len(measured)))
        worst = max(errors(measured, costs), key=abs)
        checked = points(isa, options, trained, TRAINED_LENGTHS, MOST_OF_TRAINED)
        print(f"{isa}: {len(measured)} counts, error at most {worst:+.1%}; costs {' '.join(f'{cost:.4g}' for cost in costs)}")
        for (name, tokens, _, counted), error in zip(checked, errors(checked, costs)):
            print(f"  {name:16} {tokens:4} tokens {counted / 1e6:10.3f} million, estimate {error:+.1%}")
        if options.write:
            write_costs(isa, costs)


if __name__ == "__main__":
    main()
