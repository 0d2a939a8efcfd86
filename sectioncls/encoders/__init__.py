"""Encoders: backbone x pooling, loaded safely, run without padding, saved as sentence-transformers folders."""

from sectioncls.encoders.backbones import MODELS, HubModel, PackagedModel
from sectioncls.encoders.checkpoints import convert_weights, scimult_encoder
from sectioncls.encoders.conditioning import CONDITIONINGS, Conditioning, condition, ensemble
from sectioncls.encoders.delta import delta_of, fingerprint, fold_delta, tune_only
from sectioncls.encoders.distill import bag_means, fit_table, main_axes, sif_weights, token_table, word_counts
from sectioncls.encoders.embedding_cache import cached_vectors, vectors_key
from sectioncls.encoders.encode import encode, encode_batches, encode_tokens
from sectioncls.encoders.encoder import Encoder
from sectioncls.encoders.estimator import SentenceEncoder
from sectioncls.encoders.export import read_facts, read_history, save_encoder
from sectioncls.encoders.exported import BACKENDS
from sectioncls.encoders.frozen import KeptTokens, freeze_lowest, keep_lowest
from sectioncls.encoders.graphs import export_graph
from sectioncls.encoders.heads import CrfHead, LinearHead, balanced_weights, load_head, save_head
from sectioncls.encoders.load import load_encoder
from sectioncls.encoders.routes import SIDES, TASKS
from sectioncls.encoders.sequence import ArticleReader, SequenceHead
from sectioncls.encoders.static import StaticEncoder, save_static, static_tokens, whole_tokenizer
from sectioncls.encoders.tokens import Batch, Tokens, join_tokens, tokenise
from sectioncls.encoders.windows import Context, Windows, articles_of, make_windows

__all__ = [
    "BACKENDS",
    "CONDITIONINGS",
    "MODELS",
    "SIDES",
    "TASKS",
    "ArticleReader",
    "Batch",
    "Conditioning",
    "Context",
    "CrfHead",
    "Encoder",
    "HubModel",
    "KeptTokens",
    "LinearHead",
    "PackagedModel",
    "SentenceEncoder",
    "SequenceHead",
    "StaticEncoder",
    "Tokens",
    "Windows",
    "articles_of",
    "bag_means",
    "balanced_weights",
    "cached_vectors",
    "condition",
    "convert_weights",
    "delta_of",
    "encode",
    "encode_batches",
    "encode_tokens",
    "ensemble",
    "export_graph",
    "fingerprint",
    "fit_table",
    "fold_delta",
    "freeze_lowest",
    "join_tokens",
    "keep_lowest",
    "load_encoder",
    "load_head",
    "main_axes",
    "make_windows",
    "read_facts",
    "read_history",
    "save_encoder",
    "save_head",
    "save_static",
    "scimult_encoder",
    "sif_weights",
    "static_tokens",
    "token_table",
    "tokenise",
    "tune_only",
    "vectors_key",
    "whole_tokenizer",
    "word_counts",
]
