"""Sentence transformers on the CPU, without PyTorch or network access: all-MiniLM-L6-v2, and folders of others."""

from remembrancer.adapters.embedders.local.model import (
    DIM,
    LANGUAGES,
    LocalEmbedder,
    local_model_id,
    reads_latin,
    reads_script,
)
from remembrancer.adapters.embedders.local.sentence_model import (
    SentenceModel,
    folder_of_package,
    sentence_model,
    write_calibration,
)
from remembrancer.adapters.embedders.local.weights import Precision

__all__ = [
    "DIM",
    "LANGUAGES",
    "LocalEmbedder",
    "Precision",
    "SentenceModel",
    "folder_of_package",
    "local_model_id",
    "reads_latin",
    "reads_script",
    "sentence_model",
    "write_calibration",
]
