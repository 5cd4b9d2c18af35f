# SPDX-License-Identifier: Apache-2.0
"""pipeline("text-generation") and pipeline("text2text-generation")"""

from typing import Any, Dict, List

from .._refuse import Refused
from .._tokenizer import Tokenizer
from .base import Pipeline

_ARGUMENTS = {
    "max_new_tokens": 256,
    "do_sample": False,
    "num_beams": 1,
    "temperature": None,
    "top_k": None,
    "top_p": None,
    "seed": None,
    "return_tensors": False,
}
_REFUSED = {
    "max_length": Refused((None,), "use max_new_tokens"),
    "min_length": Refused((None, 0), "the model decides where a text ends"),
    "num_return_sequences": Refused((None, 1), "call it again with another seed"),
    "return_text": Refused((None, True), "use return_tensors=True for ids"),
    "clean_up_tokenization_spaces": Refused((None, True), "blanks are always cleaned up"),
    "stop_sequence": Refused((None,), "cut the result"),
    "prefix": Refused((None, ""), "put it before the texts"),
    "handle_long_generation": Refused((None,), "give a shorter text"),
    "truncation": Refused((None,), "give a shorter text"),
    "skip_special_tokens": Refused((None, True), "use return_tensors=True for ids"),
    "repetition_penalty": Refused((None, 1.0), "embert has greedy, beams and sampling"),
    "generation_config": Refused((None,), "give its values as arguments"),
}


class GenerationPipeline(Pipeline):
    TASK_OF_TOOL = "generate"

    def _generate(self, items: List[str], merged: Dict[str, Any]) -> List[Dict[str, Any]]:
        options: Dict[str, Any] = {"max-new-tokens": merged["max_new_tokens"]}
        if merged["do_sample"]:
            options["sample"] = True
        if merged["num_beams"] != 1:
            options["beams"] = merged["num_beams"]
        for name in ("temperature", "top_k", "top_p", "seed"):
            if merged[name] is not None:
                options[name.replace("_", "-")] = merged[name]
        results = self._run(items, options)
        if any(result["generated"] is None for result in results) and not merged["return_tensors"]:
            raise ValueError(
                f"{self.path}: its tokenizer is not the decoder's, so that there is no text; "
                "use return_tensors=True for generated_token_ids"
            )
        return results


class TextGenerationPipeline(GenerationPipeline):
    """Texts continued by a decoder: for each text a list with one object with generated_text, the text and what follows; with
    return_full_text=False only what follows.

    Greedy, unless do_sample or num_beams ask for more: the same text gives the same answer. `seed` makes sampling repeatable.
    return_tensors=True gives generated_token_ids, a list of int.
    """

    task = "text-generation"
    ARGUMENTS = {**_ARGUMENTS, "return_full_text": True}
    REFUSED = _REFUSED

    def __call__(self, text_inputs: Any, **arguments: Any) -> List[Any]:
        merged = self._merged(arguments)
        items, is_single = self._items(text_inputs)
        tokenizer = Tokenizer._of(self)
        results: List[Any] = []
        for text, result in zip(items, self._generate(items, merged)):
            if merged["return_tensors"]:
                results.append([{"generated_token_ids": result["ids"]}])
                continue
            new_text = _continuation(tokenizer, text, result["ids"])
            results.append([{"generated_text": text + new_text if merged["return_full_text"] else new_text}])
        return results[0] if is_single else results


class Text2TextGenerationPipeline(GenerationPipeline):
    """Texts transformed by an encoder and its decoder: for each text an object with generated_text; a str gives a list with
    one object. Arguments are those of text-generation."""

    task = "text2text-generation"
    ARGUMENTS = _ARGUMENTS
    REFUSED = _REFUSED

    def __call__(self, inputs: Any, **arguments: Any) -> List[Dict[str, Any]]:
        merged = self._merged(arguments)
        items, _ = self._items(inputs)
        results = self._generate(items, merged)
        if merged["return_tensors"]:
            return [{"generated_token_ids": result["ids"]} for result in results]
        return [{"generated_text": result["generated"]} for result in results]


def _continuation(tokenizer: Tokenizer, text: str, ids: List[int]) -> str:
    """What follows the text, with the blank that the tokenizer puts before it. A model can generate ids that its tokenizer
    lacks: they have no text."""
    ids = [id for id in ids if id < tokenizer.get_vocab_size()]
    before = tokenizer.encode(text, add_special_tokens=False, truncation=False).ids
    begun, whole = (tokenizer.decode(some, clean_up_tokenization_spaces=True) for some in (before, before + ids))
    return whole[len(begun) :]
