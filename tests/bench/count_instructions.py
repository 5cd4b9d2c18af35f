#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Instructions of one encoder pass under QEMU, by function: a model of work done, not of time.

  count_instructions.py --qemu "qemu-aarch64 -L /usr/aarch64-linux-gnu" --plugin libcount_instructions.so \\
      --program encode_passes --model minilm.emb [--cpu cortex-a53,cortex-a76,max] [--tokens 16,128] [--functions 20]

The counts of a run with one pass are taken from those of a run with two, so that opening the model is left out.
"""
import argparse
import collections
import shlex
import subprocess
import sys


def counts(options, cpu, tokens, passes):
    command = [*shlex.split(options.qemu), "-cpu", cpu, "-plugin", options.plugin, "-d", "plugin",
               options.program, options.model, str(tokens), str(passes)]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    if run.returncode != 0:
        sys.exit(f"{shlex.join(command)}: status {run.returncode}: {run.stderr.strip()[-300:]}")
    of_function = collections.Counter()
    for line in run.stderr.splitlines():
        number, name = line.split(maxsplit=1)
        of_function[name] += int(number)
    return run.stdout.strip(), of_function


def short(names):
    """Names as in the source, where c++filt is there."""
    try:
        text = subprocess.run(["c++filt"], input="\n".join(names), capture_output=True, text=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError):
        return names
    return [line.replace("embert::", "").replace("(anonymous namespace)::", "") for line in text.splitlines()]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("--qemu", "--plugin", "--program", "--model"):
        parser.add_argument(name, required=True)
    parser.add_argument("--cpu", default="cortex-a53,cortex-a76,max")
    parser.add_argument("--tokens", default="16,128")
    parser.add_argument("--functions", type=int, default=0, help="the largest ones in a list")
    options = parser.parse_args()
    for cpu in options.cpu.split(","):
        for tokens in options.tokens.split(","):
            said, one = counts(options, cpu, tokens, 1)
            _, two = counts(options, cpu, tokens, 2)
            one_pass = two - one
            print(f"{cpu} ({said.split(',')[0]}), {tokens} tokens: {one_pass.pop('total') / 1e6:.2f} million instructions")
            largest = one_pass.most_common(options.functions)
            for (_, number), name in zip(largest, short([name for name, _ in largest])):
                print(f"  {number / 1e6:9.3f}  {name[:100]}")


if __name__ == "__main__":
    main()
