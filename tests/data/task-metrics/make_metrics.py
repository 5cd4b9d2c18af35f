#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes metrics.json: what public packages measure on made-up answers.

python make_metrics.py > metrics.json    # seqeval 1.2.2, torchmetrics 1.9.0, scikit-learn 1.9.1, scipy 1.17.1
"""

import json
import random
import sys

import numpy
import scipy.stats
import sklearn.metrics
import torchmetrics.functional.text
from seqeval.metrics import f1_score, precision_score, recall_score
from seqeval.metrics.sequence_labeling import get_entities

WORDS = ["a", "The", "an", "cat", "Cat", "mats", "the", "12", "3.5%", "A.", "(the)", "can't", "an-other", "“a”", "the–cat", "Über", "ÉCLAIR",
         "éclair", "ΣΟΦΙΑ", "Москва", "москва", "a\u00a0b", "\u3000", "北京", "€5", "$5", "THE", "Ÿ", "ŁÓDŹ", "łódź", "x_y", "•", "½a", "a½", ""]  # fmt: skip
TAGS = ["O", "B-person", "I-person", "E-person", "S-person", "B-place", "I-place", "location", "B-a-b", "I-a-b"]
MODELS = ("right", "float32", "int8")


def answer(rng):
    return rng.choice([" ", "  ", " "]).join(rng.choices(WORDS, k=rng.randint(0, 4)))


def squad(right, found):
    """Exact match and F1 as shares; right: a list of lists of answers."""
    scores = torchmetrics.functional.text.squad(
        [{"prediction_text": text, "id": str(i)} for i, text in enumerate(found)],
        [{"answers": {"text": texts, "answer_start": [0] * len(texts)}, "id": str(i)} for i, texts in enumerate(right)],
    )
    return scores["exact_match"].item() / 100, scores["f1"].item() / 100


def both(measure):
    return {"float32": measure("float32"), "int8": measure("int8")}


def spans(rng):
    pairs = []
    for _ in range(400):
        right, found = answer(rng), answer(rng)
        if rng.random() < 0.3:
            found = right.upper()
        match, f1 = squad([[right]], [found])
        pairs.append([right, found, match, f1])
    questions = []
    for _ in range(60):
        right = [answer(rng) for _ in range(rng.randint(1, 3))]
        questions.append([right, rng.choice([right[0], answer(rng)]), rng.choice([right[-1], answer(rng)])])
    right = [entry[0] for entry in questions]
    scores = {model: squad(right, [entry[1 + i] for entry in questions]) for i, model in enumerate(MODELS[1:])}
    differences = numpy.array([squad([entry[0]], [entry[1]])[1] - squad([entry[0]], [entry[2]])[1] for entry in questions])
    interval = scipy.stats.bootstrap(
        (differences,), numpy.mean, n_resamples=20000, method="percentile", random_state=15
    ).confidence_interval
    return {
        "pairs": pairs,
        "questions": questions,
        "exact_match": both(lambda model: scores[model][0]),
        "f1": both(lambda model: scores[model][1]),
        "loss": float(differences.mean()),
        "interval": [interval.low, interval.high],
    }


def tags(rng):
    sentences = []
    for _ in range(80):
        right = rng.choices(range(len(TAGS)), [6] + [1] * (len(TAGS) - 1), k=rng.randint(1, 12))

        def noisy(share, right=right):
            return [rng.randrange(len(TAGS)) if rng.random() < share else tag for tag in right]

        sentences.append({"right": right, "float32": noisy(0.1), "int8": noisy(0.2)})
    # seqeval takes the first letter of a name for its place; a name without one is I-name, as in transformers.
    names = [f"I-{name}" if name == "location" else name for name in TAGS]
    words = {model: [[names[tag] for tag in sentence[model]] for sentence in sentences] for model in MODELS}
    for sentence, named in zip(sentences, words["right"]):
        sentence["entities"] = [[first, last, kind] for kind, first, last in get_entities(named)]

    def measure(function):
        return both(lambda model: float(function(words["right"], words[model])))

    return {
        "names": TAGS,
        "sentences": sentences,
        "precision": measure(precision_score),
        "recall": measure(recall_score),
        "f1": measure(f1_score),
    }


def labels(rng):
    right = rng.choices(range(5), [5, 4, 3, 2, 1], k=200)
    found = {
        model: [rng.randrange(6) if rng.random() < share else label for label in right]
        for model, share in (("float32", 0.1), ("int8", 0.15))
    }
    return {
        "right": right,
        **found,
        "accuracy": both(lambda model: sklearn.metrics.accuracy_score(right, found[model])),
        "f1_macro": both(
            lambda model: sklearn.metrics.f1_score(right, found[model], labels=sorted(set(right)), average="macro")
        ),
    }


def scores(rng):
    gold = [rng.randint(0, 10) / 2 for _ in range(100)]
    found = {"float32": [round(g + rng.gauss(0, 1), 1) for g in gold], "int8": [round(g + rng.gauss(0, 1.5), 1) for g in gold]}
    return {"gold": gold, **found, "spearman": both(lambda model: float(scipy.stats.spearmanr(gold, found[model]).statistic))}


def main():
    rng = random.Random(15)
    json.dump(
        {"spans": spans(rng), "tags": tags(rng), "labels": labels(rng), "scores": scores(rng)}, sys.stdout, ensure_ascii=False
    )
    print()


if __name__ == "__main__":
    main()
