"""Speaker attribution: which role a question's answer should come from, by English pronouns and role names."""

from __future__ import annotations

import re
from typing import Final

from remembrancer.domain.event import Role
from remembrancer.language.english.agreement import PUT_IN, agreeing
from remembrancer.language.english.people import in_small_letters, left_or_whole
from remembrancer.patterns import pattern

_COMPOUND: Final = (
    r"(?!-)(?!\s+(?:accounts?|agents?|bases?|data|experience|flows?|groups?|guides?|ids?|interfaces?|interviews?|lists?"
    r"|management|managers?|manuals?|names?|research|roles?|settings?|stor(?:y|ies)|tables?|tests?|testing)\b)"
)
"""Words that must not follow: "the user interface" and "the assistant manager" do not name a participant."""
_USER: Final = (
    rf"(?:[Tt]he\s+user(?:['\u2019]s)?\b|(?<![Aa] )(?<!each )(?<!every )(?<!which )[Uu]ser['\u2019]s\b){_COMPOUND}"
)
_ASSISTANT: Final = rf"[Tt]he\s+assistant\b{_COMPOUND}"
_YOU: Final = rf"(?:[Yy]ou|{_ASSISTANT})"

_OFTEN: Final = (
    r"(?:\s+(?:had|have|has|once|also|just|even|then|first|originally|actually|already|always|ever|recently|who))*"
)
"""Words that may stand between a pronoun and its verb."""
_PAST: Final = (
    r"(?:said|told|gave|given|made|wrote|written|set|put|came|drew|sent|taught|thought|showed|shown|found|chose|chosen"
    r"|laid|brought|spoke|meant|did|done|had(?!\s+(?:to|better|rather)\b)|\w+[^\W_eE]ed)"
)
"""A verb in the past tense: irregular verbs of telling and making, and verbs in -ed (but not "need" or "feed")."""
_NO_SPEAKER: Final = (
    r"would|could|should|can|will|might|may|must|do|does|tell|told|ask|asked|to|for|with|give|gave|given|show|showed|shown"
    r"|send|sent|remind|reminded"
)
"""Words before "you" that exclude it as the source: what "would you" do is not said yet, and something said "to you"
was said by the other side.
"""
_YOU_DID: Final = pattern(
    rf"(?:\b(?P<no_speaker>(?i:{_NO_SPEAKER}))\s+)?\b{_YOU}(?:['\u2019](?:d|ve))?{_OFTEN}\s+{_PAST}\b"
    rf"|\b(?:[Dd]id|[Hh]ad|[Ww]ere)\s+{_YOU}|\b(?:[Aa]ccording\s+to|by)\s+{_YOU}"
    r"|\b(?:was|were|in|from|by|of|on|per|to)\s+(?:your\b|the\s+assistant['\u2019]s)"
)
_YOU_AND_I: Final = pattern(r"\byou\s+and\s+(?:I|me)\b", re.IGNORECASE)
_WE_TALKED: Final = pattern(
    rf"\bwe(?:['\u2019](?:d|ve))?{_OFTEN}\s+(?:talk|discuss|decid|agree|settle|conclud|chat|cover|spoke|speak|said|say|know|knew)",
    re.IGNORECASE,
)
_I_DID: Final = pattern(r"\b[Dd]id\s+(?:I|we|the\s+user)\b")
_I_WAS_TO: Final = pattern(r"\b[Ww](?:as|ere)\s+(?:I|we|the\s+user)\s+(?:supposed|meant|told|advised)\s+to\b")
_MY_MEMORY: Final = pattern(r"\b[Rr]efresh\s+my\s+memory\b")
_I: Final = pattern(rf"\b(?:I|[Mm]y|[Mm]ine|[Mm]yself)\b|\b{_USER}")
_SMALL_I: Final = pattern(r"\bi\b")
_WE: Final = pattern(r"\b(?:[Ww]e|[Oo]urs?|[Oo]urselves)\b")
_ME: Final = pattern(
    r"(?:\b(?P<told>tell|telling|remind|give|show|let|help|find|walk|update|get|bring|send|read)\s+)?\b(?:me|us)\b",
    re.IGNORECASE,
)
_ROLE: Final = pattern(rf"\b(?:{_USER}|[Tt]he\s+assistant(?:['\u2019]s)?\b{_COMPOUND})")


def role_of(question: str, *, several: bool = False) -> frozenset[Role]:
    """The role that is expected to have said the answer; empty if the question does not show it.

    Questions with "I" or "my" expect the user; what "you" told, suggested and so on expects the assistant. "The user"
    and "the assistant" count the same way. "What would you take for my trip?" expects the user, because the assistant
    has not said it yet. What "we" discussed or decided, or somebody was supposed to do, expects either. `several`: more
    than two named people take part, so "we" may be all of them.

    >>> sorted(role_of("What is our dog called?")), sorted(role_of("Which hotel did you suggest for my trip?"))
    ([<Role.USER: 'user'>], [<Role.ASSISTANT: 'assistant'>])
    """
    if _WE_TALKED.search(question) or _YOU_AND_I.search(question):
        return frozenset()
    told = next((found for found in _YOU_DID.finditer(question) if found["no_speaker"] is None), None)
    asked = _I_DID.search(question)
    if told and not (asked and asked.start() < told.start()):
        return frozenset({Role.ASSISTANT})
    if _I_WAS_TO.search(question):
        return frozenset()
    of_oneself = _is_of_oneself(_MY_MEMORY.sub("", question)) or (not several and _is_of_ones_own(question))
    return frozenset({Role.USER}) if of_oneself else frozenset()


def roles_left_out(question: str) -> str:
    """The question without "the user" and "the assistant", because neither role calls itself so in its turns.

    A question of only these and stop words is returned unchanged.

    >>> roles_left_out("What is the user's dog called?")
    'What is dog called?'
    """
    return left_or_whole(_ROLE.sub(" ", question), question)


def roles_in_first_person(question: str) -> str:
    """The question with "I" and "you" in place of "the user" and "the assistant", as their turns say them.

    >>> roles_in_first_person("What is the user's dog called?")
    'What is my dog called?'
    """
    spoken = _ROLE.sub(_pronoun, question)
    return question if spoken == question else agreeing(spoken)


def _pronoun(role: re.Match[str]) -> str:
    is_possessive = role[0].endswith(("'s", "\u2019s"))
    if role[0].lower().startswith(("user", "the user")):
        return PUT_IN + ("my" if is_possessive else "I")
    return PUT_IN + ("your" if is_possessive else "you")


def _is_of_oneself(question: str) -> bool:
    return bool(_I.search(question) or (in_small_letters(question) and _SMALL_I.search(question)))


def _is_of_ones_own(question: str) -> bool:
    return _WE.search(question) is not None or any(found["told"] is None for found in _ME.finditer(question))
