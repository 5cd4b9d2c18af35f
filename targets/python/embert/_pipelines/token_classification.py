# SPDX-License-Identifier: Apache-2.0
"""pipeline("token-classification")"""

import bisect
from typing import Any, Dict, List, Tuple

from .._refuse import Refused
from .._tokenizer import Encoding, Tokenizer
from .base import Pipeline

_AGGREGATIONS = ("none", "simple", "first", "average", "max")


class TokenClassificationPipeline(Pipeline):
    """Entities of texts: with aggregation_strategy="none" (default) the tokens, as objects with entity, score, index, word, start
    and end; with "simple", "first", "average" or "max" groups of tokens, as objects with entity_group, score, word, start, end.

    start and end are characters of the text; word is the text of the tokens, as the tokenizer decodes them. A str gives a list
    of objects, a list of texts a list of lists. Texts longer than the model are read in windows that share `stride` tokens.
    """

    task = "token-classification"
    TASK_OF_TOOL = "tag"
    ARGUMENTS = {"aggregation_strategy": "none", "stride": None}
    REFUSED = {
        "ignore_labels": Refused((None, ["O"]), 'the label "O" is no entity, all others are; filter the result'),
        "grouped_entities": Refused((None,), 'use aggregation_strategy="simple"'),
        "ignore_subwords": Refused((None,), 'use aggregation_strategy="first"'),
        "offset_mapping": Refused((None,), "the offsets are those of the model's tokenizer"),
        "is_split_into_words": Refused((None, False), "give texts; join words with blanks"),
        "delimiter": Refused((None,), "give texts; join words with blanks"),
    }

    def __call__(self, inputs: Any, **arguments: Any) -> List[Any]:
        merged = self._merged(arguments)
        aggregation = merged["aggregation_strategy"]
        aggregation = str(getattr(aggregation, "value", aggregation)).lower()
        if aggregation not in _AGGREGATIONS:
            raise ValueError(f"aggregation_strategy={aggregation!r}: give {', '.join(_AGGREGATIONS)}")
        options: Dict[str, Any] = {"aggregation": aggregation}
        if merged["stride"] is not None:
            options["stride"] = merged["stride"]
        items, is_single = self._items(inputs)
        tokenizer = Tokenizer._of(self)
        results = []
        for result in self._run(items, options):
            encoding = tokenizer.encode(result["text"], truncation=False) if result["entities"] else Encoding([], [], [])
            tokens = _text_tokens(encoding)
            if aggregation == "none":
                results.append(_token_entities(result["entities"], tokens, encoding))
            else:
                results.append(
                    [_group(entity, _tokens_of(entity, tokens), encoding, tokenizer) for entity in result["entities"]]
                )
        return results[0] if is_single else results


_TextToken = Tuple[int, int, int]


def _text_tokens(encoding: Encoding) -> List[_TextToken]:
    """Begin, end and index of each token that is no special token, in the order of the text."""
    return [(begin, end, index) for index, (begin, end) in enumerate(encoding.offsets) if encoding.word_ids[index] is not None]


def _tokens_of(entity: Dict[str, Any], tokens: List[_TextToken]) -> List[int]:
    """Indices of the tokens between the entity's offsets. A text of 100,000 words may have as many entities."""
    begin, end = entity["char_offsets"]
    indices = []
    for at in range(bisect.bisect_left(tokens, (begin,)), len(tokens)):
        if tokens[at][1] > end:
            break
        indices.append(tokens[at][2])
    return indices


def _token_entities(entities: List[Dict[str, Any]], tokens: List[_TextToken], encoding: Encoding) -> List[Dict[str, Any]]:
    """Each entity is a token. Tokens that share a character have its offsets all, so that the next entity is a later token."""
    found = []
    at = 0
    for entity in entities:
        begin, end = entity["char_offsets"]
        at = max(at, bisect.bisect_left(tokens, (begin,)))
        index = tokens[at][2]
        at += 1
        found.append(
            {
                "entity": entity["label"],
                "score": entity["score"],
                "index": index,
                "word": encoding.tokens[index],
                "start": begin,
                "end": end,
            }
        )
    return found


def _group(entity: Dict[str, Any], tokens: List[int], encoding: Encoding, tokenizer: Tokenizer) -> Dict[str, Any]:
    begin, end = entity["char_offsets"]
    ids = [encoding.ids[index] for index in tokens]
    return {
        "entity_group": entity["label"],
        "score": entity["score"],
        "word": tokenizer.decode(ids, skip_special_tokens=False),
        "start": begin,
        "end": end,
    }
