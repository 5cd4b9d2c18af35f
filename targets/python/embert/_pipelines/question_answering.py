# SPDX-License-Identifier: Apache-2.0
"""pipeline("question-answering")"""

from typing import Any, Dict, List, Tuple

from .._binding.texts import as_list, check_text
from .._refuse import Refused
from .base import Pipeline

_DEFAULT_WINDOW = 384


class QuestionAnsweringPipeline(Pipeline):
    """Answers from contexts: objects with score, start, end (characters of the context) and answer.

    Call it with question= and context= (str, or lists of the same length; a single context serves all questions), or with one
    object {"question": ..., "context": ...} or a list of them. One question gives an object, with `top_k` above 1 a list of
    objects, best first; a list of questions a list of these. Contexts longer than `max_seq_len` tokens are read in windows
    that share `doc_stride` tokens. With `handle_impossible_answer` an empty answer may be the best.
    """

    task = "question-answering"
    TASK_OF_TOOL = "answer"
    ARGUMENTS = {
        "top_k": 1,
        "max_answer_len": 15,
        "handle_impossible_answer": False,
        "doc_stride": None,
        "max_seq_len": None,
    }
    REFUSED = {
        "topk": Refused((None,), "the name is top_k"),
        "max_question_len": Refused((None, 64), "questions are not cut"),
        "align_to_words": Refused((None, True), "answers are whole words"),
        "padding": Refused((None, "do_not_pad"), "embert does not pad"),
    }

    def __call__(self, inputs: Any = None, *, question: Any = None, context: Any = None, **arguments: Any) -> Any:
        merged = self._merged(arguments)
        questions, contexts, is_single = _questions(inputs, question, context)
        options: Dict[str, Any] = {
            "top": merged["top_k"],
            "max-answer-tokens": merged["max_answer_len"],
            "allow-no-answer": bool(merged["handle_impossible_answer"]),
            "window": merged["max_seq_len"] or min(_DEFAULT_WINDOW, self._handle.max_tokens),
        }
        if merged["doc_stride"] is not None:
            options["stride"] = merged["doc_stride"]
        results = [_answers(result) for result in self._run(questions, options, contexts, "questions")]
        return results[0] if is_single else results


def _answers(result: Dict[str, Any]) -> Any:
    """As the pipeline of transformers: a single answer is not in a list."""
    answers = [
        {
            "score": answer["score"],
            "start": answer["char_offsets"][0],
            "end": answer["char_offsets"][1],
            "answer": answer["answer"],
        }
        for answer in result["answers"]
    ]
    return answers[0] if len(answers) == 1 else answers


def _questions(inputs: Any, question: Any, context: Any) -> Tuple[List[str], List[str], bool]:
    if inputs is None:
        if question is None or context is None:
            raise ValueError("give question= and context=, or an object with these keys")
        questions, is_single = as_list(question, "question")
        contexts, is_one_context = as_list(context, "context")
        if is_one_context:
            contexts = contexts * len(questions)
        if len(questions) != len(contexts):
            raise ValueError(f"{len(questions)} questions and {len(contexts)} contexts: give as many, or one context")
    else:
        is_single = isinstance(inputs, dict)
        items = [inputs] if is_single else as_list(inputs, "inputs")[0]
        for index, item in enumerate(items):
            if not isinstance(item, dict) or not {"question", "context"} <= set(item):
                raise ValueError(f'inputs[{index}]: give {{"question": str, "context": str}}')
        questions = [item["question"] for item in items]
        contexts = [item["context"] for item in items]
    for index, pair in enumerate(zip(questions, contexts)):
        for name, text in zip(("question", "context"), pair):
            check_text(text, f"{name} {index}")
            if not text.strip():
                raise ValueError(f"{name} {index} is empty")
    return questions, contexts, is_single
