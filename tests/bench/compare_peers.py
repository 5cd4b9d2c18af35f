#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Times `embert bench` beside other int8 runtimes in the same run and prints the ratio.

Rounds alternate: the other program, then embert, so that a drift of the machine hits both alike. The ratio is that of the
medians of each round; the table shows the median ratio and its spread over the rounds.

  compare_peers.py --tool build/targets/cli/embert --model minilm.emb --peers PEERS.py [--tokens 16,128,512] [--rounds 5]

PEERS.py prints a TSV (peer, tokens, threads, runs, min_ms, median_ms, worst_ms) for --seq, --threads and --seconds; it
runs with the Python given by --python, where its packages are.
"""
import argparse
import json
import statistics
import subprocess
import sys


def peer_medians(arguments, tokens):
    """{(peer, tokens): median ms} of one round."""
    command = [arguments.python, arguments.peers, "--seq", str(tokens), "--threads", str(arguments.threads),
               "--seconds", str(arguments.seconds), "--rounds", "1"]
    lines = subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()
    rows = [line.split("\t") for line in lines if "\t" in line and not line.startswith("peer")]
    return {(row[0], int(row[1])): float(row[5]) for row in rows}


def own_median(arguments, tokens):
    command = [arguments.tool, "bench", arguments.model, "--tokens", str(tokens), "--threads",
               str(arguments.threads), "--json"]
    if arguments.threads == 1:
        command = ["taskset", "-c", "0"] + command
    line = subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()[0]
    return json.loads(line)["median_ms"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tool", required=True)
    parser.add_argument("--model", required=True)
    parser.add_argument("--peers", required=True)
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--tokens", default="16,128,512")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=2)
    arguments = parser.parse_args()
    print("peer\ttokens\tthreads\tpeer_ms\tembert_ms\ttimes_as_fast\tlowest\thighest")
    for tokens in map(int, arguments.tokens.split(",")):
        peers, own = {}, []
        for _ in range(arguments.rounds):
            for key, median in peer_medians(arguments, tokens).items():
                peers.setdefault(key, []).append(median)
            own.append(own_median(arguments, tokens))
        for (peer, _), medians in peers.items():
            ratios = [theirs / ours for theirs, ours in zip(medians, own)]
            print(f"{peer}\t{tokens}\t{arguments.threads}\t{statistics.median(medians):.3f}\t"
                  f"{statistics.median(own):.3f}\t{statistics.median(ratios):.2f}\t{min(ratios):.2f}\t{max(ratios):.2f}")
            sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
