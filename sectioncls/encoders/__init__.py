"""Encoders: backbone x pooling, loaded safely, run without padding, saved as sentence-transformers folders."""

from sectioncls.encoders.backbones import MODELS, HubModel, PackagedModel
from sectioncls.encoders.checkpoints import convert_weights, scimult_encoder
from sectioncls.encoders.conditioning import CONDITIONINGS, Conditioning, condition, ensemble
from sectioncls.encoders.delta import delta_of, fingerprint, fold_delta, tune_only
from sectioncls.encoders.encode import encode, encode_batches, encode_tokens
from sectioncls.encoders.encoder import Encoder
from sectioncls.encoders.estimator import SentenceEncoder
from sectioncls.encoders.export import read_facts, read_history, save_encoder
from sectioncls.encoders.frozen import KeptTokens, freeze_lowest, keep_lowest
from sectioncls.encoders.heads import CrfHead, LinearHead, load_head, save_head
from sectioncls.encoders.load import load_encoder
from sectioncls.encoders.routes import SIDES, TASKS
from sectioncls.encoders.sequence import ArticleReader, SequenceHead
from sectioncls.encoders.tokens import Batch, Tokens, join_tokens, tokenise
from sectioncls.encoders.windows import Context, Windows, articles_of, make_windows

__all__ = [
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
    "Tokens",
    "Windows",
    "articles_of",
    "condition",
    "convert_weights",
    "delta_of",
    "encode",
    "encode_batches",
    "encode_tokens",
    "ensemble",
    "fingerprint",
    "fold_delta",
    "freeze_lowest",
    "join_tokens",
    "keep_lowest",
    "load_encoder",
    "load_head",
    "make_windows",
    "read_facts",
    "read_history",
    "save_encoder",
    "save_head",
    "scimult_encoder",
    "tokenise",
    "tune_only",
]
