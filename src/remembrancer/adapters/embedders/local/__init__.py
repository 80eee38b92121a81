"""all-MiniLM-L6-v2 in this process, on the CPU, without PyTorch or network access."""

from remembrancer.adapters.embedders.local.model import DIM, LocalEmbedder, local_model_id, reads_latin
from remembrancer.adapters.embedders.local.weights import Precision

__all__ = ["DIM", "LocalEmbedder", "Precision", "local_model_id", "reads_latin"]
