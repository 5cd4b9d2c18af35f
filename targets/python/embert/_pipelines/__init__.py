# SPDX-License-Identifier: Apache-2.0
"""Pipelines of transformers for the tasks that embert has."""

from typing import Any, Dict, Optional, Type

from .._model import StrPath
from .base import Pipeline
from .fill_mask import FillMaskPipeline
from .generation import Text2TextGenerationPipeline, TextGenerationPipeline
from .question_answering import QuestionAnsweringPipeline
from .text_classification import TextClassificationPipeline
from .token_classification import TokenClassificationPipeline

_PIPELINES: Dict[str, Type[Pipeline]] = {
    "text-classification": TextClassificationPipeline,
    "sentiment-analysis": TextClassificationPipeline,
    "token-classification": TokenClassificationPipeline,
    "ner": TokenClassificationPipeline,
    "question-answering": QuestionAnsweringPipeline,
    "fill-mask": FillMaskPipeline,
    "text-generation": TextGenerationPipeline,
    "text2text-generation": Text2TextGenerationPipeline,
}


def pipeline(
    task: str,
    model: Optional[StrPath] = None,
    *,
    threads: Optional[int] = None,
    cache_folder: Optional[StrPath] = None,
    **arguments: Any,
) -> Any:
    """Returns the pipeline for a task, to be called with texts; fields, defaults and shapes are those of transformers.

    Tasks: text-classification (sentiment-analysis), token-classification (ner), question-answering, fill-mask,
    text-generation, text2text-generation. `model` is a model file or a Hugging Face folder. Further arguments are defaults of
    the calls.
    """
    if not isinstance(task, str) or task not in _PIPELINES:
        raise ValueError(f"task {task!r}: embert has {', '.join(_PIPELINES)}")
    if model is None:
        raise ValueError(f'pipeline("{task}"): give model=, a model file or a Hugging Face folder; embert fetches none')
    return _PIPELINES[task](model, threads, cache_folder, arguments)


__all__ = ["pipeline"]
