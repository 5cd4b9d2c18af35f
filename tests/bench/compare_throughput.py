#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Sentences a second of the embert package and its peers on mixed short texts with all-MiniLM-L6-v2, in one run.

  peers/bin/python tests/bench/compare_throughput.py --model minilm.emb --folder HF_FOLDER --peers FOLDER [--threads 1,2]

64 texts of 5 to 60 tokens, tokenising, pooling and normalising included. Each contender is a process of its own that
waits for its turn; in a round each gets one turn, so that a drift of the machine hits all of them. The table shows the
median, lowest and highest sentences a second over the rounds, and how many times as fast embert is (median of the
rounds' ratios). With --peers, peers/bin/python has ai-edge-litert, openvino, onnxruntime, sentence-transformers and
embert; a contender whose package or model is absent is left out with a line. FOLDER is what make_peer_models.py made
(--tokens 16,32,64,128).

Beside the peers the table has what embert promises about itself:
  embert tool        `embert embed --npy` over the same texts, many times over, with the start of the process
  two processes      two processes of one thread each at the same time (only with 2 threads)
  ... beside a busy process   embert while another process keeps one processor busy
"""

from __future__ import annotations

import argparse
import contextlib
import importlib
import json
import os
import pathlib
import random
import statistics
import subprocess
import sys
import tempfile
import time
from typing import Any, Callable, Iterator, Optional

ROOT = pathlib.Path(__file__).resolve().parents[2]
TEXTS = ROOT / "converter/calibrate/data/calibration_text.txt"
COUNT, SHORTEST, LONGEST = 64, 5, 60
LITERT_LENGTHS = (16, 32, 64, 128)
BATCH = 16

Encode = Callable[[list[str]], Any]


def tokenizer_of(folder: pathlib.Path) -> Any:
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokenizer.enable_truncation(128)
    tokenizer.no_padding()
    return tokenizer


def mixed_texts(folder: pathlib.Path) -> list[str]:
    """64 texts, their lengths in tokens spread evenly over 5..60, in a random order that is always the same."""
    tokenizer = tokenizer_of(folder)
    lines = [line for line in TEXTS.read_text(encoding="utf-8").splitlines() if line]
    by_length: dict[int, list[str]] = {}
    for line in lines:
        by_length.setdefault(len(tokenizer.encode(line).ids), []).append(line)
    chosen: list[str] = []
    for i in range(COUNT):
        wanted = SHORTEST + (LONGEST - SHORTEST) * i // (COUNT - 1)
        lengths = (n for n in by_length if by_length[n] and SHORTEST <= n <= LONGEST)
        nearest = min(lengths, key=lambda n: abs(n - wanted))
        chosen.append(by_length[nearest].pop(0))
    random.Random(1).shuffle(chosen)
    return chosen


def pooled(hidden: Any, mask: Any) -> Any:
    """Mean of the tokens that the mask shows, of length 1: hidden [n][tokens][H], mask [n][tokens]."""
    import numpy

    weights = mask[:, :, None].astype(numpy.float32)
    mean = (hidden * weights).sum(axis=1) / weights.sum(axis=1)
    return mean / numpy.linalg.norm(mean, axis=1, keepdims=True)


def embert(arguments: argparse.Namespace, threads: int) -> Encode:
    module = importlib.import_module("embert")
    model = module.SentenceTransformer(arguments.model, threads=threads)
    return lambda texts: model.encode(texts)


def litert(arguments: argparse.Namespace, threads: int) -> Encode:
    import numpy
    from ai_edge_litert.interpreter import Interpreter

    tokenizer = tokenizer_of(arguments.folder)
    models = {}
    for length in LITERT_LENGTHS:
        path = arguments.peers / f"litert-int8-1x{length}.tflite"
        models[length] = Interpreter(model_path=str(path), num_threads=threads)
        models[length].allocate_tensors()

    def encode(texts: list[str]) -> Any:
        vectors = []
        for encoding in tokenizer.encode_batch(texts):
            length = next(n for n in LITERT_LENGTHS if n >= len(encoding.ids))
            ids, mask = numpy.zeros((1, length), numpy.int64), numpy.zeros((1, length), numpy.int64)
            ids[0, : len(encoding.ids)] = encoding.ids
            mask[0, : len(encoding.ids)] = 1
            model = models[length]
            for detail, value in zip(model.get_input_details(), (ids, mask)):
                model.set_tensor(detail["index"], value.astype(detail["dtype"]))
            model.invoke()
            vectors.append(pooled(model.get_tensor(model.get_output_details()[0]["index"]), mask)[0])
        return numpy.stack(vectors)

    return encode


def in_batches(tokenizer: Any, batch: int, infer: Callable[[Any, Any], Any]) -> Encode:
    """Sorted by length, padded to the longest of the batch."""
    import numpy

    def encode(texts: list[str]) -> Any:
        rows = [encoding.ids for encoding in tokenizer.encode_batch(texts)]
        order = sorted(range(len(rows)), key=lambda i: len(rows[i]))
        vectors: list[Any] = [None] * len(rows)
        for begin in range(0, len(order), batch):
            part = order[begin : begin + batch]
            width = max(len(rows[i]) for i in part)
            ids, mask = numpy.zeros((len(part), width), numpy.int64), numpy.zeros((len(part), width), numpy.int64)
            for at, i in enumerate(part):
                ids[at, : len(rows[i])] = rows[i]
                mask[at, : len(rows[i])] = 1
            for i, vector in zip(part, pooled(infer(ids, mask), mask)):
                vectors[i] = vector
        return numpy.stack(vectors)

    return encode


def openvino(arguments: argparse.Namespace, threads: int, batch: int) -> Encode:
    from openvino import Core

    options = {
        "INFERENCE_NUM_THREADS": threads,
        "PERFORMANCE_HINT": "LATENCY",
        "NUM_STREAMS": 1,
        "ENABLE_CPU_PINNING": False,
        "INFERENCE_PRECISION_HINT": "f32",
    }
    compiled = Core().compile_model(str(arguments.peers / "openvino-int8.xml"), "CPU", options)
    request = compiled.create_infer_request()

    def infer(ids: Any, mask: Any) -> Any:
        feed = {i: ids if "input_ids" in port.get_names() else mask for i, port in enumerate(compiled.inputs)}
        return request.infer(feed)[0]

    return in_batches(tokenizer_of(arguments.folder), batch, infer)


def onnxruntime(arguments: argparse.Namespace, threads: int, batch: int) -> Encode:
    module = importlib.import_module("onnxruntime")
    options = module.SessionOptions()
    options.intra_op_num_threads = threads
    session = module.InferenceSession(str(arguments.peers / "onnxruntime-int8.onnx"), options)

    def infer(ids: Any, mask: Any) -> Any:
        return session.run(None, {"input_ids": ids, "attention_mask": mask})[0]

    return in_batches(tokenizer_of(arguments.folder), batch, infer)


def sentence_transformers(arguments: argparse.Namespace, threads: int) -> Encode:
    import torch

    torch.set_num_threads(threads)
    module = importlib.import_module("sentence_transformers")
    model = module.SentenceTransformer(str(arguments.folder), device="cpu")
    return lambda texts: model.encode(texts, show_progress_bar=False)


CONTENDERS: dict[str, Callable[[argparse.Namespace, int], Encode]] = {
    "embert": embert,
    "LiteRT int8": litert,
    "OpenVINO int8": lambda a, t: openvino(a, t, 1),
    f"OpenVINO int8, batches of {BATCH}": lambda a, t: openvino(a, t, BATCH),
    "ONNX Runtime int8": lambda a, t: onnxruntime(a, t, 1),
    f"ONNX Runtime int8, batches of {BATCH}": lambda a, t: onnxruntime(a, t, BATCH),
    "sentence-transformers float32": sentence_transformers,
}


def work(arguments: argparse.Namespace) -> int:
    """A contender: encodes for --seconds whenever a line comes in, and answers with its sentences a second."""
    if arguments.threads == "1" and arguments.processor >= 0:
        os.sched_setaffinity(0, {arguments.processor})
    # Libraries write to stdout; only answers may reach the other side.
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    try:
        encode = CONTENDERS[arguments.work](arguments, int(arguments.threads))
        texts = mixed_texts(arguments.folder)
        vectors = encode(texts)
    except Exception as error:  # a contender that cannot be had is left out, with this line
        print(json.dumps({"absent": f"{type(error).__name__}: {error}".splitlines()[0][:200]}), file=answers, flush=True)
        return 0
    print(json.dumps({"width": int(vectors.shape[1]), "rows": int(vectors.shape[0])}), file=answers, flush=True)
    for _ in sys.stdin:
        encode(texts)  # not counted: threads that slept may first share a processor
        done, begin = 0, time.perf_counter()
        while time.perf_counter() - begin < arguments.seconds:
            encode(texts)
            done += len(texts)
        print(json.dumps(done / (time.perf_counter() - begin)), file=answers, flush=True)
    return 0


class Contender:
    """The process of a contender."""

    def __init__(self, arguments: argparse.Namespace, name: str, threads: int, processor: int = 0) -> None:
        command = [sys.executable, __file__, "--work", name, "--threads", str(threads), "--processor", str(processor)]
        command += ["--model", str(arguments.model), "--folder", str(arguments.folder), "--seconds", str(arguments.seconds)]
        command += ["--peers", str(arguments.peers)] if arguments.peers else []
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )
        self.absent: Optional[str] = self.answer().get("absent")

    def answer(self) -> Any:
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        return json.loads(line) if line else {"absent": "its process ended"}

    def start(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write("go\n")
        self.process.stdin.flush()

    def turn(self) -> float:
        self.start()
        return float(self.answer())

    def end(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.wait()


@contextlib.contextmanager
def busy_processor(processor: int) -> Iterator[None]:
    program = f"import os\nos.sched_setaffinity(0, {{{processor}}})\nwhile True: pass"
    process = subprocess.Popen([sys.executable, "-c", program])
    try:
        yield
        if process.poll() is not None:
            raise RuntimeError(f"nothing kept processor {processor} busy: is there one?")
    finally:
        process.kill()
        process.wait()


def tool_rate(arguments: argparse.Namespace, texts: list[str], threads: int, repeats: int) -> float:
    with tempfile.TemporaryDirectory() as folder:
        lines = pathlib.Path(folder) / "lines.txt"
        lines.write_text("".join(text + "\n" for text in texts * repeats), encoding="utf-8")
        command = [arguments.tool, "embed", str(arguments.model), "--threads", str(threads), "--npy", f"{folder}/out.npy"]
        pin = ["taskset", "-c", "0"] if threads == 1 else []
        begin = time.perf_counter()
        with lines.open() as source:
            subprocess.run([*pin, *command], stdin=source, check=True)
        return len(texts) * repeats / (time.perf_counter() - begin)


def compare(arguments: argparse.Namespace, threads: int) -> None:
    contenders = {}
    for name in CONTENDERS:
        contender = Contender(arguments, name, threads)
        if contender.absent:
            print(f"{name}: left out: {contender.absent}", file=sys.stderr)
        else:
            contenders[name] = contender
    own = contenders["embert"]
    one_thread = Contender(arguments, "embert", 1, -1) if threads > 1 else None
    twins = [Contender(arguments, "embert", 1, processor) for processor in range(threads)] if threads > 1 else []
    texts = mixed_texts(arguments.folder)
    rates: dict[str, list[float]] = {}
    for _ in range(arguments.rounds):
        for name, contender in contenders.items():
            rates.setdefault(name, []).append(contender.turn())
            if name == "embert" and twins:
                # Right after it: the speed of the machine drifts by several percent within a round.
                for twin in twins:
                    twin.start()
                rates.setdefault(f"embert, {threads} processes of 1 thread", []).append(sum(float(t.answer()) for t in twins))
        if arguments.tool:
            repeats = max(1, int(arguments.seconds * rates["embert"][-1] / len(texts)))
            rates.setdefault("embert tool", []).append(tool_rate(arguments, texts, threads, repeats))
        if one_thread is not None:
            with busy_processor(1):
                rates.setdefault("embert beside a busy process", []).append(own.turn())
                rates.setdefault("embert with 1 thread beside a busy process", []).append(one_thread.turn())
    for name, values in rates.items():
        ratios = [ours / theirs for ours, theirs in zip(rates["embert"], values)]
        shown = [f"{value:.0f}" for value in (statistics.median(values), min(values), max(values))]
        print(
            "\t".join(
                [name, str(threads), *shown, *(f"{r:.2f}" for r in (statistics.median(ratios), min(ratios), max(ratios)))]
            )
        )
    for contender in [*contenders.values(), *twins, *([one_thread] if one_thread else [])]:
        contender.end()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", type=pathlib.Path, required=True, help="a blob of all-MiniLM-L6-v2")
    parser.add_argument("--folder", type=pathlib.Path, required=True, help="the Hugging Face folder of the same model")
    parser.add_argument("--peers", type=pathlib.Path, help="folder of the peers' models")
    parser.add_argument("--tool", help="the embert tool; default: it is left out")
    parser.add_argument("--threads", default="1,2")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--seconds", type=float, default=2, help="length of a turn")
    parser.add_argument("--work", help=argparse.SUPPRESS)
    parser.add_argument("--processor", type=int, default=0, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.work:
        return work(arguments)
    print("contender\tthreads\tsentences_per_s\tlowest\thighest\tembert_times_as_fast\tlowest\thighest")
    for threads in map(int, arguments.threads.split(",")):
        compare(arguments, threads)
    return 0


if __name__ == "__main__":
    sys.exit(main())
