"""Names learned from statements: which further names the speakers have after all that was said, in order."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from collections.abc import Set as AbstractSet
from typing import NamedTuple
from uuid import UUID

from remembrancer.domain.event import Role
from remembrancer.domain.names import LearnedName
from remembrancer.language.english.given_names import WORDS, given_name
from remembrancer.language.english.other_names import Naming, begins, listed, namings
from remembrancer.language.english.people import People, people
from remembrancer.language.lexical import fold


class Said(NamedTuple):
    """A text that may state names. `role`, `actor`: of the turn; `role` None: a note, which nobody said. `said_in`: its
    memory.
    """

    text: str
    role: Role | None
    actor: str | None
    said_in: UUID


class _Person(NamedTuple):
    """A speaker by name, or by the role of turns without one."""

    speaker: str | None
    role: Role | None


def learned_names(
    said: Iterable[Said], participants: Collection[str], words: AbstractSet[str]
) -> tuple[LearnedName, ...]:
    """The other names that speakers have according to these texts, which are ordered by time, the oldest first.
    Speakers are the `participants`, and the roles of turns without an actor.

    Only texts with one of the folded `words` are read, and texts with another name of a person whom these mention,
    because reading takes most of the time.

    A statement about somebody else counts if exactly one of its two names belongs to one participant, as spelled. After
    a person has ended a name, only that person can begin to use it again.
    """
    known = people(frozenset(participants))
    names: dict[tuple[str, _Person], LearnedName] = {}
    ended: set[tuple[str, _Person]] = set()
    for one, stated in _stated(said, words):
        for naming in stated:
            for name, person in _told(naming, one, known, names):
                key = (fold(name), person)
                if naming.ends:
                    names.pop(key, None)
                    ended.add(key)
                elif naming.of_speaker or key not in ended:
                    ended.discard(key)
                    names[key] = LearnedName(name, *person, one.said_in)
    return tuple(one for one in names.values() if one.speaker is None or one.speaker in participants)


def _stated(said: Iterable[Said], words: AbstractSet[str]) -> Iterator[tuple[Said, tuple[Naming, ...]]]:
    """The texts that matter for these words, each with its statements."""
    texts = [(one, fold(one.text)) for one in said]
    read: dict[int, tuple[Naming, ...]] = {}
    wanted = set(words)
    for _ in range(2):
        for place, (one, folded) in enumerate(texts):
            if place not in read and any(word in folded for word in wanted):
                read[place] = (*namings(one.text), *(listed(one.text) if one.role is None else ()))
        pairs = (naming.names for stated in read.values() for naming in stated if not naming.of_speaker)
        wanted.update(fold(word) for names in pairs for name in names for word in name.split())
    return ((texts[place][0], read[place]) for place in sorted(read))


def _told(
    naming: Naming, said: Said, known: People, names: dict[tuple[str, _Person], LearnedName]
) -> Iterator[tuple[str, _Person]]:
    """The names that a statement gives or ends, and whose they are."""
    if naming.of_speaker:
        if said.role is None:
            return
        bearer = _Person(said.actor or None, None if said.actor else said.role)
        for name in naming.names:
            if not naming.needs_likeness or _is_like(name, said.actor or ""):
                yield from ((form, bearer) for form in _forms(name))
        return
    of = [_bearers(name, known, names) for name in naming.names]
    bearers = {person for persons in of for person in persons}
    if len(bearers) == 1:
        for name, persons in zip(naming.names, of, strict=True):
            if not persons:
                yield from ((form, next(iter(bearers))) for form in _forms(name))


def _forms(name: str) -> Iterator[str]:
    """A name, and the given name that it begins with."""
    yield name
    first, *rest = name.split()
    if rest and given_name(fold(first)) is not None:
        yield first


def _is_like(name: str, own: str) -> bool:
    first = fold(name.split(maxsplit=1)[0])
    return (given_name(first) is not None and first not in WORDS) or any(
        begins(first, fold(word)) for word in own.split()
    )


def _bearers(name: str, known: People, names: dict[tuple[str, _Person], LearnedName]) -> set[_Person]:
    """Those whose name this is, as spelled: a speaker's whose first word and others it shares, or a learned one's."""
    words = [fold(word) for word in name.split()]
    speakers = set(known.spelled.get(words[0], ()))
    for word in words[1:]:
        speakers &= known.spelled.get(word, speakers)
    if speakers:
        return {_Person(speaker, None) for speaker in speakers}
    return {person for learned, person in names if learned == " ".join(words)}
