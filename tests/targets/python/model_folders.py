# SPDX-License-Identifier: Apache-2.0
"""Small Hugging Face folders with random weights, one for each head, written with Python alone: tests/faults reads them, too."""

import array
import json
import math
import pathlib
import random
import struct
from typing import Any, Dict, List, NamedTuple, Optional, Tuple

HIDDEN, HEADS, LAYERS, INTERMEDIATE, POSITIONS = 32, 2, 2, 64, 64
WORDS = (
    "the cat dog mat rug sat on in fog kitten john smith lives hamburg paris is of france where what weather tomorrow once upon "
    "time king queen walks door opens query passage ##ing ##ed ##er . , ? ! ' - :"
).split()
LETTERS = "abcdefghijklmnopqrstuvwxyz"
VOCABULARY = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *LETTERS, *(f"##{letter}" for letter in LETTERS), *WORDS]


class Tensor(NamedTuple):
    shape: Tuple[int, ...]
    data: bytes  # float32


Tensors = Dict[str, Tensor]


class Weights:
    def __init__(self, seed: int) -> None:
        self.tensors: Tensors = {}
        self._random = random.Random(seed)

    def matrix(self, name: str, rows: int, columns: int, spread: float = 0.2) -> None:
        self.tensors[f"{name}.weight"] = self._normal((rows, columns), 0, spread)

    def linear(self, name: str, rows: int, columns: int, spread: float = 0.2) -> None:
        self.matrix(name, rows, columns, spread)
        self.tensors[f"{name}.bias"] = self._normal((rows,), 0, 0.05)

    def norm(self, name: str) -> None:
        self.tensors[f"{name}.weight"] = self._normal((HIDDEN,), 1, 0.05)
        self.tensors[f"{name}.bias"] = self._normal((HIDDEN,), 0, 0.05)

    def _normal(self, shape: Tuple[int, ...], mean: float, spread: float) -> Tensor:
        values = (self._random.gauss(mean, spread) for _ in range(math.prod(shape)))
        return Tensor(shape, array.array("f", values).tobytes())


def _bert(weights: Weights, prefix: str, has_cross: bool = False) -> None:
    embeddings = f"{prefix}embeddings."
    weights.matrix(embeddings + "word_embeddings", len(VOCABULARY), HIDDEN, 0.5)
    weights.matrix(embeddings + "position_embeddings", POSITIONS, HIDDEN, 0.1)
    weights.matrix(embeddings + "token_type_embeddings", 2, HIDDEN, 0.1)
    weights.norm(embeddings + "LayerNorm")
    for i in range(LAYERS):
        layer = f"{prefix}encoder.layer.{i}."
        for attention in ["attention", "crossattention"] if has_cross else ["attention"]:
            for name in ("query", "key", "value"):
                weights.linear(f"{layer}{attention}.self.{name}", HIDDEN, HIDDEN)
            weights.linear(f"{layer}{attention}.output.dense", HIDDEN, HIDDEN)
            weights.norm(f"{layer}{attention}.output.LayerNorm")
        weights.linear(layer + "intermediate.dense", INTERMEDIATE, HIDDEN)
        weights.linear(layer + "output.dense", HIDDEN, INTERMEDIATE)
        weights.norm(layer + "output.LayerNorm")


def _language_model_head(weights: Weights, prefix: str, words: str) -> None:
    weights.linear(prefix + "cls.predictions.transform.dense", HIDDEN, HIDDEN)
    weights.norm(prefix + "cls.predictions.transform.LayerNorm")
    weights.tensors[prefix + "cls.predictions.bias"] = Tensor((len(VOCABULARY),), bytes(4 * len(VOCABULARY)))
    weights.tensors[prefix + "cls.predictions.decoder.weight"] = weights.tensors[words]


def _config(architecture: str, **more: Any) -> Dict[str, Any]:
    return {
        "architectures": [architecture],
        "model_type": "bert",
        "hidden_size": HIDDEN,
        "num_attention_heads": HEADS,
        "num_hidden_layers": LAYERS,
        "intermediate_size": INTERMEDIATE,
        "max_position_embeddings": POSITIONS,
        "vocab_size": len(VOCABULARY),
        "type_vocab_size": 2,
        "hidden_act": "gelu",
        "layer_norm_eps": 1e-12,
        "pad_token_id": 0,
        **more,
    }


def _save_tensors(path: pathlib.Path, tensors: Tensors) -> None:
    header: Dict[str, Any] = {"__metadata__": {"format": "pt"}}
    position = 0
    for name, tensor in tensors.items():
        header[name] = {"dtype": "F32", "shape": tensor.shape, "data_offsets": [position, position + len(tensor.data)]}
        position += len(tensor.data)
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    path.write_bytes(struct.pack("<Q", len(text)) + text + b"".join(tensor.data for tensor in tensors.values()))


def _save(folder: pathlib.Path, config: Dict[str, Any], tensors: Tensors) -> pathlib.Path:
    folder.mkdir(parents=True)
    (folder / "config.json").write_text(json.dumps(config))
    (folder / "vocab.txt").write_text("\n".join(VOCABULARY) + "\n")
    (folder / "tokenizer_config.json").write_text(
        json.dumps({"tokenizer_class": "BertTokenizer", "do_lower_case": True, "model_max_length": POSITIONS})
    )
    _save_tensors(folder / "model.safetensors", tensors)
    return folder


def sentence_model(
    folder: pathlib.Path,
    prompts: Optional[Dict[str, str]] = None,
    default_prompt_name: Optional[str] = None,
    normalize: bool = True,
) -> pathlib.Path:
    weights = Weights(1)
    _bert(weights, "")
    _save(folder, _config("BertModel"), weights.tensors)
    modules = [("", "Transformer"), ("1_Pooling", "Pooling")] + ([("2_Normalize", "Normalize")] if normalize else [])
    (folder / "modules.json").write_text(
        json.dumps(
            [
                {"idx": i, "name": str(i), "path": path, "type": f"sentence_transformers.models.{kind}"}
                for i, (path, kind) in enumerate(modules)
            ]
        )
    )
    (folder / "1_Pooling").mkdir()
    (folder / "1_Pooling" / "config.json").write_text(
        json.dumps(
            {
                "word_embedding_dimension": HIDDEN,
                "pooling_mode_cls_token": False,
                "pooling_mode_mean_tokens": True,
                "pooling_mode_max_tokens": False,
                "pooling_mode_mean_sqrt_len_tokens": False,
            }
        )
    )
    (folder / "sentence_bert_config.json").write_text(json.dumps({"max_seq_length": POSITIONS, "do_lower_case": False}))
    (folder / "config_sentence_transformers.json").write_text(
        json.dumps({"prompts": prompts or {}, "default_prompt_name": default_prompt_name, "similarity_fn_name": "cosine"})
    )
    return folder


def classifier(folder: pathlib.Path, labels: List[str]) -> pathlib.Path:
    weights = Weights(2)
    _bert(weights, "bert.")
    weights.linear("bert.pooler.dense", HIDDEN, HIDDEN)
    weights.linear("classifier", len(labels), HIDDEN, 0.8)
    return _save(folder, _config("BertForSequenceClassification", **_labels(labels)), weights.tensors)


def next_sentence_model(folder: pathlib.Path) -> pathlib.Path:
    return _pair_model(folder, "BertForNextSentencePrediction", "cls.seq_relationship", 2)


def multiple_choice_model(folder: pathlib.Path) -> pathlib.Path:
    return _pair_model(folder, "BertForMultipleChoice", "classifier", 1)


def _pair_model(folder: pathlib.Path, architecture: str, head: str, logits: int) -> pathlib.Path:
    weights = Weights(8)
    _bert(weights, "bert.")
    weights.linear("bert.pooler.dense", HIDDEN, HIDDEN)
    weights.linear(head, logits, HIDDEN, 0.8)
    return _save(folder, _config(architecture), weights.tensors)


def token_classifier(folder: pathlib.Path) -> pathlib.Path:
    weights = Weights(3)
    _bert(weights, "bert.")
    weights.linear("classifier", 5, HIDDEN, 0.8)
    config = _config("BertForTokenClassification", **_labels(["O", "B-PER", "I-PER", "B-LOC", "I-LOC"]))
    return _save(folder, config, weights.tensors)


def question_answerer(folder: pathlib.Path) -> pathlib.Path:
    weights = Weights(4)
    _bert(weights, "bert.")
    weights.linear("qa_outputs", 2, HIDDEN, 0.8)
    return _save(folder, _config("BertForQuestionAnswering"), weights.tensors)


def masked_language_model(folder: pathlib.Path) -> pathlib.Path:
    weights = Weights(5)
    _bert(weights, "bert.")
    _language_model_head(weights, "", "bert.embeddings.word_embeddings.weight")
    return _save(folder, _config("BertForMaskedLM"), weights.tensors)


def decoder(folder: pathlib.Path) -> pathlib.Path:
    weights = Weights(6)
    _bert(weights, "bert.")
    _language_model_head(weights, "", "bert.embeddings.word_embeddings.weight")
    config = _config("BertLMHeadModel", is_decoder=True, bos_token_id=2, eos_token_id=3)
    return _save(folder, config, weights.tensors)


def encoder_decoder(folder: pathlib.Path) -> pathlib.Path:
    weights = Weights(7)
    _bert(weights, "encoder.")
    _bert(weights, "decoder.bert.", has_cross=True)
    _language_model_head(weights, "decoder.", "decoder.bert.embeddings.word_embeddings.weight")
    config = {
        "model_type": "encoder-decoder",
        "architectures": ["EncoderDecoderModel"],
        "is_encoder_decoder": True,
        "decoder_start_token_id": 2,
        "eos_token_id": 3,
        "pad_token_id": 0,
        "encoder": _config("BertModel"),
        "decoder": _config("BertLMHeadModel", is_decoder=True, add_cross_attention=True, bos_token_id=2, eos_token_id=3),
    }
    return _save(folder, config, weights.tensors)


def _labels(labels: List[str]) -> Dict[str, Any]:
    pairs: List[Tuple[int, str]] = list(enumerate(labels))
    return {"id2label": {str(i): label for i, label in pairs}, "label2id": {label: i for i, label in pairs}}
