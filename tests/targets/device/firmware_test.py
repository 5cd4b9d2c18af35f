#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares the bundled model as firmware in QEMU with this machine, on the test sentences of CLINC150, through the firmware
of targets/cortex-m/run.sh and `embert device validate`. Fails if a sentence has other bits, if the accuracy differs from
float32's by more than 0.5 points, if the stack exceeds 4 KB (8 KB with Unigram), if CR, LF or both do not end a line, or if
`embert fit` says another arena, code that differs by 2 %, a stack that is smaller or more than 10 % larger, or instructions
that differ by 10 %.

  tests/targets/device/firmware_test.py [--processor cortex-m55]... [--precision LEVEL] [--all] [--faults PERCENT] [--unigram]

With --unigram the model has a Unigram tokenizer with the same tokens. Some words have other tokens then, so the accuracy is
not compared with float32's.
"""

import argparse
import json
import pathlib
import select
import shlex
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[3]
MODEL = ROOT / "targets/demo/tiny-intent"
SENTENCES = ROOT / "tests/data/tiny-intent/test.tsv"
FAULTY_LINE = ROOT / "build/release/tests/targets/device/faulty_line"
OUT_OF_SCOPE = "oos"
SAMPLE = 9  # every ninth sentence: 500
MOST_STACK, MOST_STACK_UNIGRAM = 4096, 8192  # Unigram keeps the best paths to the last places of a word there
MOST_LOSS = 0.005
BOARDS = {"cortex-m55": "mps3-an547", "cortex-m7": "mps2-an500", "cortex-m4": "mps2-an386", "cortex-m33": "mps2-an505"}
FIRMWARE = {"mps2-an500": "mps2", "mps2-an386": "mps2"}  # folders of targets/cortex-m/boards with another name
FLASH_SECTIONS = (".vectors", ".text", ".rodata", ".data")
SILENCE = 20  # seconds after which a firmware counts as finished


def sentences(stride):
    """(text, label, float32's label) of every stride-th sentence in scope."""
    rows = [line.split("\t") for line in SENTENCES.read_text(encoding="utf-8").splitlines()[1:]]
    return [(row[1], row[2], row[3]) for row in rows if row[2] != OUT_OF_SCOPE][::stride]


def write_unigram_model(folder):
    """Writes the bundled model with a Unigram tokenizer: equal scores, so that a word has as few tokens as possible."""
    for name in ("config.json", "model.safetensors"):
        shutil.copy(MODEL / name, folder)
    tokenizer = json.loads((MODEL / "tokenizer.json").read_text(encoding="utf-8"))
    special = {token["content"] for token in tokenizer["added_tokens"]}

    def piece(token):
        if token in special or not any(c.isalnum() for c in token):
            return token
        return token[2:] if token.startswith("##") else "\u2581" + token

    vocabulary = tokenizer["model"]["vocab"]
    pieces = [[piece(token), 0 if token in special else -10] for token in sorted(vocabulary, key=vocabulary.get)]
    tokenizer["model"] = {"type": "Unigram", "unk_id": vocabulary["[UNK]"], "vocab": pieces}
    tokenizer["normalizer"] = {"type": "Lowercase"}
    metaspace = {"type": "Metaspace", "replacement": "\u2581", "add_prefix_space": True}
    tokenizer["pre_tokenizer"] = {"type": "Sequence", "pretokenizers": [{"type": "WhitespaceSplit"}, metaspace]}
    tokenizer["decoder"] = metaspace
    (folder / "tokenizer.json").write_text(json.dumps(tokenizer), encoding="utf-8")


def build(processor, model, precision):
    """The command that runs the firmware."""
    script = [ROOT / "targets/cortex-m/run.sh", "--processor", processor, "--model", model, "--precision", precision, "--build"]
    return subprocess.run(script, stdout=subprocess.PIPE, text=True, check=True).stdout.strip()


def answers_of_lines(firmware):
    """Types a text with each kind of line end; returns the number of answers."""
    process = subprocess.Popen(shlex.split(firmware), stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0)
    process.stdin.write(b"play a song\rplay a song\r\nplay a song\n")
    shown = b""
    while shown.count(b"> ") < 4 and select.select([process.stdout], [], [], SILENCE)[0]:
        read = process.stdout.read(4096)
        if not read:
            break
        shown += read
    process.kill()
    process.wait()
    return shown.count(b" play_music  (5 tokens")


def validate(processor, firmware, texts, faults):
    if faults:
        firmware = shlex.join([str(FAULTY_LINE), "11", str(faults), firmware])
    tool, blob = ROOT / "build/release/targets/cli/embert", ROOT / f"build/firmware-{processor}/model.emb"
    with tempfile.NamedTemporaryFile("w", suffix=".tsv", encoding="utf-8") as file:
        file.writelines(f"{text}\t{label}\n" for text, label, _ in texts)
        file.flush()
        run = subprocess.run([tool, "device", "validate", blob, "--on", f"exec:exec {firmware}", "--labelled", file.name,
                              "--timeout", "500" if faults else "60000", "--json"],
                             stdout=subprocess.PIPE, text=True, check=False)  # fmt: skip
    if not run.stdout:
        sys.exit(f"{processor}: embert device validate ended with {run.returncode}")
    return json.loads(run.stdout)


def fit(processor, tokens):
    """The part of `embert fit` about the kernels of the processor."""
    command = [
        ROOT / "build/release/targets/cli/embert",
        "fit",
        ROOT / f"build/firmware-{processor}/model.emb",
        "--board",
        BOARDS[processor],
        "--json",
        *(["--tokens", str(tokens)] if tokens else []),
    ]
    run = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    return json.loads(run.stdout)["kernels"][0]


def flash_of_image(processor):
    """Bytes of flash that the firmware takes, the model included."""
    name = FIRMWARE.get(BOARDS[processor], BOARDS[processor])
    image = ROOT / f"build/firmware-{processor}/targets/cortex-m/boards/{name}/{name}.elf"
    run = subprocess.run(["arm-none-eabi-size", "-A", image], stdout=subprocess.PIPE, text=True, check=True)
    rows = [line.split() for line in run.stdout.splitlines()]
    return sum(int(row[1]) for row in rows if row and row[0] in FLASH_SECTIONS)


def differs_from_fit(processor, found, instructions):
    """Compares what the firmware measured with what was said before there was one."""
    said = fit(processor, 0)
    said_instructions = fit(processor, round(found["tokens"] / found["texts"]))["instructions"]
    flash = flash_of_image(processor)
    print(
        f"{processor}: flash {flash}; `embert fit` says flash {said['flash_bytes']}, arena {said['arena_bytes']}, stack "
        f"{said['stack_bytes']}, {said_instructions / 1e6:.2f} million instructions for a text of the mean length",
        flush=True,
    )
    return (
        said["arena_bytes"] != found["arena_bytes"]
        or abs(said["flash_bytes"] - flash) > 0.02 * said["code_bytes"]
        or not found["stack_high_water"] <= said["stack_bytes"] <= 1.1 * found["stack_high_water"]
        or abs(said_instructions / instructions - 1) > 0.1
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--processor", action="append", choices=list(BOARDS))
    parser.add_argument("--all", action="store_true", help="all 4,500 sentences in scope, not 500 of them")
    parser.add_argument(
        "--faults", type=float, default=0, help="percent of the frames that are lost, repeated, cut or changed on the way"
    )
    parser.add_argument("--precision", choices=["fast", "balanced", "high"], default="balanced")
    parser.add_argument("--unigram", action="store_true", help="the model with a Unigram tokenizer")
    options = parser.parse_args()
    if options.faults and not FAULTY_LINE.exists():
        sys.exit(f"{FAULTY_LINE} is missing: run tests/run.sh first")
    texts = sentences(1 if options.all else SAMPLE)
    in_float = sum(label == float_label for _, label, float_label in texts) / len(texts)
    failed = False
    for processor in options.processor or ["cortex-m55"]:
        with tempfile.TemporaryDirectory() as folder:
            if options.unigram:
                write_unigram_model(pathlib.Path(folder))
            firmware = build(processor, folder if options.unigram else MODEL, options.precision)
        if answers_of_lines(firmware) != 3:
            sys.exit(f"FAILED: {processor}: not every line's end is one")
        found = validate(processor, firmware, texts, options.faults)
        print(
            f"{processor}: {found['texts']} texts, {found['same_bits']} with the bits of this machine; accuracy "
            f"{found['accuracy_device']:.4f}, here {found['accuracy_here']:.4f}, float32 {in_float:.4f}"
        )
        # A clock tick of the emulator is an instruction.
        instructions = found["compute_seconds"] / found["texts"] * 1e9
        print(
            f"{processor}: {instructions / 1e6:.2f} million instructions a text, arena {found['arena_high_water']} "
            f"bytes, stack {found['stack_high_water']}; asked again {found['asked_again']}, damaged "
            f"{found['damaged_frames']}, stray {found['stray_frames']}",
            flush=True,
        )
        failed = (
            differs_from_fit(processor, found, instructions)
            or failed
            or found["same_bits"] != len(texts)
            or found["accuracy_device"] != found["accuracy_here"]
            or not options.unigram
            and abs(found["accuracy_device"] - in_float) > MOST_LOSS
            or found["stack_high_water"] > (MOST_STACK_UNIGRAM if options.unigram else MOST_STACK)
        )
    if failed:
        sys.exit("FAILED: see above")


if __name__ == "__main__":
    main()
