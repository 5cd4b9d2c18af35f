#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Instructions of one encoder pass under QEMU, by function: a model of work done, not of time.

  count_instructions.py --qemu "qemu-aarch64 -L /usr/aarch64-linux-gnu" --plugin libcount_instructions.so \\
      --program encode_passes --model minilm.emb [--cpu cortex-a53,cortex-a76,max] [--tokens 16,128] [--functions 20]

  count_instructions.py --plugin libcount_instructions.so --firmware "$(targets/cortex-m/run.sh --build)" \\
      --text "how do i say hello" [--functions 20]

The counts of a run with one pass, or line of text, are taken from those of a run with two, so that opening the model is
left out; of a firmware also what waits for the serial line.
"""

import argparse
import collections
import pathlib
import re
import shlex
import subprocess
import sys

TALK = pathlib.Path(__file__).resolve().parents[2] / "targets/cortex-m/talk.py"
WAITS = ("5board", "answer_lines", "write_text")  # functions, as far as their names tell


def counts(command, text=""):
    """What a program said, and instructions by function."""
    run = subprocess.run(command, input=text, capture_output=True, text=True, check=False)
    if run.returncode != 0:
        sys.exit(f"{shlex.join(command)}: status {run.returncode}: {run.stderr.strip()[-300:]}")
    of_function = collections.Counter()
    for number, name in (line.split(maxsplit=1) for line in run.stderr.splitlines() if line[:14].strip().isdigit()):
        of_function[name] += int(number)
    return run.stdout.strip(), of_function


def counts_of_passes(options, cpu, tokens, passes):
    return counts([*shlex.split(options.qemu), "-cpu", cpu, "-plugin", options.plugin, "-d", "plugin",
                   options.program, options.model, str(tokens), str(passes)])  # fmt: skip


def counts_of_lines(options, lines):
    firmware = f"{options.firmware} -plugin {shlex.quote(options.plugin)} -d plugin"
    said, of_function = counts([sys.executable, str(TALK), firmware], f"{options.text}\n" * lines)
    for name in [name for name in of_function if name == "total" or any(wait in name for wait in WAITS)]:
        del of_function[name]
    of_function["total"] = of_function.total()
    return said, of_function


def show(what, one_pass, functions):
    print(f"{what}: {one_pass.pop('total') / 1e6:.2f} million instructions")
    largest = one_pass.most_common(functions)
    for (_, number), name in zip(largest, short([name for name, _ in largest])):
        print(f"  {number / 1e6:9.3f}  {name[:100]}")


def short(names):
    """Names as in the source, where c++filt is there."""
    try:
        text = subprocess.run(["c++filt"], input="\n".join(names), capture_output=True, text=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError):
        return names
    return [line.replace("embert::", "").replace("(anonymous namespace)::", "") for line in text.splitlines()]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("--qemu", "--program", "--model", "--firmware", "--text"):
        parser.add_argument(name)
    parser.add_argument("--plugin", required=True)
    parser.add_argument("--cpu", default="cortex-a53,cortex-a76,max")
    parser.add_argument("--tokens", default="16,128")
    parser.add_argument("--functions", type=int, default=0, help="the largest ones in a list")
    options = parser.parse_args()
    if options.firmware and options.text:
        said, one = counts_of_lines(options, 1)
        _, two = counts_of_lines(options, 2)
        return show(f"firmware, {re.search('[(]([0-9]+ tokens)', said)[1]}", two - one, options.functions)
    if not (options.qemu and options.program and options.model):
        parser.error("needs --qemu, --program and --model, or --firmware and --text")
    for cpu in options.cpu.split(","):
        for tokens in options.tokens.split(","):
            said, one = counts_of_passes(options, cpu, tokens, 1)
            _, two = counts_of_passes(options, cpu, tokens, 2)
            show(f"{cpu} ({said.split(',')[0]}), {tokens} tokens", two - one, options.functions)


if __name__ == "__main__":
    main()
