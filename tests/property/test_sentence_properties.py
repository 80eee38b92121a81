from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from remembrancer.language.english.sentences import sentences, without_code, without_quotations

PIECES = [*"ab.!;?:,\n\t -–—'‘’\"“”„«»`>/#$", "// ", "```", "# ", "> "]
texts = st.lists(st.sampled_from(PIECES), max_size=30).map("".join)

CODE = re.compile(r"```.*?(?:```|\Z)|`[^`\n]*`|^[ \t]*(?:>|//|#|\$ ).*$", re.DOTALL | re.MULTILINE)
QUOTED = re.compile(r"[\"“„«][^\"“”„«»\n]{2,}[\"”“»]|(?<!\w)['‘][^'‘\n]{2,}'(?!\w)")
END = re.compile(r"(?<=[.!?;])\s+|\n+|\s+[–—-]+\s+")


@given(texts)
def test_the_quick_expressions_find_what_the_plain_ones_find(text: str) -> None:
    assert without_code(text, "\n") == CODE.sub("\n", text)
    assert without_quotations(text, "…") == QUOTED.sub("…", text)
    assert sentences(text) == [part.strip() for part in END.split(text)]
