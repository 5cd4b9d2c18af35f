#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Times the two fastest int8 peers on all-MiniLM-L6-v2. compare_peers.py runs it in turn with `embert bench`.

  python3 -m venv peers && peers/bin/pip install ai-edge-litert==2.3.0 openvino==2026.4.1 numpy
  peers/bin/python tests/bench/peers.py --models FOLDER [--tokens 16,128,512] [--threads 1] [--seconds 3]

FOLDER is what make_peer_models.py made. A pass is one encoder forward up to the last hidden state, batch 1, with ids and
mask ready beforehand and the clock around the call. Prints a TSV: peer, tokens, threads, passes, and the lowest, median
and highest time of a pass in ms.
"""

from __future__ import annotations

import argparse
import os
import pathlib
import statistics
import sys
import time
from typing import Any, Callable, Optional

WARM_UP_PASSES = 10
FIRST_ID, LAST_ID = 1000, 30000  # ordinary tokens of the vocabulary

Pass = Callable[[], Any]


def token_ids(tokens: int) -> Any:
    import numpy

    return numpy.random.default_rng(1).integers(FIRST_ID, LAST_ID, (1, tokens)).astype(numpy.int64)


def litert(models: pathlib.Path, tokens: int, threads: int) -> Optional[Pass]:
    """LiteRT with XNNPACK inside. Its shapes are fixed: None where there is no file of this length."""
    path = models / f"litert-int8-1x{tokens}.tflite"
    if not path.exists():
        return None
    import numpy
    from ai_edge_litert.interpreter import Interpreter

    interpreter = Interpreter(model_path=str(path), num_threads=threads)
    interpreter.allocate_tensors()
    details = interpreter.get_input_details()
    ids = token_ids(tokens)
    feed = [(d["index"], (ids if i == 0 else numpy.ones_like(ids)).astype(d["dtype"])) for i, d in enumerate(details)]

    def run() -> None:
        for index, value in feed:
            interpreter.set_tensor(index, value)
        interpreter.invoke()

    return run


def openvino(models: pathlib.Path, tokens: int, threads: int) -> Optional[Pass]:
    """OpenVINO; without the precision hint it computes in bfloat16 between its int8 layers where the processor can."""
    path = models / "openvino-int8.xml"
    if not path.exists():
        return None
    import numpy
    from openvino import Core

    options = {
        "INFERENCE_NUM_THREADS": threads,
        "PERFORMANCE_HINT": "LATENCY",
        "NUM_STREAMS": 1,
        "ENABLE_CPU_PINNING": False,
        "INFERENCE_PRECISION_HINT": "f32",
    }
    compiled = Core().compile_model(str(path), "CPU", options)
    ids = token_ids(tokens)
    values = {"input_ids": ids, "token_type_ids": numpy.zeros_like(ids)}
    feed = {
        i: next((value for name, value in values.items() if name in port.get_names()), numpy.ones_like(ids))
        for i, port in enumerate(compiled.inputs)
    }
    request = compiled.create_infer_request()
    return lambda: request.infer(feed)


def time_passes(run: Pass, seconds: float) -> list[float]:
    """Milliseconds of each pass."""
    for _ in range(WARM_UP_PASSES):
        run()
    times = []
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        start = time.perf_counter()
        run()
        times.append((time.perf_counter() - start) * 1e3)
    return times


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", type=pathlib.Path, required=True)
    parser.add_argument("--tokens", default="16,128,512")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=3)
    arguments = parser.parse_args()
    if arguments.threads == 1:
        os.sched_setaffinity(0, {0})
    print("peer\ttokens\tthreads\tpasses\tlowest_ms\tmedian_ms\thighest_ms")
    timed = 0
    for tokens in map(int, arguments.tokens.split(",")):
        for make in (litert, openvino):
            run = make(arguments.models, tokens, arguments.threads)
            if run is None:
                print(f"{make.__name__}: no model for {tokens} tokens in {arguments.models}", file=sys.stderr)
                continue
            times = time_passes(run, arguments.seconds)
            shown = "\t".join(f"{value:.3f}" for value in (min(times), statistics.median(times), max(times)))
            print(f"{make.__name__}\t{tokens}\t{arguments.threads}\t{len(times)}\t{shown}", flush=True)
            timed += 1
    if timed == 0:
        print(f"{arguments.models}: nothing to time; make_peer_models.py makes the models", file=sys.stderr)
    return 0 if timed else 1


if __name__ == "__main__":
    sys.exit(main())
