"""Encoders: backbone x pooling, loaded safely, run without padding, saved as sentence-transformers folders."""

from sectioncls.encoders.delta import delta_of, fingerprint, fold_delta, tune_only
from sectioncls.encoders.encode import encode, encode_batches, encode_tokens
from sectioncls.encoders.encoder import Encoder
from sectioncls.encoders.estimator import SentenceEncoder
from sectioncls.encoders.export import read_facts, read_history, save_encoder
from sectioncls.encoders.frozen import KeptTokens, freeze_lowest, keep_lowest
from sectioncls.encoders.heads import CrfHead, LinearHead, load_head, save_head
from sectioncls.encoders.load import MODELS, HubModel, PackagedModel, load_encoder
from sectioncls.encoders.tokens import Batch, Tokens, tokenise
from sectioncls.encoders.windows import Context, Windows, articles_of, make_windows

__all__ = [
    "MODELS",
    "Batch",
    "Context",
    "CrfHead",
    "Encoder",
    "HubModel",
    "KeptTokens",
    "LinearHead",
    "PackagedModel",
    "SentenceEncoder",
    "Tokens",
    "Windows",
    "articles_of",
    "delta_of",
    "encode",
    "encode_batches",
    "encode_tokens",
    "fingerprint",
    "fold_delta",
    "freeze_lowest",
    "keep_lowest",
    "load_encoder",
    "load_head",
    "make_windows",
    "read_facts",
    "read_history",
    "save_encoder",
    "save_head",
    "tokenise",
    "tune_only",
]
