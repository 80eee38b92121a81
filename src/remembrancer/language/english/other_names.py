"""Recognising statements about the names of people: "Call me Kat", "Katharina, whom everybody calls Kat". English.

Only plain statements count. What is asked, reported, supposed, shown as code, or said of a story or a role does not, and
neither does a word that is no name ("call me tomorrow"). "Don't call me Kat" ends a name.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from remembrancer.language.english.dates import MONTHS, WEEKDAYS
from remembrancer.language.english.given_names import WORDS, given_name
from remembrancer.language.english.stop_words import STOP_WORDS
from remembrancer.language.lexical import fold
from remembrancer.patterns import pattern


class Naming(NamedTuple):
    """A statement that `names` are names of one person. `of_speaker`: of the one who states it. `ends`: they are so no
    longer. `needs_likeness`: it only counts if a name is a common given name, or the beginning of the speaker's name.
    """

    names: tuple[str, ...]
    of_speaker: bool = False
    ends: bool = False
    needs_likeness: bool = False


LONG_CHARS: Final = 1_600
"""In a longer text only the beginning and the end are read, because the rest is mostly pasted."""
_END_CHARS: Final = 400
_SENTENCE_CHARS: Final = range(6, 400)
_MAX_WORDS: Final = 3
"""The most words of a name."""

_HINT: Final = pattern(
    r"\bcall(?:s|ed|ing)?\b|\bgo(?:es|ing)? by\b|\bgone by\b|\bname[sd]?\b|\bnick\w*|\bshort for\b|\bfor short\b|\baka\b"
    r"|a\.k\.a|\bknown as\b|\bby the way\b|\bbtw\b|\banswers? to\b|\balias\b|\bdubbed\b|\bchristened\b|\bcall ?sign\b"
    r"|\bi['’]m not\b|^(?:hi|hello|hey)\b|[(\"“]",
    re.IGNORECASE | re.MULTILINE,
)
"""One of these is in every statement."""
_CODE: Final = pattern(r"```.*?(?:```|\Z)|`[^`\n]*`|^[ \t]*(?:>|//|#|\$ ).*$", re.DOTALL | re.MULTILINE)
_WORD: Final = r"[^\W\d_]+(?:['’-](?!s\b)[^\W\d_]+)*"
_QUOTED_NAME: Final = pattern(rf"[\"“„«]({_WORD}(?: {_WORD}){{0,2}})[.,]?[\"”“»]|(?<!\w)['‘]({_WORD})['’](?!\w)")
_QUOTED: Final = pattern(r"[\"“„«][^\"“”„«»\n]{2,}[\"”“»]|(?<!\w)['‘][^'‘\n]{2,}'(?!\w)")
_SENTENCE: Final = pattern(r"(?<=[.!?;])\s+|\n+|\s+[–—-]+\s+")
_TITLE: Final = pattern(r"\b(Dr|Mr|Mrs|Ms|Prof|St)\.(?= )")
_A_WORD: Final = pattern(rf"(?<![\w@]){_WORD}(?!\w)")

_ASKS: Final = pattern(r"\?[\"”')]*$")
_TAG_QUESTION: Final = pattern(
    r"[,.] (?:ok|okay|alright|all right|please|yeah|right|will you|would you)\?$", re.IGNORECASE
)
_SUPPOSED: Final = pattern(
    r"\b(?:said|says|say|saying|told|tells|tell|asks?|asked|goes(?! by)|went|whether|if|unless|until|wish(?:es)?|would"
    r"|could|might|should have|pretend(?:ed|ing)?|imagine|suppose|supposing|character|novel|movie|film|song|lyrics?"
    r"|story|game|joke[sd]?|joking|kidding|dream(?:t|ed)?|used to|someday|one day|once|was like|were like|quote"
    r"|wants? (?:you|me|us|him|her|them) to|wrote|reads?|sign|sticker|shirt|mug|title|album|band)\b",
    re.IGNORECASE,
)
"""Words before a statement that report or suppose it."""
_STAGED: Final = pattern(
    r"\b(?:in|for) (?:the|a|an|my|our|this|that|his|her) (?:\w+ )?(?:play|game|film|movie|book|story|novel|musical|show"
    r"|campaign|song|dream|sketch|comic)\b|\b(?:kidding|joking|haha not)\b",
    re.IGNORECASE,
)

_AT: Final = r"(?: (?:at|in|from|on|around|with|among|of|back) (?:[\w'’-]+ ){0,2}[\w'’-]+| here| there| back home)?"
_ADVERBS: Final = (
    r"(?: (?:always|just|all|usually|still|mostly|simply|actually|now|only|both|also|often|sometimes|normally|either"
    r"|generally|kind of|tend to|seems? to|like to|started to|have started to))*"
)
_SUBJECT: Final = (
    r"(?:everyone|everybody|people|folks|they|friends|(?:most|all|some|many)(?: of)? (?:my |the |our )?[\w'’-]+"
    r"|(?:my|the|our) (?:[\w'’-]+ ){0,2}[\w'’-]+(?:(?:,| and) (?:my |the )?[\w'’-]+){0,2}|the whole [\w'’-]+)" + _AT
)
_CALL: Final = r"(?:calls?|(?:has|have|['’]ve|['’]s)(?: always| all)? called|calling|refers? to|knows?|address(?:es)?)"
_CLAUSE: Final = (
    r"(?:^|[,:;(.…!] *|\b(?:and|but|so|because|though|although|since|cause|as) )"
    r"(?:(?:ok(?:ay)?|hi|hey|hello|oh|well|yes|yeah|no|also|and|but|so|please|btw|by the way|fyi|actually|honestly|sure"
    r"|though|just|in fact|for the record|nice to meet you|around here|here|at work|at home|online|these days|nowadays"
    r"|note that|remember(?: that)?|(?:ha)+|lol)[,:!.]* )*"
)
_LEADS: Final = (
    r"(?:(?:please|just|do|simply|also|better|instead|you (?:can|may|should|must)(?: all| just| also)?|feel free to|you all can"
    r"|everyone can|go ahead and|let['’]s|always) )*"
)
_MINE: Final = (
    r"my (?:(?:full|first|given|real|new|other|old|preferred|current|chosen|married|actual|legal|usual|family|team|trail"
    r"|school|childhood|english|work) )?(?:nick ?name|name|nick|alias|pen ?name|call ?sign|stage name|trail name|street name)"
)

_OF_SPEAKER: Final = pattern(
    _CLAUSE
    + r"(?:"
    + rf"{_LEADS}(?:call|address) me(?: (?:as|by)(?: my name)?)? "
    + rf"|{_SUBJECT}{_ADVERBS} {_CALL} me(?: as)? "
    + rf"|I(?:['’]m| am){_ADVERBS} (?:better |widely )?(?:called|known as|nicknamed|going by|to be called) (?:just )?"
    + rf"|(?:I{_ADVERBS} (?:go by|answer to|use the name|go under)|I(?:['’]ve| have){_ADVERBS} gone by)"
    + r"(?: (?:the |my )?(?:first |middle )?(?:nick)?name)?(?:,| of)? (?:just )?"
    + r"|I(?:['’]d| would)? (?:much |really )?(?:prefer|rather|like)(?: to)? (?:be called|being called|go by|going by|the name) "
    + rf"|{_MINE}{_AT}(?:['’]s| is|:| =)(?: just| actually| also| now| still)* "
    + r"|(?:[\w'’-]+ ){1,4}(?:nick)?(?:named|dubbed|christened|baptised|baptized) me "
    + r"|(?:[\w'’-]+ ){1,5}(?:gave me|given me|earned|picked up|got)(?: the| a| my)?(?: trail| old| new)? (?:nick)?name(?: of)? "
    + r")$",
    re.IGNORECASE,
)
"""What comes before the speaker's name. Matched up to the place of a name."""
_ENDING: Final = pattern(
    r"(?:\b(?:don['’]?t|do not|never|please no longer|stop|quit|not)(?: you| ever| please)* (?:call|calling|address) me(?: as)? "
    r"|\b(?:nobody|no[ -]?one|none of (?:my |the |them)[\w'’-]*|hardly anyone)"
    + _AT
    + r"(?: really)? (?:calls?|has called) me "
    r"|\b(?:don['’]?t|do not|no longer|stopped|not) (?:go|going|answer|answering) (?:by|to) "
    r"|\bI(?:['’]m| am) (?:no longer|not) (?:called |known as |going by )?)$",
    re.IGNORECASE,
)
_ANY_MORE: Final = pattern(r"^,? (?:any ?more|any longer|these days|now)\b", re.IGNORECASE)
_INTRODUCES: Final = pattern(
    _CLAUSE + r"(?:it['’]s|it is|its|this is|I['’]m|I am|im|name['’]s)(?: just| actually)? $", re.IGNORECASE
)
_AFTER_INTRODUCTION: Final = pattern(
    r"^,? \(?(?:by the way|btw|for short|to (?:my )?friends|not [A-Z]|short for)|^,? (?:actually|please)[.!]?$"
)
_GREETS: Final = pattern(r"^(?:hi|hello|hey)(?: there| all| everyone| everybody| team)?[,!.]? ", re.IGNORECASE)

_AFTER: Final = pattern(
    r"^(?:$|[.!,;:)…?]|\s*[–—(]|\s+(?:for short|instead|now|nowadays|these days|here|please|too|anyway|by the way|btw|at \w+|in (?:the|my|our|this|here|class|private|person)|online|around|among|amongst|to"
    r" (?:my|his|her|their|our|close|friends|family|everyone|everybody|most)|from now|from then|on (?:the|my|our|air|stage|here)|if"
    r" (?:you|we|that|it)|when(?:ever)? (?:you|we|I)|because|but|not|rather|though|unless|ever since|since|as|after"
    r"|everywhere|mostly|even|again|all the|most of|ok|okay|haha|lol|except|apart|besides|already|still|by now|always|like everyone"
    r"|like everybody|short for|with|so|which|who|whenever|any ?more|any longer|is fine|works|will do|and|or)\b)",
    re.IGNORECASE,
)
"""What may follow a name that is called."""
_OR: Final = pattern(r"^,? or (?:just |simply |even )?$", re.IGNORECASE)

_PEOPLE: Final = (
    r"(?:everyone|everybody|people|friends|we|they|most people|most|all of us|I|(?:his|her|their|our|my|the) (?:[\w'’-]+ ){0,2}[\w'’-]+)"
    + _AT
)
_BETWEEN: Final = pattern(
    rf"^,? (?:but |and |though )?(?:whom |who |that )?{_PEOPLE}{_ADVERBS} calls?(?: him| her| them)? $"
    rf"|^,? (?:who )?{_ADVERBS}(?: ?)(?:goes by|answers to|uses)(?: the)?(?: (?:nick)?name)?(?: of)? (?:just )?$"
    rf"|^(?:['’]s|s['’]) (?:friends|family|colleagues|team|mates|parents|brothers?|sisters?|kids|teammates)"
    rf"{_ADVERBS} call (?:him|her|them) $"
    r"|^(?:['’]s|s['’]) (?:[\w'’-]+ )?(?:nick ?name|nick|alias|call ?sign|trail name|stage name)"
    + _AT
    + r" is (?:just )?$",
    re.IGNORECASE,
)
"""Between two names of one person, of whom the sentence says so."""
_BETWEEN_LIKE: Final = pattern(
    r"^(?:,| is|,? who is|['’]s|,? also)?(?: (?:also|better|usually|often|widely|just|simply|mostly|now|always))*"
    r" (?:known as|nicknamed|aka|a\.k\.a\.?|alias) $"
    rf"|^(?:,? who)? is{_ADVERBS} called $"
    r"|^,? or(?: just| simply)? $|^ \((?:or |aka |a\.k\.a\.? |alias |also |just )?$|^, (?:alias|aka) $",
    re.IGNORECASE,
)
"""Between two names that must be alike, because other words may stand there too."""
_SHORT_FOR: Final = pattern(
    r"^(?:,| is|['’]s|,? which is|,? it['’]s| \(|,? being)?(?: just| of course| also)? ?(?:short|a nickname|the nickname) (?:for|of) $",
    re.IGNORECASE,
)
_FOR_SHORT: Final = pattern(r"^(?:, | \(|,? or |, or just )$", re.IGNORECASE)
_CALLS_TWO: Final = pattern(
    rf"(?:^|[,;:.] |\b(?:and|but|so) )(?:everyone|everybody|all of us|we all|people|(?:the|our) whole [\w'’-]+){_AT}{_ADVERBS} calls? $",
    re.IGNORECASE,
)

_NO_NAMES: Final = (
    STOP_WORDS
    | {word.lower() for word in (*MONTHS, *WEEKDAYS)}
    | frozenset(
        """
    mom mum mommy mummy mama mamma ma dad daddy papa pa pop pops grandma grandpa granny gran grandad granddad nana nan
    nanna opa oma auntie aunt aunty uncle sister sis brother bro son sir sire madam ma'am maam miss mister mr mrs ms mx
    dr doctor captain coach chef boss professor prof teacher sensei god lord satan santa ishmael crazy old-fashioned mad
    paranoid cynical naive picky weird lazy silly stupid sentimental biased skeptical sceptical lucky tomorrow today
    tonight later back anytime whenever maybe asap uber lyft taxi cab ambulance liar cheap boring nosy romantic
    superstitious dumb insane odd strange greedy spoiled spoilt dramatic ridiculous jealous selfish petty traditional
    english french german spanish italian irish scottish american canadian british dutch polish russian chinese japanese
    indian australian mexican brazilian european asian african names bad wrong right ok okay yes no please sorry thanks
    everyone everybody someone somebody anyone nobody christmas easter friend baby babe honey darling dear sweetie love
    monday's collect again early late asap directly immediately first anything something whatever cruel old fashioned
    number n/a none null unknown anonymous user assistant admin
    """.split()
    )
)
"""Words that are no names, although they may follow "call me"."""


def namings(text: str) -> tuple[Naming, ...]:
    """The statements of a text about names of people, in order.

    >>> namings("Hi! Everyone calls me Kat.")
    (Naming(names=('Kat',), of_speaker=True, ends=False, needs_likeness=False),)
    >>> namings("Katharina, whom everybody calls Kat, moved.")[0].names, namings("Call me tomorrow.")
    (('Katharina', 'Kat'), ())
    """
    if not _HINT.search(text):
        return ()
    if len(text) > LONG_CHARS:
        text = f"{text[:_END_CHARS]}\n{text[-_END_CHARS:]}"
    text = _TITLE.sub(r"\1", _CODE.sub("\n", text))
    found: dict[Naming, None] = {}
    for sentence in _SENTENCE.split(_QUOTED.sub(" … ", _QUOTED_NAME.sub(_unquoted, text))):
        sentence = sentence.strip()
        if len(sentence) in _SENTENCE_CHARS and not (_ASKS.search(sentence) and not _TAG_QUESTION.search(sentence)):
            found.update(dict.fromkeys(_of_sentence(sentence)))
    return tuple(found)


def _unquoted(quoted: re.Match[str]) -> str:
    """A quoted name without its marks; other short quotations stay. One within a name becomes a name in brackets."""
    name = quoted[1] or quoted[2]
    if not all(word[0].isupper() for word in name.split()):
        return quoted[0]
    before = quoted.string[: quoted.start()].rsplit(" ", 2)
    after = _A_WORD.match(quoted.string, quoted.end() + 1)
    within = len(before) > 1 and before[-1] == "" and before[-2][:1].isupper() and after and after[0][0].isupper()
    return f"({_WITHIN}{name})" if within else name


_WITHIN: Final = "\x01"
"""Marks a name that stood in quotation marks within a name: Robert "Bobby" Tables."""


class _Name(NamedTuple):
    start: int
    end: int
    text: str


def _of_sentence(sentence: str) -> Iterator[Naming]:
    small = sentence[1:] == sentence[1:].lower().replace(" i ", " I ") or sentence == sentence.lower()
    names = list(_names_in(sentence, small=small))
    for place, name in enumerate(names):
        before, after = sentence[: name.start], sentence[name.end :]
        if _ENDING.search(before):
            ends_now = not re.search(r"\bI(?:['’]m| am) not $", before) or _ANY_MORE.search(after)
            if ends_now and not _SUPPOSED.search(before):
                yield Naming((name.text,), of_speaker=True, ends=True)
            continue
        stated = _OF_SPEAKER.search(before)
        if stated and _AFTER.match(after) and not (_SUPPOSED.search(before) or _STAGED.search(after)):
            yield Naming((name.text,), of_speaker=True)
            if place + 1 < len(names) and _OR.match(sentence[name.end : names[place + 1].start]):
                yield Naming((names[place + 1].text,), of_speaker=True)
        elif _INTRODUCES.search(before) and (
            _AFTER_INTRODUCTION.match(after) or (_GREETS.match(sentence) and re.match(r"[.!,]|$", after))
        ):
            yield Naming((name.text,), of_speaker=True, needs_likeness=True)
    for one, other in zip(names, names[1:], strict=False):
        if not _SUPPOSED.search(sentence[: one.start]):
            yield from _of_two(sentence, one, other)
    for name in names:  # "Everybody calls Katharina Kat" is one run of capitals
        words = name.text.split()
        if len(words) > 1 and _CALLS_TWO.search(sentence[: name.start]) and _AFTER.match(sentence[name.end :]):
            yield Naming((" ".join(words[:-1]), words[-1]))


def _of_two(sentence: str, one: _Name, other: _Name) -> Iterator[Naming]:
    between, after = sentence[one.end : other.start], sentence[other.end :]
    names = (one.text, other.text)
    if between == f" ({_WITHIN}":
        yield Naming(names)
    elif not _AFTER.match(after) or _STAGED.search(after):
        return
    elif _BETWEEN.match(between) or _SHORT_FOR.match(between) or (_FOR_SHORT.match(between) and re.match(r" for short\b", after)) or (_BETWEEN_LIKE.match(between) and are_alike(*names)):
        yield Naming(names)


def _names_in(sentence: str, *, small: bool) -> Iterator[_Name]:
    """The runs of words that may be a name, at most `_MAX_WORDS` each. `small`: the sentence has no capitals beyond its
    first letter, so that only common given names that are no ordinary words count.
    """
    run: list[re.Match[str]] = []
    for word in _A_WORD.finditer(sentence):
        if run and (sentence[run[-1].end() : word.start()] != " " or len(run) == _MAX_WORDS):
            yield _Name(run[0].start(), run[-1].end(), " ".join(part[0] for part in run))
            run = []
        if _is_name(word[0], small=small, shouted=sentence.isupper()):
            run.append(word)
        elif run:
            yield _Name(run[0].start(), run[-1].end(), " ".join(part[0] for part in run))
            run = []
    if run:
        yield _Name(run[0].start(), run[-1].end(), " ".join(part[0] for part in run))


def _is_name(word: str, *, small: bool, shouted: bool) -> bool:
    folded = fold(word)
    if len(word) < 2 or folded in _NO_NAMES or word.lower() in _NO_NAMES or word.endswith(("'s", "’s")):
        return False
    if small or shouted:
        return given_name(folded) is not None and folded not in WORDS
    return word[0].isupper() or (word[0] == word[0].lower() and word[0] == word[0].upper())


def are_alike(one: str, other: str) -> bool:
    """Whether two names may be of one person by their looks: forms of one given name, or one begins another's word."""
    for first in one.split():
        for second in other.split():
            known, known_too = given_name(fold(first)), given_name(fold(second))
            if known is not None and known_too is not None and known.may_be(known_too):
                return True
            if begins(first, second) or begins(second, first):
                return True
    return False


def begins(short: str, name: str) -> bool:
    """Whether a name of two letters or more is the beginning of a longer one, without accents and capitals.

    >>> begins("Ragga", "Ragnheiður"), begins("Thandi", "Thandiwe")
    (False, True)
    """
    short, name = fold(short), fold(name)
    return 2 <= len(short) < len(name) and name.startswith(short)


_LISTED: Final = pattern(rf"^({_WORD}(?: {_WORD}){{0,2}})(?: ?[:=]| is called| is also| is) (.+)$")
_SEPARATOR: Final = pattern(r", | and | or |/| / ")


def listed(text: str) -> tuple[Naming, ...]:
    """The names that a note written for this purpose lists: "Katharina Weber: Kat, Kathi" or "Kat is Katharina Weber".

    >>> listed("Katharina Weber: Kat, Kathi")[1].names, listed("Kat is Katharina Weber.")[0].names
    (('Katharina Weber', 'Kathi'), ('Kat', 'Katharina Weber'))
    """
    found: list[Naming] = []
    for one, others in (pair for sentence in _SENTENCE.split(text) for pair in _LISTED.findall(sentence.strip())):
        for other in _SEPARATOR.split(others.rstrip(". ")):
            words = other.strip("\"'“”() ").split()
            if 1 <= len(words) <= _MAX_WORDS and fold(words[0]) not in _NO_NAMES:
                found.append(Naming((one, " ".join(words))))
    return tuple(found)
