"""Tests of frameworks that need other versions of packages than the development environment: `make test-frameworks`
runs them in an environment of their own. Elsewhere none of them is collected.
"""

from __future__ import annotations

import os
from importlib.util import find_spec

collect_ignore_glob = [] if find_spec("crewai") and find_spec("langchain_tests") else ["test_*.py"]
if not collect_ignore_glob:  # elsewhere this file is read too, and the server's traces are tested
    os.environ["CREWAI_DISABLE_TELEMETRY"] = os.environ["OTEL_SDK_DISABLED"] = "true"
