"""Who is to have said what a question asks about, by its pronouns, in English."""

from __future__ import annotations

import re
from typing import Final

from remembrancer.domain.event import Role
from remembrancer.policies.people import in_small_letters

_OFTEN: Final = r"(?:\s+(?:had|have|once|also|just|even|then|first|originally|actually|already|always|ever|recently))*"
"""What may stand between a pronoun and its verb."""

_PAST: Final = (
    r"(?:said|told|gave|given|made|wrote|written|set|put|came|drew|sent|taught|thought|showed|shown|found|chose|chosen"
    r"|had(?!\s+(?:to|better|rather)\b)|\w+[^\We]ed)"
)
"""A verb in the past: the irregular ones of telling and making, and those in -ed (but not "need" or "feed")."""

_YOU_DID: Final = re.compile(
    r"(?:\b(?P<modal>would|could|should|can|will|might|may|must|do)\s+)?"
    rf"\byou(?:['\u2019](?:d|ve))?{_OFTEN}\s+{_PAST}\b|\b(?:did|had)\s+you\b",
    re.IGNORECASE,
)
_I: Final = re.compile(r"\b(?:I|[Mm]y|[Mm]ine|[Mm]yself)\b")
_SMALL_I: Final = re.compile(r"\bi\b")
_WE: Final = re.compile(r"\b(?:[Ww]e|[Oo]urs?|[Oo]urselves)\b")
_ME: Final = re.compile(r"(?:\b(?P<told>[Tt]ell|[Rr]emind|[Gg]ive|[Ss]how|[Ll]et|[Hh]elp)\s+)?\b(?:me|us)\b")
_WE_TALKED: Final = re.compile(
    rf"\bwe(?:['\u2019](?:d|ve))?{_OFTEN}\s+(?:talk|discuss|decid|agree|settle|conclud|chat|cover|spoke|speak|said|say)",
    re.IGNORECASE,
)


def role_of(question: str) -> frozenset[Role]:
    """Who is to have said it: the user what concerns himself and his own, the assistant what "you" told.

    What "you" would do is not told yet: "What would you take for my trip?" asks about the one who travels. What "we"
    talked about or decided either may have said. Nobody where the pronouns do not tell.

    >>> sorted(role_of("What is our dog called?")), sorted(role_of("Which hotel did you suggest for my trip?"))
    ([<Role.USER: 'user'>], [<Role.ASSISTANT: 'assistant'>])
    """
    if any(found["modal"] is None for found in _YOU_DID.finditer(question)):
        return frozenset({Role.ASSISTANT})
    return frozenset({Role.USER}) if _is_of_oneself(question) else frozenset()


def _is_of_oneself(question: str) -> bool:
    if _I.search(question) or (in_small_letters(question) and _SMALL_I.search(question)):
        return True
    if _WE_TALKED.search(question):
        return False
    return _WE.search(question) is not None or any(found["told"] is None for found in _ME.finditer(question))
