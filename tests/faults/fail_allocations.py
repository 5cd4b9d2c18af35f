#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Each call stack of the tool that allocates finds no memory once.   fail_allocations.py EMBERT LIBRARY [--command NAME] [--every N]

LIBRARY is failing_stacks.c, preloaded. The calls of CALLS run on models of one layer, and have an output from before. A first
run lists the distinct call stacks that allocate, from main() on; then the call runs once for each of them that no call before
had, and the first allocation of this stack fails. After each run must hold:

- the exit code is 3, and stderr has the line "embert: not enough memory"; or the code is 0, and the outputs are the new ones
- each output but stdout is the old one or the new one, as for fail_calls.py, and the folder holds nothing else

Prints a table of stacks and results; ends with 1 if a run breaks a rule. A crash whose innermost function, C and C++
library aside, is one of another library is listed apart. --every N takes each N-th stack. `embert serve` is not here: it
starts another program.
"""

import argparse
import collections
import itertools
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).parent))
from fail_calls import ROOT, Scenario, model_folders  # noqa: E402

MESSAGE = re.compile(r"^embert: not enough memory$", re.M)
OWN = re.compile(r"^(ld-linux|libc\.|libstdc\+\+|libgcc_s|libm\.)")
FILES = {
    "texts": "the cat sat on the mat\nwhere is the dog ?\n",
    "long": "the cat sat on the mat . " * 20,
    "pairs": "the cat sat on the mat\tit is a cat .\nwhere is the dog ?\tin the fog .\n",
    "jsonl": '{"id": 1, "text": "the cat"}\n{"id": 2, "text": "the dog", "more": [1, {"x": null}]}\n',
    "ids": "5 6 7\n8 9\n",
    "labels": "the cat\tgood\nthe dog\tbad\nthe king\tugly\n",
    "some": "the cat\tgood\nthe dog\tbad\nthe queen\toos\n",
    "scores": "the cat\tthe kitten\t0.9\nthe dog\tthe fog\t0.2\nthe king\tthe queen\t0.5\n",
    "tags": "john\tB-PER\nsmith\tI-PER\nlives\tO\nin\tO\nhamburg\tB-LOC\n\nparis\tB-LOC\n",
    "answers": "where is the cat ?\tthe cat sat on the mat .\tthe mat\n",
}
MAKERS = {
    "sentence": lambda folder: model_folders.sentence_model(folder, {"query": "query: ", "passage": "passage: "}, "query"),
    "labels": lambda folder: model_folders.classifier(folder, ["good", "bad", "ugly"]),
    "score": lambda folder: model_folders.classifier(folder, ["LABEL_0"]),
    "next": model_folders.next_sentence_model,
    "choice": model_folders.multiple_choice_model,
    "tags": model_folders.token_classifier,
    "answers": model_folders.question_answerer,
    "mask": model_folders.masked_language_model,
    "decoder": model_folders.decoder,
    "pair": model_folders.encoder_decoder,
}
# Few texts and one thread, so that a conversion takes 20 ms and always allocates in the same order.
CONVERT = "-o out/m --calibration files/texts --threads 1"
CONVERT_IDS = "-o out/m --calibration-ids files/ids --threads 1"
VALIDATE = "device validate models/labels.emb --texts files/texts --on"
# A line is a call, with the files of its stdin and stdout. models/NAME is a folder that MAKERS makes and models/NAME.emb its
# model; families/NAME a folder of tests/data, whose model has two or three layers; files/NAME one of FILES; out/NAME an output.
CALLS = f"""
convert models/labels {CONVERT}
convert models/pair {CONVERT} --report out/r.json
convert models/pair {CONVERT} --report out/r.html
convert models/labels {CONVERT} --report out/r.html --max-tokens 16
convert models/sentence {CONVERT} --embeddings 4bit
convert models/mask {CONVERT} --keep-vocabulary files/texts --vocabulary-size 90
convert models/tags {CONVERT} --scripts Latin
convert models/answers {CONVERT} --precision high
convert models/decoder {CONVERT} --rounding nearest --json
convert models/choice {CONVERT}
convert families/albert {CONVERT_IDS}
convert families/camembert {CONVERT_IDS}
convert families/distilbert {CONVERT_IDS}
convert families/mobilebert {CONVERT_IDS}
convert families/modernbert {CONVERT_IDS}
convert families/mpnet {CONVERT_IDS}
inspect models/labels.emb --json -o out/o
inspect models/sentence.emb --tensors -o out/o
tokenize models/labels.emb -o out/o < files/texts
tokenize models/labels.emb --jsonl --json --pair "the king" -o out/o < files/jsonl
embed models/sentence.emb -o out/o < files/texts
embed models/sentence.emb --jsonl --json --format int8 --prompt passage -o out/o < files/jsonl
embed models/sentence.emb --on-long windows --npy out/o < files/long
similarity models/sentence.emb -o out/o < files/pairs
similarity models/sentence.emb --json --format bits -o out/o < files/pairs
classify models/labels.emb -o out/o < files/texts
classify models/labels.emb --jsonl --json -o out/o < files/jsonl
classify models/labels.emb --on-long windows --threshold 0.5 -o out/o < files/long
classify models/labels.emb --pairs --top 2 -o out/o < files/pairs
rerank models/score.emb -o out/o < files/pairs
rerank models/score.emb "the cat" --json -o out/o < files/texts
next-sentence models/next.emb --json -o out/o < files/pairs
choose models/choice.emb -o out/o < files/pairs
choose models/choice.emb "the cat" --json -o out/o < files/texts
tag models/tags.emb -o out/o < files/texts
tag models/tags.emb --aggregation first --json -o out/o < files/long
answer models/answers.emb -o out/o < files/pairs
answer models/answers.emb "where is the cat ?" --context files/long --top 2 --json --allow-no-answer -o out/o
fill-mask models/mask.emb "the [MASK] sat on the [MASK]" -o out/o
fill-mask models/mask.emb "the [MASK] sat" --targets cat,dog --json -o out/o
generate models/decoder.emb --max-new-tokens 4 -o out/o < files/texts
generate models/decoder.emb --max-new-tokens 4 --beams 2 --json -o out/o < files/texts
generate models/decoder.emb --max-new-tokens 4 --sample --top-k 5 --top-p 0.9 -o out/o < files/texts
generate models/pair.emb --max-new-tokens 4 --ids -o out/o < files/ids
generate models/pair.emb --max-new-tokens 4 --beams 2 -o out/o < files/texts
verify models/pair.emb models/pair --texts files/texts --threads 1 --report out/r.html -o out/o
verify models/labels.emb models/labels --labelled files/labels --threads 1 --json -o out/o
verify models/sentence.emb models/sentence --labelled files/scores --threads 1 -o out/o
verify models/tags.emb models/tags --labelled files/tags --threads 1 -o out/o
verify models/answers.emb models/answers --labelled files/answers --threads 1 -o out/o
verify models/labels.emb models/labels --texts files/texts --threads 1 --report out/r.json -o out/o
verify models/labels.emb models/labels --texts files/texts --threads 1 --report out/r.html -o out/o
threshold models/labels.emb --labelled files/some -o out/o
threshold models/labels.emb --labelled files/some --max-error 1 --json -o out/o
checksum models/labels.emb -o out/o < files/texts
checksum models/sentence.emb --json -o out/o < files/texts
bench models/labels.emb --tokens 4 --repeats 1 --json -o out/o.json
bench models/labels.emb --svg -o out/o.svg
fit models/labels.emb --board nucleo-h743zi -o out/o
fit models/pair.emb --flash 2M --ram 1M --json -o out/o
{VALIDATE} "exec:./embert device serve models/labels.emb" --json -o out/o.json
device serve models/labels.emb < files/line
completion bash -o out/o
completion zsh -o out/o
completion fish -o out/o
help convert > out/o
"""


class Run:
    """The tool with the preloaded library, in the folder of models and files."""

    def __init__(self, tool, library, place):
        self.tool, self.place = tool, place
        # The loader splits LD_PRELOAD at spaces.
        (place / library.name).symlink_to(library)
        self.preload = f"./{library.name}"

    def __call__(self, scenario, **settings):
        environment = dict(os.environ, LD_PRELOAD=self.preload, **settings)
        with open(self.place / scenario.stdout if scenario.stdout else os.devnull, "wb") as stdout:
            done = subprocess.run(
                [self.tool, *scenario.arguments], input=scenario.stdin, stdout=stdout, stderr=subprocess.PIPE, timeout=300,
                check=False, env=environment, cwd=self.place,
            )  # fmt: skip
        return done.returncode, done.stderr.decode(errors="replace")


def prepare(place, tool):
    """Models and files, in this folder."""
    for name, text in FILES.items():
        path = place / "files" / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    (place / "families").symlink_to(ROOT / "tests/data/reference/families")
    (place / "embert").symlink_to(tool)
    model_folders.LAYERS = 1
    for name, make in MAKERS.items():
        folder = make(place / "models" / name)
        command = [tool, "convert", folder, "-o", f"{folder}.emb", "--calibration", place / "files/texts", "--max-tokens", "16"]
        subprocess.run(command, check=True, capture_output=True)
    # files/line gets the frames that `device validate` sends, for `device serve`.
    command = [tool, *shlex.split(VALIDATE), "exec:tee files/line | ./embert device serve models/labels.emb"]
    subprocess.run(command, check=True, capture_output=True, cwd=place)


def scenario_of(line, place):
    words = shlex.split(line)
    outputs = [word[len("out/") :] for word in words if word.startswith("out/")]
    files = {word: words[i + 1] for i, word in enumerate(words) if word in ("<", ">")}
    arguments = words[: len(words) - 2 * len(files)]
    scenario = Scenario(arguments, outputs, (place / files["<"]).read_bytes() if "<" in files else b"")
    scenario.stdout = files.get(">")
    return scenario


def stacks_of(scenario, run, folder):
    """[(number of the first allocation, frames)] of the call stacks that allocate, from the second of two undisturbed runs."""
    path = folder.parent / "stacks"
    contents = []
    for settings in ({}, {"EMBERT_STACKS": str(path)}):
        scenario.reset(folder)
        status, err = run(scenario, **settings)
        if status != 0:
            sys.exit(f"{' '.join(scenario.arguments)}: the undisturbed run ends with {status}: {err.strip()}")
        contents.append(scenario.contents(folder))
    scenario.learn(*contents)
    lines = [line.split() for line in path.read_text().splitlines()]
    return [(int(number), frames) for number, *frames in lines]


def broken_rule(scenario, folder, outcome):
    """What is wrong after this run; empty if nothing is."""
    status, err = outcome
    if status not in (0, 3):
        return f"ends with {status}: {err.strip()[-160:]}"
    if status == 3 and not MESSAGE.search(err):
        return f"exit code 3 without the message: {err.strip()[-160:]!r}"
    if left := scenario.left(folder):
        return f"leaves {left}"
    for output, state in scenario.states(folder):
        is_stdout = f"out/{output}" == scenario.stdout
        if (status == 0 and state != "new") or (status == 3 and state == "neither" and not is_stdout):
            return f"ends with {status}, and {output} is {state}"
    return ""


def library_of(frames):
    """The library of the innermost function that is not of C or C++; empty if it is the tool's own."""
    modules = [frame.rsplit("+", 1)[0] for frame in frames]
    inner = next((module for module in modules if not OWN.match(module)), "")
    return "" if inner.startswith("embert") else inner


def run_scenario(scenario, run, every, tried):
    """Counts of the results, and what broke a rule: [(allocation, frames, problem)]. `tried`: stacks of calls before."""
    counts, broken = collections.Counter(), []
    folder, failed = run.place / "out", run.place / "failed"
    stacks = stacks_of(scenario, run, folder)
    new = [(number, frames) for number, frames in stacks if tuple(frames) not in tried]
    tried.update(tuple(frames) for _, frames in stacks)
    for number, frames in new[::every]:
        for _ in range(10):  # the plot of `bench` has as many ticks as its times ask for: then the stack has another number
            scenario.reset(folder)
            failed.unlink(missing_ok=True)
            outcome = run(scenario, EMBERT_FAIL_AT=str(number), EMBERT_FAILED=str(failed))
            if failed.exists():
                break
            number = {tuple(now): at for at, now in stacks_of(scenario, run, folder)}.get(tuple(frames), number)
        problem = broken_rule(scenario, folder, outcome) if failed.exists() else "made no such allocation"
        library = library_of(frames) if outcome[0] < 0 else ""
        kind = "library" if library else "wrong" if problem else "no matter" if outcome[0] == 0 else "refused"
        counts[kind] += 1
        if problem:
            broken.append((number, frames, f"{library}: {problem}" if library else problem))
    counts["calls"], counts["stacks"] = 1, len(new)
    return counts, broken


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("tool")
    parser.add_argument("library")
    parser.add_argument("--command")
    parser.add_argument("--every", type=int, default=1)
    arguments = parser.parse_args()
    tool, library = (pathlib.Path(path).resolve() for path in (arguments.tool, arguments.library))
    columns = ("calls", "stacks", "refused", "no matter", "library", "wrong")
    print(f"{'command':<14}" + "".join(f"{name:>11}" for name in columns), flush=True)
    lines, tried, total = [], set(), collections.Counter()
    with tempfile.TemporaryDirectory() as scratch:
        place = pathlib.Path(scratch)
        prepare(place, tool)
        run = Run(tool, library, place)
        for command, calls in itertools.groupby(CALLS.strip().splitlines(), lambda line: line.split()[0]):
            if arguments.command not in (None, command):
                continue
            of_command = collections.Counter()
            for call in calls:
                counts, broken = run_scenario(scenario_of(call, place), run, arguments.every, tried)
                of_command += counts
                lines += [
                    f"{call}: allocation {number}: {what}\n    {' '.join(frames[:12])}" for number, frames, what in broken
                ]
            print_row(command, of_command, columns)
            total += of_command
    print_row("all", total, columns)
    print("\n".join(lines) if lines else "no run breaks a rule")
    return 1 if total["wrong"] else 0


def print_row(name, counts, columns):
    print(f"{name:<14}" + "".join(f"{counts[column]:>11}" for column in columns), flush=True)


if __name__ == "__main__":
    sys.exit(main())
