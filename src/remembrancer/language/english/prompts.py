"""Finding the question in a long prompt: behind a label or a tag, or in a short paragraph before or after pasted text.

English labels; the forms of chat templates and of pasted data (logs, code, tables, quoted mail) hold in any language.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from typing import Final

from remembrancer.domain.memory import CueFlag
from remembrancer.domain.query import QuestionKind
from remembrancer.language.english.frames import is_frame
from remembrancer.language.english.question_kinds import kind_of
from remembrancer.patterns import pattern

MOST_WORDS: Final = 80
"""The words of the longest paragraph that counts as a question before or after pasted text."""
READ_CHARS: Final = 20_000
"""The characters that are read at the beginning and at the end of a longer prompt."""
FEWEST_WORDS: Final = 4
"""The words of the shortest paragraph without a question mark that asks."""
FEW_SENTENCES: Final = 2
"""A question with so many sentences is searched whole; of more, only those that ask."""

_JSON_MESSAGE: Final = pattern(
    r'"role"\s*:\s*"user"\s*,\s*"content"\s*:\s*("(?:[^"\\]|\\.)*")'
    r'|"content"\s*:\s*("(?:[^"\\]|\\.)*")\s*,\s*"role"\s*:\s*"user"'
)
_ENDS: Final = pattern(
    r"<\|(?:im_end|eot_id|end)\|>|\[/INST\]|<(?:end_of_turn|/s)>|\n\s*#{1,6} "
    r"|\n\s*(?:assistant|ai|answer|a|response|reply)\s*:",
    re.IGNORECASE,
)
"""The end of a question that began with a marker."""
_TEMPLATE: Final = pattern(
    r"<\|im_start\|>user\n|<\|start_header_id\|>user<\|end_header_id\|>\s*|<start_of_turn>user\n|<\|user\|>\s*"
    r"|\[INST\]\s*(?:<<SYS>>[\s\S]{0,20000}?<</SYS>>\s*)?"
)
"""The beginning of what the user says in a chat template."""
_TAGS: Final = pattern(
    r"<((?:user[_-]?)?(?:question|query|input|message|request)|task|prompt)>([^<]{1,4000})</\1>", re.IGNORECASE
)
_LABELS: Final = pattern(
    r"(?:^|(?<=[\n.!?>*]))[^\S\n]*(?:[#*>-]+[^\S\n]*)?(?:(?:[\w']+[^\S\n]+){0,3}(?:question|query)|q"
    r"|(?:user|human)(?:'s)?(?: (?:message|request|input))?"
    r"|(?:my|the|your) (?:task|request))[^\S\n]*\**:\**[^\S\n]*\n?(?=\S)"
    r"|^#{1,6} (?:[\w']+ ){0,2}(?:question|query|task|request|message|input)[^\S\n]*:?\n+(?=\S)",
    re.IGNORECASE | re.MULTILINE,
)
_FENCED: Final = pattern(r"(?m)^[ \t]*(```|~~~)[\s\S]*?(?:^[ \t]*\1[ \t]*$|\Z)")
_PARAGRAPHS: Final = pattern(r"\n[ \t]*\n+")
_DATA: Final = pattern(
    r"[ \t]*(?:\d{4}-\d\d-\d\d[T ,]|\d\d:\d\d:\d\d|\[?(?:INFO|DEBUG|WARN(?:ING)?|ERROR|TRACE|FATAL)\b|[{}\[\]<>|$]|@@"
    r"|[-+*•]\s|\d+[.)]\s|[+-]\S"
    r"|File \"|Traceback\b|at [\w.$]+\(|#|//|import |from \w+ import"
    r"|def |class |return\b"
    r"|(?:From|To|Subject|Date|Cc): )"
)
"""A line of a log, of code, of a diff, of a list, of a quoted mail or of its head."""
_SENTENCE: Final = pattern(r"(?<=[.!?])\s+|\n+")
_WORD: Final = pattern(r"[^\W\d_]{2,}")
_ENUMERATED: Final = pattern(r"[^\n]*(?:[,;|\t][^,;|\t\n]*){4,}")
"""A row of a table."""


def question_in(prompt: str, words_in: Callable[[str], int]) -> str | None:
    """The question of a long prompt; None if nothing shows which part it is. `words_in`: counts the words of a text.

    >>> question_in("You are a poet." + " Rhyme." * 99 + " Question: Which port is it?", lambda text: text.count(" "))
    'Which port is it?'
    """
    if len(prompt) > 2 * READ_CHARS:
        prompt = f"{prompt[:READ_CHARS]}\n\n{prompt[-READ_CHARS:]}"
    if (marked := _marked(prompt, words_in)) is not None:
        return marked
    found = _apart(prompt, words_in)
    sentences = [] if found is None else [one for one in _SENTENCE.split(found) if one.strip()]
    asking = [one for one in sentences if one.endswith("?")]
    return " ".join(asking) if asking and len(sentences) > FEW_SENTENCES else found


def _marked(prompt: str, words_in: Callable[[str], int]) -> str | None:
    """The last part of the prompt that a message, a template, a tag or a label marks as what the user asks."""
    if messages := _JSON_MESSAGE.findall(prompt):
        last = messages[-1][0] or messages[-1][1]
        try:
            return str(json.loads(last)).strip() or None
        except ValueError:
            return None
    for markers in (_TEMPLATE, _LABELS):
        found = list(markers.finditer(prompt))
        if found:
            rest = prompt[found[-1].end() :]
            end = _ENDS.search(rest)
            said = _PARAGRAPHS.split(rest[: end.start()] if end else rest, maxsplit=1)[0].strip()
            return _brief(said, words_in)
        if markers is _TEMPLATE and (tagged := _TAGS.findall(prompt)):
            return _brief(tagged[-1][1], words_in)
    return None


def _apart(prompt: str, words_in: Callable[[str], int]) -> str | None:
    """The short paragraph at the beginning or the end of the prompt that asks, beside pasted text."""
    paragraphs = _prose(_PARAGRAPHS.split(_FENCED.sub("\n\n", prompt)))
    if len(paragraphs) == 1:
        paragraphs = _prose(paragraphs[0].split("\n"))
    while paragraphs and is_frame(paragraphs[-1]):
        del paragraphs[-1]
    if not paragraphs:
        return None
    first, last = _brief(paragraphs[0], words_in), _brief(paragraphs[-1], words_in)
    if first is None or last is None or len(paragraphs) == 1:
        return first or last
    if _asks(first) > _asks(last) or len(last.split()) < FEWEST_WORDS:
        return first
    return last if _asks(last) else None


def _prose(paragraphs: Sequence[str]) -> list[str]:
    """The paragraphs that are not pasted data."""
    return [one.strip() for one in paragraphs if one.strip() and not _is_data(one)]


def _is_data(paragraph: str) -> bool:
    lines = [line for line in paragraph.split("\n") if line.strip()]
    rows = len(lines) > 1
    data = sum(_DATA.match(line) is not None or (rows and _ENUMERATED.fullmatch(line) is not None) for line in lines)
    if 2 * data > len(lines):
        return True
    letters = sum(map(len, _WORD.findall(paragraph)))
    return 2 * letters < len("".join(paragraph.split()))


def _asks(text: str) -> int:
    """The clearness with which a paragraph asks: 3 with a question mark at its end, 2 before its last sentence, 1 by
    its words, 0 not at all.
    """
    sentences = [one for one in _SENTENCE.split(text) if one.strip()]
    if sentences[-1].rstrip("\"' )*_").endswith("?"):
        return 3
    if len(sentences) > 1 and sentences[-2].endswith("?"):
        return 2
    if len(text.split()) < FEWEST_WORDS:
        return 0  # "Best regards, Tom"
    return int(kind_of(text, CueFlag.NOTHING) is not QuestionKind.STATEMENT)


def _brief(text: str, words_in: Callable[[str], int]) -> str | None:
    return text.strip() if text.strip() and words_in(text) <= MOST_WORDS else None
