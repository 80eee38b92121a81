"""The default's order where the embedder gives no vectors of words: the second column of its weights."""

from __future__ import annotations

from candidates import COLUMNS
from plain import table
from ranking_default import UNREAD, rows

if __name__ == "__main__":
    table(COLUMNS, rows(UNREAD))
