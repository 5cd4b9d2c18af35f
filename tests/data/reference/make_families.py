#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes families/: a tiny random model of each family with the last hidden states that transformers computes.

python make_families.py      # needs torch and transformers (made with 2.14.1 and 5.23.0)
"""

import json
from pathlib import Path

import torch
import transformers
from safetensors.torch import save_file

FOLDER = Path(__file__).resolve().parent / "families"
SIZES = {
    "vocab_size": 40,
    "hidden_size": 16,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "intermediate_size": 24,
    "max_position_embeddings": 20,
    "type_vocab_size": 2,
}
FAMILIES = {
    "albert": ("Albert", SIZES | {"embedding_size": 8, "num_hidden_groups": 1}),
    "camembert": ("Camembert", SIZES | {"pad_token_id": 1, "type_vocab_size": 1}),
    "distilbert": (
        "DistilBert",
        {"vocab_size": 40, "dim": 16, "n_layers": 2, "n_heads": 2, "hidden_dim": 24, "max_position_embeddings": 20},
    ),
    "electra": ("Electra", SIZES | {"embedding_size": 8}),
    "mobilebert": ("MobileBert", SIZES | {"embedding_size": 8, "intra_bottleneck_size": 8, "num_feedforward_networks": 2}),
    "modernbert": (
        "ModernBert",
        {
            "vocab_size": 40,
            "hidden_size": 16,
            "num_hidden_layers": 3,
            "num_attention_heads": 2,
            "intermediate_size": 24,
            "max_position_embeddings": 20,
            "global_attn_every_n_layers": 2,
            "local_attention": 4,
            "pad_token_id": 0,
            "cls_token_id": 1,
            "sep_token_id": 2,
            "bos_token_id": 1,
            "eos_token_id": 2,
        },
    ),
    "mpnet": ("MPNet", SIZES | {"pad_token_id": 1}),
    "roberta": ("Roberta", SIZES | {"pad_token_id": 1, "type_vocab_size": 1}),
}


def randomise(model):
    for name, parameter in model.named_parameters():
        is_gain = parameter.dim() == 1 and "orm" in name and name.endswith("weight")
        parameter.data = torch.randn(parameter.shape) * 0.2 + (1 if is_gain else 0)
    # As in trained models; MobileBERT reads the word behind the last one.
    for module in model.modules():
        if isinstance(module, torch.nn.Embedding) and module.padding_idx is not None:
            module.weight.data[module.padding_idx] = 0


def main():
    for number, (family, (name, sizes)) in enumerate(FAMILIES.items()):
        torch.manual_seed(number)
        config = getattr(transformers, f"{name}Config")(**sizes)
        config._attn_implementation = "eager"
        model = getattr(transformers, f"{name}Model")(config).eval()
        randomise(model)
        folder = FOLDER / family
        model.save_pretrained(folder)
        lengths = [13, 8, 1]
        mask = torch.tensor([[1] * length + [0] * (13 - length) for length in lengths])
        ids = torch.where(mask == 1, torch.randint(3, 40, mask.shape), torch.tensor(config.pad_token_id))
        with torch.no_grad():
            states = model(input_ids=ids, attention_mask=mask).last_hidden_state
        tensors = {"input_ids": ids.int(), "attention_mask": mask.int(), "last_hidden_state": states.float()}
        save_file({f"batch.{key}": value.contiguous() for key, value in tensors.items()}, folder / "io.safetensors")
        call = {
            "name": "batch",
            "kind": "forward",
            "args": {},
            "inputs": {key: "int32[3, 13]" for key in list(tensors)[:2]},
            "outputs": {"last_hidden_state": "float32[3, 13, 16]"},
        }
        case = {"case": family, "made_by": f"transformers.{name}Model, {transformers.__version__}", "calls": [call]}
        (folder / "case.json").write_text(json.dumps(case, indent=1) + "\n")


if __name__ == "__main__":
    main()
