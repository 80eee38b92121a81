"""all-MiniLM-L6-v2 as ONNX graphs, for the local embedder of Remembrancer. NOTICE has its origin, licence and changes.

The files are in `FOLDER`; manifest.json there has the SHA-256 and size of each.
"""

from pathlib import Path
from typing import Final

FOLDER: Final = Path(__file__).parent
"""The folder with the graphs in 8-bit integers and in float32, the graph that sums bits, and the tokenizer."""
