# SPDX-License-Identifier: Apache-2.0
"""pipeline("text-classification")"""

from typing import Any, Dict, List, Tuple

from .._binding.texts import as_list, check_text
from .._refuse import Refused
from .base import Pipeline

_FUNCTIONS = ("softmax", "sigmoid", "none")
_NOT_GIVEN = ""  # top_k=None asks for all labels


class TextClassificationPipeline(Pipeline):
    """Labels of texts: objects with label and score.

    A str gives a list with the best label, a list of texts the best label of each; with `top_k` (None: all labels) a text
    gives a list of labels, best first. A text may be {"text": ..., "text_pair": ...}. `function_to_apply`: "softmax",
    "sigmoid", "none"; default: sigmoid for one label or several that are right at once, else softmax.
    """

    task = "text-classification"
    TASK_OF_TOOL = "classify"
    ARGUMENTS = {"top_k": _NOT_GIVEN, "function_to_apply": None}
    REFUSED = {
        "return_all_scores": Refused((None,), "use top_k=None for all labels, top_k=1 for the best"),
        "truncation": Refused((None, True), "texts are always cut to the model's length"),
        "padding": Refused((None, False, True), ""),
    }

    def __call__(self, inputs: Any, **arguments: Any) -> List[Any]:
        merged = self._merged(arguments)
        options: Dict[str, Any] = {}
        function = merged["function_to_apply"]
        if function is not None:
            function = getattr(function, "name", function)
            if str(function).lower() not in _FUNCTIONS:
                raise ValueError(f"function_to_apply={function!r}: give {', '.join(_FUNCTIONS)}")
            options["function"] = str(function).lower()
        top = merged["top_k"]
        is_list = top != _NOT_GIVEN
        if is_list and top is not None and (not isinstance(top, int) or isinstance(top, bool) or top < 1):
            raise ValueError(f"top_k={top!r}: give a number from 1, or None for all labels")
        if top is not None:
            options["top"] = top if is_list else 1
        is_single = isinstance(inputs, (str, dict))
        items = [inputs] if is_single else as_list(inputs, "inputs")[0]
        ranked = [_labels(result) for result in self._classify(items, options)]
        results: List[Any] = ranked if is_list else [labels[0] for labels in ranked]
        if not is_single:
            return results
        is_wrapped = isinstance(inputs, str) and "top_k" not in arguments
        return results if is_wrapped else results[0]

    def _classify(self, items: List[Any], options: Dict[str, Any]) -> List[Dict[str, Any]]:
        """A list may hold texts and pairs; each kind is one call."""
        pairs = {index: _pair(index, item) for index, item in enumerate(items) if isinstance(item, dict)}
        texts = {index: item for index, item in enumerate(items) if index not in pairs}
        if not pairs:
            return self._run(items, options)
        for index, text in texts.items():
            check_text(text, f"inputs[{index}]")
        results: Dict[int, Dict[str, Any]] = {}
        with_pairs = self._run([pair[0] for pair in pairs.values()], options, [pair[1] for pair in pairs.values()])
        results.update(zip(pairs, with_pairs))
        results.update(zip(texts, self._run(list(texts.values()), options)))
        return [results[index] for index in range(len(items))]


def _pair(index: int, item: Dict[str, Any]) -> Tuple[str, str]:
    if set(item) != {"text", "text_pair"} or not all(isinstance(text, str) for text in item.values()):
        raise ValueError(f'inputs[{index}] is an object: give {{"text": str, "text_pair": str}}')
    for key, text in item.items():
        check_text(text, f'inputs[{index}]["{key}"]')
    return item["text"], item["text_pair"]


def _labels(result: Dict[str, Any]) -> List[Dict[str, Any]]:
    scores = result["scores"]
    if scores is None:
        raise ValueError(f"the text {result['text']!r} has no token, so that there is no label for it")
    return [{"label": entry["label"], "score": entry["score"]} for entry in scores]
