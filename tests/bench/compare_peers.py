#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Times `embert bench` in turn with other int8 runtimes, another build of embert, or processes of one thread, and prints the
ratios.

A round times the other program, then embert, so that a drift of the machine hits both. The table shows for each length
the medians over the rounds and the ratio of each round: its median, lowest and highest.

  tests/bench/compare_peers.py --tool TOOL --model minilm.emb --peers FOLDER --python peers/bin/python
  tests/bench/compare_peers.py --tool TOOL --model minilm.emb --before OTHER_TOOL --rounds 15
  tests/bench/compare_peers.py --tool TOOL --model minilm.emb --processes --threads 2

FOLDER holds the peers' models (make_peer_models.py), and peers/bin/python is the Python that has the peers' packages
(peers.py says how to get them). With --before the ratio of the lowest times over all rounds stands at the end of a row.
With --processes as many processes of one thread as --threads says run at once, and a text takes a share of a pass.
"""

from __future__ import annotations

import argparse
import json
import pathlib
import shlex
import statistics
import subprocess
import sys

PEERS = pathlib.Path(__file__).resolve().parent / "peers.py"


def pinned(command: list[str], threads: int) -> list[str]:
    return ["taskset", "-c", "0", *command] if threads == 1 else command


def peer_times(arguments: argparse.Namespace, tokens: int) -> dict[str, float]:
    """The median of each peer in ms, in one round."""
    command = [arguments.python, str(PEERS), "--models", arguments.peers, "--tokens", str(tokens)]
    command += ["--threads", str(arguments.threads), "--seconds", str(arguments.seconds)]
    lines = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout.splitlines()[1:]
    return {row[0]: float(row[5]) for row in (line.split("\t") for line in lines)}


def process_time(arguments: argparse.Namespace, tokens: int) -> float:
    """The time for a text in ms where each of --threads cores has a process of one thread, in one round."""
    command = [arguments.tool, "bench", arguments.model, "--tokens", str(tokens), "--threads", "1", "--json"]
    running = [
        subprocess.Popen(["taskset", "-c", str(core), *command], stdout=subprocess.PIPE, text=True)
        for core in range(arguments.threads)
    ]
    outputs = [process.communicate()[0] for process in running]
    if any(process.returncode != 0 for process in running):
        sys.exit(f"{shlex.join(command)} failed on one of the cores 0 to {arguments.threads - 1}")
    return statistics.harmonic_mean([json.loads(output.splitlines()[0])["median_ms"] for output in outputs]) / arguments.threads


def tool_time(tool: str, arguments: argparse.Namespace, tokens: int, key: str) -> float:
    """A time of `embert bench` in ms, in one round."""
    command = [tool, "bench", arguments.model, "--tokens", str(tokens), "--threads", str(arguments.threads), "--json"]
    done = subprocess.run(pinned(command, arguments.threads), check=True, stdout=subprocess.PIPE, text=True)
    return float(json.loads(done.stdout.splitlines()[0])[key])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tool", required=True)
    parser.add_argument("--model", required=True, help="a blob of all-MiniLM-L6-v2")
    others = parser.add_mutually_exclusive_group(required=True)
    others.add_argument("--peers", help="folder of the peers' models")
    others.add_argument("--before", help="the tool of another build")
    others.add_argument("--processes", action="store_true", help="processes of one thread, one for each of --threads")
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--tokens", default="16,128,512")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=2)
    arguments = parser.parse_args()

    key = "min_ms" if arguments.before else "median_ms"
    print("other\ttokens\tthreads\tother_ms\tembert_ms\ttimes_as_fast\tlowest\thighest\tratio_of_lowest_times")
    for tokens in map(int, arguments.tokens.split(",")):
        theirs: dict[str, list[float]] = {}
        ours: list[float] = []
        for _ in range(arguments.rounds):
            if arguments.before:
                times = {"before": tool_time(arguments.before, arguments, tokens, key)}
            elif arguments.processes:
                times = {"processes": process_time(arguments, tokens)}
            else:
                times = peer_times(arguments, tokens)
            for name, value in times.items():
                theirs.setdefault(name, []).append(value)
            ours.append(tool_time(arguments.tool, arguments, tokens, key))
        for name, values in theirs.items():
            ratios = [other / own for other, own in zip(values, ours)]
            row = [name, str(tokens), str(arguments.threads)]
            row += [f"{statistics.median(values):.3f}", f"{statistics.median(ours):.3f}"]
            row += [f"{value:.2f}" for value in (statistics.median(ratios), min(ratios), max(ratios))]
            print("\t".join([*row, f"{min(values) / min(ours):.3f}"]), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
