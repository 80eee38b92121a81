"""Whether a preference or an instruction contradicts an earlier one, so that the earlier one has ended. English.

Precision comes first: a text ends another only if all that the other says is contradicted. Two likings of different
things contradict nothing.
"""

from __future__ import annotations

from functools import cache
from itertools import pairwise
from typing import Final

from remembrancer.language.english.preference_forms import LANGUAGES
from remembrancer.language.english.preferences import Statement, statements
from remembrancer.language.lexical import analyse
from remembrancer.patterns import pattern
from remembrancer.values import dataclass

_CHANGES: Final = pattern(
    r"\b(?:from (?:now|today) on(?:wards?)?|instead|no longer|any ?more|now|these days|nowadays|lately|again"
    r"|switch(?:ed)?"
    r"|actually|after all|stopped|gave up|quit)\b"
)
"""Words of a sentence that says what is now otherwise."""
_NEGATIONS: Final = pattern(
    r"\b(?:don't|do not|doesn't|never|no longer|not|can't|cannot|avoid|stop|stopped|quit|gave up|no|hate|dislike|detest"
    r"|loathe|despise|without)\b"
)
_CONDITION: Final = pattern(
    r"\b(?:when(?:ever)?|if|every time|each time|any ?time|in|for|on|at|during|before|after|with|while|unless|except)\b"
    r" [^,;]*"
)
_LASTING: Final = pattern(
    r"\b(?:from (?:now|today|here) on(?:wards?)?|going forward|in (?:the )?future|in general|by default|by the way|btw"
    r"|in (?:all|any|every|each)(?: of)? (?:(?:your|my|our) )?\w+|please|thanks?|thank you|though|too|at all|any ?more"
    r"|these days|nowadays|after all)\b"
)
_FRAME: Final = (
    "always never only prefer rather like love enjoy hate dislike detest loathe despise adore fan fond keen stand bear"
    " tolerate use keep answer answers reply replies respond responses write speak talk give make take eat drink want"
    " avoid stop stopped quit gave no longer not really much big now instead again switch switched actually just do"
    " become became gone going still person thing things your"
)
"""Words that say how much, how often, or that something is to be done, and not what."""
_ALTERNATIVES: Final = (
    "british american australian canadian",
    "metric imperial",
    "celsius fahrenheit",
    "formal informal casual",
    "short brief concise long detailed verbose",
    "aisle window middle",
    "tabs spaces",
    "dark light",
    "24-hour 12-hour",
    "upper lower",
    "morning mornings afternoon afternoons evening evenings",
    "vegetarian vegan pescatarian",
    "euros dollars pounds",
    "kilometres kilometers miles",
    LANGUAGES.replace("|", " "),
)
"""Words of which one holds."""
_FAVOURITE: Final = pattern(
    r"\bmy (?:all-time |absolute |very |new )*favou?rite ((?:\w+ ){1,4}?)(?:is|are|remains) (?:now )?(.+)"
)
_NAMED: Final = pattern(r"\b(?:call|address) me (?:as |by )?(\w+)|\b(?:be called|go by) (\w+)|\bpronouns are ([\w/]+)")


@dataclass(frozen=True, slots=True)
class _Claim:
    """The claim of a sentence. `about`: its words without those of its condition and its frame. `only_one`: whether it
    leaves no room for another of its kind. `slot`: what it gives a value to ("favourite colour"), with the value.
    """

    negative: bool
    changes: bool
    condition: frozenset[str]
    about: frozenset[str]
    next_to: frozenset[tuple[str, str]]
    only_one: bool
    slot: tuple[str, str] | None


def may_end(text: str) -> bool:
    """Whether the text states something that may contradict what was stated before; a quick look."""
    return any(
        claim.changes or claim.negative or claim.slot is not None or claim.about & _alternatives().keys()
        for claim in map(_claim, statements(text).made)
    )


def ends(later: str, earlier: str) -> bool:
    """Whether the later text contradicts all that the earlier one says.

    >>> ends("Use American spelling from now on.", "Use British spelling.")
    True
    >>> ends("I prefer aisle seats.", "I'm vegetarian."), ends("I love tea.", "I love coffee.")
    (False, False)
    """
    said = statements(earlier)
    if said.has_more or not said.made:
        return False
    now = [_claim(one) for one in statements(later).made]
    return all(any(_contradicts(new, _claim(one)) for new in now) for one in said.made)


def _contradicts(new: _Claim, old: _Claim) -> bool:
    if new.slot is not None and old.slot is not None:
        return new.slot[0] == old.slot[0] and new.slot[1] != old.slot[1]
    if new.condition != old.condition or not new.about or not old.about:
        return False
    if new.about == old.about:
        return new.negative != old.negative
    return new.only_one and old.only_one and not (new.negative or old.negative) and _replaces(new, old)


def _replaces(new: _Claim, old: _Claim) -> bool:
    """Whether the claims differ in one word, of which only one can hold."""
    ours, theirs = new.about - old.about, old.about - new.about
    if len(ours) != 1 or len(theirs) != 1:
        return False
    [mine], [other] = ours, theirs
    if (group := _alternatives().get(mine)) is not None and group == _alternatives().get(other):
        return True
    return new.changes and any((mine, word) in new.next_to and (other, word) in old.next_to for word in new.about)


def _claim(said: Statement) -> _Claim:
    changes = _CHANGES.search(said.text) is not None
    negations = len(_NEGATIONS.findall(said.text))
    text = _LASTING.sub(" ", said.text)
    rest = _CONDITION.sub(" ", text)
    condition = frozenset(analyse(" ".join(_CONDITION.findall(text))).terms)
    held = condition & _alternatives().keys()  # "in French" says what, not when
    return _Claim(
        negative=negations % 2 == 1,
        changes=changes,
        condition=condition - held,
        about=(frozenset(analyse(rest).terms) | held) - _frame(),
        next_to=frozenset(pairwise(analyse(rest).tokens)),
        only_one=said.tells or "prefer" in said.text or said.text.startswith(("i'm ", "i am ")),
        slot=_slot(said.text),
    )


def _slot(text: str) -> tuple[str, str] | None:
    """The name to which the sentence gives a value, and the value; None: it gives none."""
    if match := _FAVOURITE.search(text):
        return " ".join(analyse(match[1]).terms), " ".join(analyse(_LASTING.sub(" ", match[2])).terms)
    if match := _NAMED.search(text):
        return ("pronouns" if match[3] else "name"), match[1] or match[2] or match[3]
    return None


@cache
def _frame() -> frozenset[str]:
    return frozenset(analyse(_FRAME).terms)


@cache
def _alternatives() -> dict[str, int]:
    """The number of its group, by term."""
    return {term: group for group, words in enumerate(_ALTERNATIVES) for term in analyse(words).terms}
