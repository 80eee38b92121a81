"""all-MiniLM-L6-v2 in this process, on the CPU, without PyTorch or network access."""

from remembrancer.adapters.embedders.local.graph import Precision
from remembrancer.adapters.embedders.local.model import LocalEmbedder, local_model_id, reads_latin

__all__ = ["LocalEmbedder", "Precision", "local_model_id", "reads_latin"]
