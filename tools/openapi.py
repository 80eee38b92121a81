"""Print the OpenAPI document of the server: `python tools/openapi.py`."""

from __future__ import annotations

import json
import sys

from reference.http import served

if __name__ == "__main__":
    json.dump(served()[0], sys.stdout, indent=1)
