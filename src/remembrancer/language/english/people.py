"""Finding the names of speakers in a question: as spelled, with other capitals, in another spelling, or shortened."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import lru_cache
from itertools import chain, pairwise, repeat
from types import MappingProxyType
from typing import Final, NamedTuple
from uuid import UUID

from remembrancer.domain.event import Role
from remembrancer.domain.names import LearnedName, NamedSpeaker, NameMatch
from remembrancer.language.english.agreement import PUT_IN, agreeing
from remembrancer.language.english.dates import MONTHS, WEEKDAYS
from remembrancer.language.english.given_names import WORDS, given_name
from remembrancer.language.english.spelling import is_misspelling
from remembrancer.language.english.stop_words import STOP_WORDS
from remembrancer.language.lexical import analyse, fold
from remembrancer.values import dataclass

_I: Final = re.compile(r"\bI\b")
_LETTERS: Final = r"[^\W\d_]+(?:['’-](?!s\b)[^\W\d_]+)*"
_TOKEN: Final = re.compile(rf"(?<![\w@])@?(?P<name>{_LETTERS})(?P<possessive>['’]s?(?!\w))?")
_PART: Final = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")
_CAMEL: Final = re.compile(r"(?<=[a-z])(?=[A-Z])")
_TITLES: Final = frozenset({"dr", "mr", "mrs", "ms", "miss", "prof", "sir"})
_LEAST_LETTERS: Final = 3
"""Shorter names are matched as spelled only."""
_MAX_MATCHED: Final = 200
"""With more speakers, names are matched as spelled only: among so many, another spelling means several of them."""
_ENDS: Final = frozenset(".!?:\n")

_SUBJECT, _POSSESSIVE, _WE, _OUR = "\x01", "\x02", "\x03", "\x04"
_JOINED: Final = re.compile(
    rf"(?:\bboth )?[{_SUBJECT}{_POSSESSIVE}](?:(?:,? (?:and|or|&) |, )[{_SUBJECT}{_POSSESSIVE}])+"
)
_RETOLD: Final = re.compile(f"[{_SUBJECT}{_POSSESSIVE}{_WE}{_OUR}]")

_TIME_BEFORE: Final = re.compile(
    r"\b(?:in|last|next|this|since|until|till|by|before|after|during|of|early|mid|late|every|each|from|to|through|on"
    r"|\d+(?:st|nd|rd|th)?)[ -]$",
    re.IGNORECASE,
)
_TIME_AFTER: Final = re.compile(r",? (?:of|\d)")
_ARTICLE_BEFORE: Final = re.compile(
    r"\b(?:an?|the|this|that|some|any|no|my|your|his|her|its|our|their) $", re.IGNORECASE
)
_PLACE_BEFORE: Final = re.compile(r"\b(?:in|into|near|around|across|via|visit(?:ed|ing)?) $", re.IGNORECASE)


class Mention(NamedTuple):
    """A speaker's name in a question: from `start` to `end`, with its possessive. `names`: those it may stand for;
    `role`: that of the turns without a name that it stands for instead. `said_in`: the memory from which that was
    learned.
    """

    start: int
    end: int
    name: str
    names: frozenset[str]
    is_possessive: bool
    match: NameMatch = NameMatch.SPELLED
    role: Role | None = None
    said_in: UUID | None = None

    @property
    def is_proper(self) -> bool:
        """Whether it begins with a capital, or is in a script without capitals."""
        first = self.name[0]
        return first != first.lower() or first == first.upper()


@dataclass(frozen=True, slots=True, eq=False)
class People:
    """Known speakers. `names`: for each part of a name, the full names that it may stand for; `spelled`: the same by
    the part without accents and capitals.

    Names are matched as spelled, then without regard to capitals and accents, then as another spelling or a short form
    of the same given name, then with a letter or two that differ. A lower-case word that may be an ordinary one is a
    name only if the speaker spells it so, or in a question without capitals beyond its first letter.

    `learned`: by the folded words of further names, whose they are; None: of several speakers, so of nobody. Such a
    name is never a part of a speaker's own name, and precedes other spellings and short forms.
    """

    names: Mapping[str, frozenset[str]]
    spelled: Mapping[str, frozenset[str]]
    _exact: re.Pattern[str] | None
    _small: Mapping[str, frozenset[str]]
    _exact_small: re.Pattern[str] | None
    _several: bool
    learned: Mapping[tuple[str, ...], LearnedName | None]

    def knowing(self, learned: Iterable[LearnedName]) -> People:
        """The same with further names of the speakers; those that are spelled as a speaker's own name are left out."""
        found: dict[tuple[str, ...], LearnedName | None] = {}
        for one in learned:
            words = tuple(fold(word) for word in one.name.split())
            if one.name in self.names or (len(words) == 1 and words[0] in self.spelled):
                continue
            other = found.setdefault(words, one)
            if other is None or (other.speaker, other.role) != (one.speaker, one.role):
                found[words] = None
        return replace(self, learned=MappingProxyType(found)) if found else self

    def named_in(self, question: str) -> frozenset[str]:
        """The full names of the speakers that the question names."""
        return frozenset(name for mention in self.mentions(question) for name in mention.names)

    def read_in(self, question: str) -> tuple[NamedSpeaker, ...]:
        """The names in the question, in order, with the speakers that each stands for."""
        found = (
            NamedSpeaker(mention.name, speaker, mention.match, mention.said_in)
            for mention in self.mentions(question)
            for speaker in sorted(mention.names) or filter(None, [mention.role])
        )
        return tuple(dict.fromkeys(found))

    def roles_in(self, question: str) -> frozenset[Role]:
        """The roles of the turns without a name that the question names by a learned name."""
        return frozenset(mention.role for mention in self.mentions(question) if mention.role is not None)

    def unknown_in(self, question: str) -> frozenset[str]:
        """The folded words of the question that may be learned names: those that are no speaker's name as spelled."""
        small = in_small_letters(question)
        found: set[str] = set()
        for token in _TOKEN.finditer(question):
            folded = fold(token["name"])
            if folded in self.spelled or folded in STOP_WORDS:
                continue
            if token["name"][0].isupper() or (folded not in WORDS and (small or given_name(folded) is not None)):
                found.add(folded)
        return frozenset(found)

    def mentions(self, question: str) -> tuple[Mention, ...]:
        """The names of speakers in the question, in order."""
        return _mentions(self, question)

    def find(self, question: str) -> tuple[Mention, ...]:
        """As `mentions`, not cached."""
        found = list(_found(self._exact, self.names, question))
        small = in_small_letters(question)
        if small:
            found += _apart(_found(self._exact_small, self._small, question), found)
        if self.learned:
            found += _apart(self._learned_in(question, small=small), found)
        if self.spelled and not self._several:
            found += _apart(self._other_forms(question), found)
        return tuple(sorted((one for one in found if one.names or one.role is not None), key=lambda one: one.start))

    def left_out(self, question: str, *, proper: bool = False) -> str:
        """The question without the speakers' names and their possessives.

        `proper`: remove only names that begin with a capital, or are in a script without capitals; others may be
        ordinary words of the question. A question of only names and stop words is returned unchanged.
        """
        mentions = [mention for mention in self.mentions(question) if mention.is_proper or not proper]
        return _replaced(question, mentions, lambda _: " ") if mentions else question

    def as_speaker(self, question: str) -> str:
        """The question as its first named speaker would ask it: "Where did I move?" for "Where did Ana move?".

        Speakers tell of themselves in the first person, so that this resembles what they said more than the question
        does without the name, and it stays a sentence. Further speakers become "you", and several named together "we".
        Names in small letters that are not known as given names may be words, and are left out. A question of only
        names and stop words is returned unchanged.
        """
        mentions = self.mentions(question)
        if not mentions:
            return question
        marked = _replaced(question, mentions, _mark)
        marked = _JOINED.sub(lambda run: _OUR if run[0].endswith(_POSSESSIVE) else _WE, marked)
        pronouns = chain([("I", "my")], repeat(("you", "your")))

        def word(mark: re.Match[str]) -> str:
            if mark[0] in (_WE, _OUR):
                return PUT_IN + ("we" if mark[0] == _WE else "our")
            subject, possessive = next(pronouns)
            return PUT_IN + (subject if mark[0] == _SUBJECT else possessive)

        return left_or_whole(agreeing(_RETOLD.sub(word, marked)), question)

    def _learned_in(self, question: str, *, small: bool) -> Iterator[Mention]:
        """Learned names, the longest first; also those of several speakers, which stand for nobody."""
        tokens = list(_TOKEN.finditer(question))
        folded = [fold(token["name"]) for token in tokens]
        taken = set[int]()
        for size in range(min(max(map(len, self.learned)), len(tokens)), 0, -1):
            for place in range(len(tokens) - size + 1):
                words, run = tuple(folded[place : place + size]), tokens[place : place + size]
                if words not in self.learned or not taken.isdisjoint(range(place, place + size)):
                    continue
                start, end = run[0].start(), run[-1].end()
                is_capital = run[0]["name"][0].isupper()
                if not _are_adjacent(run, question) or not _may_be_name(
                    question, start, words, is_capital=is_capital, small=small
                ):
                    continue
                taken.update(range(place, place + size))
                one = self.learned[words]
                yield Mention(
                    start,
                    end,
                    question[run[0].start("name") : run[-1].end("name")],
                    frozenset() if one is None or one.speaker is None else frozenset({one.speaker}),
                    run[-1]["possessive"] is not None,
                    NameMatch.LEARNED,
                    one.role if one is not None and one.speaker is None else None,
                    None if one is None else one.said_in,
                )

    def _other_forms(self, question: str) -> Iterator[Mention]:
        """Names of speakers in other letters or spellings, or as short forms."""
        for token in _TOKEN.finditer(question):
            name = token["name"]
            if len(name) < _LEAST_LETTERS and not name[0].isupper():
                continue
            before, folded = question[: token.start()], fold(name)
            if (folded not in self.spelled and _PLACE_BEFORE.search(before)) or (
                folded in _TIMES and (_TIME_BEFORE.search(before) or _TIME_AFTER.match(question, token.end()))
            ):
                continue
            names = self._meant(folded, capital=name[0].isupper() and not _begins(question, token.start()))
            if names:
                match = NameMatch.SPELLED if names is self.spelled.get(folded) else NameMatch.FORM
                yield Mention(token.start(), token.end(), name, names, token["possessive"] is not None, match)

    def _meant(self, name: str, *, capital: bool) -> frozenset[str]:
        """The speakers that a folded word may stand for. `capital`: it has one within a sentence."""
        if name in STOP_WORDS or name in _TIMES:  # Will, May: with a capital within a sentence
            return self.spelled.get(name, frozenset()) if capital else frozenset()
        if not capital and name in WORDS:
            return frozenset()
        if name in self.spelled and (capital or given_name(name) is not None):
            return self.spelled[name]
        if len(name) < _LEAST_LETTERS - 1:
            return frozenset()
        known = given_name(name)
        if known is None and not capital:
            return frozenset()
        related: set[frozenset[str]] = set()
        for part, names in self.spelled.items():
            other = None if known is None else given_name(part)
            if known is not None and other is not None:
                if known.may_be(other):
                    related.add(names)
            elif capital and is_misspelling(name, part):
                related.add(names)
        return next(iter(related)) if len(related) == 1 else frozenset()


@lru_cache(maxsize=4)
def _mentions(people: People, question: str) -> tuple[Mention, ...]:
    """Cached, because reading a question uses them three times; few, because this keeps the questions in memory."""
    return people.find(question)


@lru_cache(maxsize=64)
def people(participants: frozenset[str]) -> People:
    """The speakers with these names, prepared for matching. Cached, because consecutive questions have the same
    speakers.
    """
    names: dict[str, set[str]] = {}
    spelled: dict[str, set[str]] = {}
    for name in participants:
        for part in (name, *name.split()):
            if len(part) > 1 and not _is_a_word(part):
                names.setdefault(part, set()).add(name)
        for part in _parts(name):
            spelled.setdefault(fold(part), set()).add(name)
    small: dict[str, set[str]] = {}
    for name in participants:
        for part in {name, *name.split()[:1]} & names.keys():
            small.setdefault(part.lower(), set()).add(name)
    return People(
        names=_frozen(names),
        spelled=_frozen(spelled),
        _exact=_any_of(list(names)),
        _small=_frozen(small),
        _exact_small=_any_of(list(small)),
        _several=len(participants) > _MAX_MATCHED,
        learned=MappingProxyType({}),
    )


def _are_adjacent(run: list[re.Match[str]], question: str) -> bool:
    """Whether only a blank stands between the words of a name."""
    return all(one["possessive"] is None and question[one.end() : other.start()] == " " for one, other in pairwise(run))


def _may_be_name(question: str, start: int, words: tuple[str, ...], *, is_capital: bool, small: bool) -> bool:
    """Whether a word spelled as a learned name is one there: with a capital that no beginning of a sentence explains,
    or in small letters if it is no ordinary word.
    """
    before, first = question[:start], words[0]
    if _PLACE_BEFORE.search(before):
        return False
    if is_capital and (len(words) > 1 or not _begins(question, start)):
        return True
    if first in STOP_WORDS or first in WORDS:
        return False
    if is_capital:
        return True
    return (small or given_name(first) is not None) and not _ARTICLE_BEFORE.search(before)


def _parts(name: str) -> list[str]:
    """The words of a name by which its person may be called: of an address, those before the @."""
    spaced = name.lstrip("@").partition("@")[0].replace("_", " ")
    return [
        part
        for piece in _PART.findall(spaced)
        for part in (piece, *(_CAMEL.split(piece) if _CAMEL.search(piece) else ()))
        if len(part) > 1 and (part[0].isupper() or not _is_a_word(part)) and part.lower() not in _TITLES
    ]


def _found(pattern: re.Pattern[str] | None, names: Mapping[str, frozenset[str]], question: str) -> Iterator[Mention]:
    for match in pattern.finditer(question) if pattern is not None else ():
        yield Mention(match.start(), match.end(), match["name"], names[match["name"]], match["possessive"] is not None)


def _apart(mentions: Iterator[Mention], others: list[Mention]) -> list[Mention]:
    """The mentions that overlap no other one."""
    return [one for one in mentions if all(one.end <= other.start or other.end <= one.start for other in others)]


def _replaced(question: str, mentions: tuple[Mention, ...] | list[Mention], by: Callable[[Mention], str]) -> str:
    left, end = "", 0
    for mention in mentions:
        left += question[end : mention.start] + by(mention)
        end = mention.end
    return left_or_whole(left + question[end:], question)


def _mark(mention: Mention) -> str:
    if not mention.is_proper and mention.match is not NameMatch.LEARNED and given_name(fold(mention.name)) is None:
        return " "
    return _POSSESSIVE if mention.is_possessive else _SUBJECT


def _begins(question: str, start: int) -> bool:
    """Whether a sentence begins at this place."""
    before = question[:start].rstrip(" \"'“‘(*_-")
    return not before or before[-1] in _ENDS


def _frozen(names: Mapping[str, set[str]]) -> Mapping[str, frozenset[str]]:
    return MappingProxyType({part: frozenset(whole) for part, whole in names.items()})


def left_or_whole(left: str, question: str) -> str:
    """The remaining text of a question; the whole question if only stop words remain."""
    left = " ".join(left.split())
    return left if analyse(left).terms else question


def in_small_letters(question: str) -> bool:
    """Whether the question has no capitals except its first letter and the word *I*."""
    rest = _I.sub(" ", question[1:])
    return rest == rest.lower()


def _any_of(parts: list[str]) -> re.Pattern[str] | None:
    if not parts:
        return None
    longest_first = "|".join(re.escape(part) for part in sorted(parts, key=lambda part: (-len(part), part)))
    return re.compile(rf"(?<!\w)(?P<name>{longest_first})(?P<possessive>['’]s|(?<=s)['’](?!\w))?(?!\w)")


_TIMES: Final = frozenset(word.lower() for word in (*MONTHS, *WEEKDAYS))


def _is_a_word(name: str) -> bool:
    """Whether a name is more often an ordinary word, such as Will, May, April."""
    return name.casefold() in STOP_WORDS or name in MONTHS
