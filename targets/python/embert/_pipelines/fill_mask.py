# SPDX-License-Identifier: Apache-2.0
"""pipeline("fill-mask")"""

from typing import Any, Dict, List

from .._refuse import Refused
from .base import Pipeline


class FillMaskPipeline(Pipeline):
    """Tokens for the masks of texts: objects with score, token (its id), token_str and sequence, best first.

    A str with one mask gives a list of `top_k` objects, with several masks a list of such lists; a list of texts a list of
    these. `targets` are the words that may stand for a mask; each is one token of the vocabulary. Scores are shares of the
    whole vocabulary.
    """

    task = "fill-mask"
    TASK_OF_TOOL = "fill-mask"
    ARGUMENTS = {"top_k": 5, "targets": None}
    REFUSED = {"tokenizer_kwargs": Refused((None, {}), "texts are always cut to the model's length")}

    def __call__(self, inputs: Any, **arguments: Any) -> List[Any]:
        merged = self._merged(arguments)
        options: Dict[str, Any] = {"top": merged["top_k"]}
        targets = merged["targets"]
        if targets is not None:
            options["targets"] = [targets] if isinstance(targets, str) else list(targets)
        items, _ = self._items(inputs)
        results = []
        for result in self._run(items, options):
            masks = [[_candidate(word) for word in mask["words"]] for mask in result["masks"]]
            results.append(masks[0] if len(masks) == 1 else masks)
        return results[0] if len(items) == 1 else results


def _candidate(word: Dict[str, Any]) -> Dict[str, Any]:
    return {
        "score": word["score"],
        "token": word["id"],
        "token_str": word["word"] or "",
        "sequence": word["sequence"],
    }
