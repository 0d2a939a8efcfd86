"""Makes this folder: a tiny random BERT with two adapters, and the vectors that the library `adapters` gives.

Run once, in an environment of its own (`adapters` wants an older transformers than this project):

    pip install adapters==1.3.0 torch==2.13.0 && python make_reference.py

Everything is random or written for this purpose; the folder is under the licence of this repository.
"""

from __future__ import annotations

import json
from pathlib import Path

import adapters  # type: ignore[import-not-found]
import numpy as np
import torch
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors
from transformers import BertConfig, BertModel, PreTrainedTokenizerFast

FOLDER = Path(__file__).parent
# The name of each adapter, its folder, its kind. The third is alone in a folder of its own.
ADAPTERS = {
    "specter2_proximity": ("adapters/proximity", "seq_bn"),
    "specter2_adhoc_query": ("adapters/adhoc_query", "seq_bn"),
    "houlsby": ("houlsby/proximity", "double_seq_bn"),
}
TEXTS = [
    "we propose a model [SEP] the study of data",
    "method",
    "",
    "the results of this method show that we aim to study patients in this model of the data, and the rest is cut " * 3,
]


def main() -> None:
    marks = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    words = "we the of a to in this study method results show that propose aim patients model data and is ,"
    vocabulary = {word: i for i, word in enumerate([*marks, *words.split()])}
    tokenizer = Tokenizer(models.WordPiece(vocabulary, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    fast = PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        model_max_length=32,
        **dict(zip(("pad_token", "unk_token", "cls_token", "sep_token", "mask_token"), marks, strict=True)),
    )
    fast.save_pretrained(FOLDER)

    torch.manual_seed(17)
    config = BertConfig(
        vocab_size=len(vocabulary),
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=4,
        intermediate_size=32,
        max_position_embeddings=32,
        initializer_range=0.4,  # far from zero, so that a wrong place of the adapter shows
    )
    BertModel(config, add_pooling_layer=False).save_pretrained(FOLDER)

    model = adapters.AutoAdapterModel.from_pretrained(FOLDER)
    for name, (_, kind) in ADAPTERS.items():
        model.add_adapter(name, config=kind)
    with torch.no_grad():
        for name, weight in model.named_parameters():
            if ".adapters." in name:
                weight.copy_(torch.randn(weight.shape) * 0.5)
    for name, (folder, _) in ADAPTERS.items():
        (FOLDER / folder).mkdir(parents=True, exist_ok=True)
        model.save_adapter(FOLDER / folder, name, use_safetensors=True)
        said = FOLDER / folder / "adapter_config.json"
        facts = {**json.loads(said.read_text(encoding="utf-8")), "model_name": "../.."}  # not a path of this machine
        said.write_text(json.dumps(facts, indent=1, sort_keys=True) + "\n", encoding="utf-8")

    model.eval()
    inputs = fast(TEXTS, padding=True, truncation=True, max_length=32, return_tensors="pt", return_token_type_ids=False)
    vectors = []
    with torch.inference_mode():
        for active in (None, *ADAPTERS):
            model.set_active_adapters(active)
            vectors.append(model(**inputs).last_hidden_state[:, 0].numpy())
    np.save(FOLDER / "reference.npy", np.stack(vectors))
    (FOLDER / "reference.json").write_text(
        json.dumps({"vectors": ["base", *ADAPTERS], "texts": TEXTS}, indent=1) + "\n", encoding="utf-8"
    )


if __name__ == "__main__":
    main()
