# SPDX-License-Identifier: Apache-2.0
"""Arguments of sentence-transformers and transformers that embert cannot honour: refused by name, with what to do instead.

Their default values, and values that change nothing here, are accepted: code that names them keeps running.
"""

from typing import Any, Dict, Mapping, NamedTuple, Tuple


class Refused(NamedTuple):
    harmless: Tuple[Any, ...]
    instead: str


_NUMPY = "embert gives numpy arrays; torch.from_numpy(...) makes a tensor of one"
_CPU = 'embert runs on the processor; leave it out, or give "cpu"'
_LOCAL = "embert reads local files only and runs no code of a model; leave it out"
_THREADS = "one call uses all threads of the model; set threads=N where the model is opened"
_CONVERTED = "the model file holds what embert needs; leave it out"

OPEN = {
    "device": Refused((None, "cpu"), _CPU),
    "modules": Refused((None,), "embert runs model files and Hugging Face folders; give a path"),
    "trust_remote_code": Refused((None, False), _LOCAL),
    "revision": Refused((None,), "embert reads local files only: fetch that revision and give its folder"),
    "local_files_only": Refused((None, False, True), ""),
    "token": Refused((None,), _LOCAL),
    "use_auth_token": Refused((None,), _LOCAL),
    "model_kwargs": Refused((None, {}), _CONVERTED),
    "tokenizer_kwargs": Refused((None, {}), _CONVERTED),
    "processor_kwargs": Refused((None, {}), _CONVERTED),
    "config_kwargs": Refused((None, {}), _CONVERTED),
    "model_card_data": Refused((None,), _CONVERTED),
    "backend": Refused((None,), "embert is its own backend; leave it out"),
    "automodel_args": Refused((None, {}), _CONVERTED),
    "config_args": Refused((None, {}), _CONVERTED),
}
_CALL = {
    "convert_to_tensor": Refused((None, False), _NUMPY),
    "convert_to_numpy": Refused((None, True), _NUMPY),
    "device": Refused((None, "cpu"), _CPU),
    "pool": Refused((None,), _THREADS),
    "chunk_size": Refused((None,), _THREADS),
}
ENCODE = {
    **_CALL,
    "output_value": Refused(
        ("sentence_embedding",), "embert gives sentence vectors only; the C library has embert_last_hidden_state for tokens"
    ),
    "task": Refused((None,), "embert runs no models with a router; use encode_query or encode_document"),
    "processing_kwargs": Refused((None, {}), "set max_seq_length of the model for another length"),
}
PREDICT = {
    **_CALL,
    "prompt": Refused((None,), "put the prompt before the texts"),
    "prompt_name": Refused((None,), "put the prompt before the texts"),
    "processing_kwargs": Refused((None, {}), "give max_length where the model is opened"),
}
PIPELINE = {
    **OPEN,
    "device": Refused((None, "cpu", -1), _CPU),
    "device_map": Refused((None, "cpu", "auto"), _CPU),
    "framework": Refused((None,), "embert is its own framework; leave it out"),
    "torch_dtype": Refused((None, "auto"), "the model file is int8; leave it out"),
    "dtype": Refused((None, "auto"), "the model file is int8; leave it out"),
    "tokenizer": Refused((None,), "the tokenizer is in the model file; leave it out"),
    "use_fast": Refused((None, True), _CONVERTED),
    "config": Refused((None,), _CONVERTED),
    "feature_extractor": Refused((None,), _CONVERTED),
    "image_processor": Refused((None,), _CONVERTED),
    "processor": Refused((None,), _CONVERTED),
    "pipeline_class": Refused((None,), "embert has its own pipelines; leave it out"),
    "num_workers": Refused((None, 0), _THREADS),
}


def refuse(where: str, arguments: Mapping[str, Any], refused: Dict[str, Refused]) -> None:
    """Raises ValueError for the first argument with a value that embert cannot honour, TypeError for an unknown one."""
    for name, value in arguments.items():
        if name not in refused:
            raise TypeError(f"{where} has no argument {name!r}")
        if not any(value is entry or (type(value) is type(entry) and value == entry) for entry in refused[name].harmless):
            raise ValueError(f"{where}: {name}={_short(name, value)} is not supported: {refused[name].instead}")


def _short(name: str, value: object) -> str:
    text = "..." if name.endswith("token") else repr(value)  # a secret does not belong into a log
    return text if len(text) <= 40 else text[:37] + "..."
