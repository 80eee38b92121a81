"""Who is to have said what a question asks about, by its pronouns or the role it names, in English."""

from __future__ import annotations

import re
from typing import Final

from remembrancer.domain.event import Role
from remembrancer.policies.lexical import analyse
from remembrancer.policies.people import in_small_letters

_OFTEN: Final = (
    r"(?:\s+(?:had|have|has|once|also|just|even|then|first|originally|actually|already|always|ever|recently))*"
)
"""What may stand between a pronoun and its verb."""

_PAST: Final = (
    r"(?:said|told|gave|given|made|wrote|written|set|put|came|drew|sent|taught|thought|showed|shown|found|chose|chosen"
    r"|had(?!\s+(?:to|better|rather)\b)|\w+[^\We]ed)"
)
"""A verb in the past: the irregular ones of telling and making, and those in -ed (but not "need" or "feed")."""

_ASSISTANT: Final = r"the\s+assistant"
_USER: Final = r"(?:[Tt]he\s+user(?:['\u2019]s)?|[Uu]ser['\u2019]s)"
_YOU: Final = rf"(?:you|{_ASSISTANT})"
_YOU_DID: Final = re.compile(
    r"(?:\b(?P<modal>would|could|should|can|will|might|may|must|do|does)\s+)?"
    rf"\b{_YOU}(?:['\u2019](?:d|ve))?{_OFTEN}\s+{_PAST}\b|\b(?:did|had)\s+{_YOU}\b",
    re.IGNORECASE,
)
_I: Final = re.compile(rf"\b(?:I|[Mm]y|[Mm]ine|[Mm]yself|{_USER})\b")
_SMALL_I: Final = re.compile(r"\bi\b")
_WE: Final = re.compile(r"\b(?:[Ww]e|[Oo]urs?|[Oo]urselves)\b")
_ME: Final = re.compile(r"(?:\b(?P<told>[Tt]ell|[Rr]emind|[Gg]ive|[Ss]how|[Ll]et|[Hh]elp)\s+)?\b(?:me|us)\b")
_WE_TALKED: Final = re.compile(
    rf"\bwe(?:['\u2019](?:d|ve))?{_OFTEN}\s+(?:talk|discuss|decid|agree|settle|conclud|chat|cover|spoke|speak|said|say)",
    re.IGNORECASE,
)
_ROLE: Final = re.compile(rf"\b(?:{_USER}|[Tt]he\s+assistant(?:['\u2019]s)?)(?!\w)")


def role_of(question: str) -> frozenset[Role]:
    """Who is to have said it: the user what concerns himself and his own, the assistant what "you" told.

    Agents that ask call them "the user" and "the assistant": the same goes for these. What "you" would do is not told
    yet: "What would you take for my trip?" asks about the one who travels. What "we" talked about or decided either may
    have said. Nobody where the words do not tell.

    >>> sorted(role_of("What is our dog called?")), sorted(role_of("Which hotel did you suggest for my trip?"))
    ([<Role.USER: 'user'>], [<Role.ASSISTANT: 'assistant'>])
    """
    if any(found["modal"] is None for found in _YOU_DID.finditer(question)):
        return frozenset({Role.ASSISTANT})
    return frozenset({Role.USER}) if _is_of_oneself(question) else frozenset()


def roles_left_out(question: str) -> str:
    """The question without "the user" and "the assistant", who seldom speak of themselves so; as it is where nothing
    but stop words would be left.

    >>> roles_left_out("What is the user's dog called?")
    'What is dog called?'
    """
    left = " ".join(_ROLE.sub(" ", question).split())
    return left if analyse(left).terms else question


def _is_of_oneself(question: str) -> bool:
    if _I.search(question) or (in_small_letters(question) and _SMALL_I.search(question)):
        return True
    if _WE_TALKED.search(question):
        return False
    return _WE.search(question) is not None or any(found["told"] is None for found in _ME.finditer(question))
