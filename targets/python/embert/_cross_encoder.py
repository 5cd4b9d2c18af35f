# SPDX-License-Identifier: Apache-2.0
"""Scores of pairs of texts, with the interface of sentence-transformers 5."""

from typing import Any, Callable, Dict, List, Optional, Sequence, Union

import numpy as np
import numpy.typing as npt

from ._binding import library
from ._binding.handle import Texts
from ._binding.texts import as_list, as_pairs, check_text, pack
from ._model import Model, StrPath, positive, require_task
from ._progress import Bar, wanted
from ._refuse import OPEN, PREDICT, refuse

Scores = npt.NDArray[np.float32]
Activation = Union[None, str, Callable[[Scores], Any]]
Pairs = Union[Sequence[str], Sequence[Sequence[str]], "npt.NDArray[Any]"]

# Names of functions of the library, and of the modules of torch that mean the same.
_FUNCTIONS = {"sigmoid": "sigmoid", "softmax": "softmax", "none": "none", "identity": "none"}


def _softmax(scores: Scores) -> Scores:
    """Of scores behind another function, as in sentence-transformers; shape (texts, labels)."""
    powers: Scores = np.exp(scores - scores.max(axis=1, keepdims=True))
    shares: Scores = powers / powers.sum(axis=1, keepdims=True)
    return shares


class CrossEncoder(Model):
    """A model that reads two texts together and gives a score, or one score for each of its labels.

    `path` and `threads` are those of SentenceTransformer. `max_length` is the longest pair in tokens. `activation_fn` makes
    scores of logits: "sigmoid", "softmax", "none", a function of numpy arrays [pairs][labels], or torch.nn.Sigmoid() and
    torch.nn.Identity(); by default the sigmoid for one label and none for several.
    """

    def __init__(
        self,
        path: StrPath,
        *,
        threads: Optional[int] = None,
        max_length: Optional[int] = None,
        num_labels: Optional[int] = None,
        activation_fn: Activation = None,
        cache_folder: Optional[StrPath] = None,
        **torch_arguments: Any,
    ) -> None:
        refuse("CrossEncoder()", torch_arguments, OPEN)
        max_tokens = 0 if max_length is None else positive("max_length", max_length)
        super().__init__(path, threads=threads, max_tokens=max_tokens, cache_folder=cache_folder)
        require_task(self, "classify", CrossEncoder)
        labels = self.num_labels
        if num_labels is not None and num_labels != labels:
            self.close()
            raise ValueError(f"num_labels={num_labels}: {self.path} has {labels}; leave it out")
        self.activation_fn: Activation = activation_fn

    @property
    def num_labels(self) -> int:
        return self._handle.num_labels

    @property
    def max_seq_length(self) -> int:
        """The longest pair in tokens; of longer ones the longer text is cut first."""
        return self._handle.max_tokens

    def predict(
        self,
        sentences: Pairs,
        *,
        batch_size: int = 32,
        show_progress_bar: Optional[bool] = None,
        activation_fn: Activation = None,
        apply_softmax: Optional[bool] = False,
        convert_to_numpy: bool = True,
        **torch_arguments: Any,
    ) -> Any:
        """Returns float32 scores: of a pair one score, or shape (labels,); of a list shape (len(sentences),), or
        (len(sentences), labels) for several labels. A pair without tokens gets NaN."""
        refuse("predict()", {"convert_to_numpy": convert_to_numpy, **torch_arguments}, PREDICT)
        batch = positive("batch_size", batch_size)
        pairs, is_str = as_list(sentences, "sentences")
        if is_str:
            raise TypeError("sentences is a str: give a pair of str, or a list of pairs")
        is_single = len(pairs) > 0 and isinstance(pairs[0], str)
        first, second = as_pairs([pairs] if is_single else pairs, "sentences")
        texts = Texts(pack(first, "sentences"), pack(second, "sentences"), batch)
        scores = self._scores(texts, activation_fn, bool(apply_softmax), wanted(show_progress_bar))
        if self.num_labels == 1:
            scores = scores.reshape(len(first))
        return scores[0] if is_single else scores

    def rank(
        self,
        query: str,
        documents: Sequence[str],
        top_k: Optional[int] = None,
        return_documents: bool = False,
        **arguments: Any,
    ) -> List[Dict[str, Any]]:
        """Returns the documents, best first, as objects with corpus_id, score and, if wanted, text. `arguments` are those of
        predict."""
        if self.num_labels != 1:
            raise ValueError(
                f"rank: {self.path} has {self.num_labels} labels, and rank needs a model with one; use predict with pairs"
            )
        most = None if top_k is None else positive("top_k", top_k)
        items, is_str = as_list(documents, "documents")
        if is_str:
            raise TypeError("documents is a str: give a list of str")
        check_text(query, "query")
        pack(items, "documents")
        scores = self.predict([(query, document) for document in items], **arguments)
        results: List[Dict[str, Any]] = []
        for index in sorted(range(len(items)), key=lambda i: scores[i], reverse=True):
            results.append({"corpus_id": index, "score": scores[index]})
            if return_documents:
                results[-1]["text"] = items[index]
        return results[:most]

    def _scores(self, texts: Texts, activation: Activation, apply_softmax: bool, is_shown: bool) -> Scores:
        """Returns shape (texts, labels)."""
        activation = self.activation_fn if activation is None else activation
        function = self._function_name(activation)
        handle = self._handle
        softens = apply_softmax and handle.num_labels > 1
        if softens and function == "none":
            function, softens = "softmax", False
        scores = np.empty((texts.count, handle.num_labels), np.float32)
        if texts.count > 0:
            bar = Bar("Pairs", is_shown)
            try:
                handle.run(
                    texts,
                    lambda model, struct: int(
                        library.hosted_score(model, struct, (function or "none").encode(), scores.ctypes.data)
                    ),
                    (lambda done, total: bar.show(done, total, f"{done:,}/{total:,}")) if is_shown else None,
                )
            finally:
                bar.end()
        if function is None and callable(activation):
            scores = np.asarray(activation(scores), np.float32)
            if scores.shape[:1] != (texts.count,):
                raise ValueError(f"activation_fn gave shape {scores.shape}: give a row for each of the {texts.count} pairs")
        return _softmax(scores) if softens and scores.ndim == 2 else scores

    def _function_name(self, activation: Activation) -> Optional[str]:
        """Returns the library's function, or None for a function of Python."""
        if activation is None:
            return "sigmoid" if self.num_labels == 1 else "none"
        if isinstance(activation, str) or type(activation).__module__.startswith("torch."):
            name = activation if isinstance(activation, str) else type(activation).__name__
            if name.lower() in _FUNCTIONS:
                return _FUNCTIONS[name.lower()]
        elif callable(activation):
            return None
        raise ValueError(f"activation_fn={activation!r}: give {', '.join(_FUNCTIONS)}, or a function of numpy arrays")
