"""Verbs and cases that agree with the pronouns put into a question in place of names."""

from __future__ import annotations

import re
from typing import Final

from remembrancer.patterns import pattern

PUT_IN: Final = "\x05"
"""The mark before each pronoun that replaces a name. The other pronouns of a question are not changed."""

_FORMS: Final = {
    "does": ("do", "do"), "is": ("am", "are"), "has": ("have", "have"), "was": ("was", "were"), "goes": ("go", "go"),
    "undergoes": ("undergo", "undergo"), "focuses": ("focus", "focus"),
}  # fmt: skip
"""The irregular forms of a verb with "I", and with "we" or "you"."""
_ASKING: Final = frozenset({"is", "has", "was", "does"})
"""Auxiliaries that stand before their subject in a question."""
_ALONE: Final = {"my": "mine", "your": "yours", "our": "ours"}
_HAVING: Final = {"my": "I have", "your": "you have", "our": "we have"}
_BEING: Final = {"my": "I am", "your": "you are", "our": "we are"}
_NO_VERBS: Final = frozenset(
    """
    always sometimes perhaps besides nowadays towards afterwards backwards forwards upwards downwards onwards indoors
    outdoors upstairs downstairs its hers ours yours theirs yes vs others news
    """.split()
)
"""Words in -s that are no verbs after a subject, without those in -as, -is, -ss and -us, which never count as verbs."""
_STATING: Final = frozenset(
    """
    likes loves hates wants needs lives works plays knows prefers enjoys thinks feels owns speaks eats drinks wears
    drives studies teaches goes writes reads keeps makes gets says tells asks
    """.split()
)
"""Verbs at the beginning of a text. Others in -s may be nouns there, as in "Ana hobbies"."""

_AUXILIARIES: Final = (
    r"(?:do|does|did|is|are|am|was|were|has|have|had|can|could|will|would|shall|should|may|might|must)(?:n['’]t)?"
)
_ADVERBS: Final = (
    r"(?: (?:\w+ly|also|always|often|never|ever|still|sometimes|just|now|then|even|only|already|once|soon|both|all"
    r"|no longer|not))*"
)
_PREPOSITIONS: Final = (
    r"to|for|with|from|about|by|of|at|on|in|between|against|among|around|behind|besides?|beyond|near|towards?|without"
    r"|through|including|except|via|despite|into|onto"
)
_GIVING: Final = (
    r"gave|giv(?:es?|en|ing)|told|tell(?:s|ing)?|ask(?:s|ed|ing)?|sent|send(?:s|ing)?|help(?:s|ed|ing)?|taught"
    r"|teach(?:es|ing)?|show(?:s|ed|n|ing)?|got|get(?:s|ting)?|bought|buy(?:s|ing)?|brought|bring(?:s|ing)?"
    r"|offer(?:s|ed|ing)?|inspire[sd]?|call(?:s|ed|ing)?"
)
"""Verbs that a person may follow as their object."""
_MAKING: Final = (
    r"made|makes?|lent|lends?|paid|pays?|costs?|cooks?|bakes?|built|builds?|knits?|sews?|owes?|feeds?|fed|causes?"
    r"|wrote|writes?|reads?|sang|sings?|let|lets|met|meets?|saw|sees?|left|leaves?|drove|took|takes?|kept|keeps?"
)
_SAYING: Final = (
    r"say(?:s|ing)?|said|think(?:s|ing)?|thought|kn[eo]w(?:s|n)?|believe[sd]?|mention(?:s|ed|ing)?|hope[sd]?|feels?"
    r"|felt|learn(?:s|ed|t)?|reali[sz]e[sd]?|out|means?|meant|hear[sd]?|suggest(?:s|ed)?|impl(?:y|ies|ied)"
    r"|guess(?:ed)?|claim(?:s|ed)?|admit(?:s|ted)?|explain(?:s|ed)?|reveal(?:s|ed)?|notice[sd]?|state[sd]?|agree[sd]?"
    r"|note[sd]?|confirm(?:s|ed)?|expect(?:s|ed)?|suppose[sd]?|assume[sd]?|imagine[sd]?|conclude[sd]?|report(?:s|ed)?"
    r"|discover(?:s|ed)?|remember(?:s|ed)?|decide[sd]?|understand|understood|indicate[sd]?"
)
"""Verbs that a clause may follow."""
_JOINING: Final = (
    r"that|which|whom|who|what|where|when|why|how|if|because|since|while|before|after|until|than|as|whether|although"
    r"|though|and|or|but|so|else"
)
_NO_NOUN: Final = r"(?<!\bthe )(?<!\ba )(?<!\ban )(?<!\bwhich )(?<!\bwhat )(?<!\bwhose )(?<!\bof )"
"""Before a word that is no noun, as it would be after these."""
_BEFORE_CHARS: Final = 60

_SAYS: Final = pattern(rf"\b(?:{_SAYING}) $", re.IGNORECASE)
_IT_IS: Final = pattern(r"\b(?:it|this)(?: is| was|['’]s) $", re.IGNORECASE)
_NO_SUBJECT: Final = pattern(
    rf"(?:\b(?i:{_AUXILIARIES}|{_PREPOSITIONS}) "
    rf"|{_NO_NOUN}\b(?:{_GIVING}|{_MAKING}|\w+[^e\W]ed|\w+ing) "
    rf"|\b(?:who|that|to|he|she|they|it|{PUT_IN}(?:I|you|we)){_ADVERBS} (?!(?:{_JOINING}) )[a-z]+ )$"
)
"""Before a pronoun with which the next verb does not agree: after an auxiliary, which has the ending instead, and where
the pronoun is the object of a preposition or of another verb.
"""
_BEGINS: Final = pattern(r"(?:^|[.!?:] )$")
_AFTER_VERB: Final = pattern(
    rf" (?:to|an?|the|my|your|his|her|their|its|me|us|him|it|them|every|no)\b| {PUT_IN}", re.IGNORECASE
)
_FOLLOWED: Final = pattern(
    rf"{PUT_IN}(?P<pronoun>I|you|we)\b(?P<between>(?P<who> who)?{_ADVERBS} )(?P<verb>[a-z]+)(?P<negation>n['’]t)?"
    rf"(?![\w'’-])(?:(?P<joining> (?:and|or) )(?P<joined>[a-z]+s)"
    rf"(?= (?:{_PREPOSITIONS}|an?|the|my|his|her)\b|[?.!,;]|$))?"
)
_INVERTED: Final = pattern(
    r"(?<!\bit )(?<!\bhe )(?<!\bshe )(?<!\bthis )(?<!\bthat )(?<!\bthere )"
    rf"\b(?P<verb>does|is|has|was)(?P<negation>n['’]t)? {PUT_IN}(?P<pronoun>I|we|you)\b",
    re.IGNORECASE,
)
_TAG: Final = pattern(
    rf"^(?P<main>{PUT_IN}(?P<pronoun>I|we|you)\b[^.?!]*, )(?P<verb>{_AUXILIARIES}) (?:he|she|they)(?=\?)"
)
_POSSESSIVE: Final = pattern(
    rf"{PUT_IN}(?P<my>my|your|our)(?:(?P<alone>(?=\s*(?:[?.!;]|$)))|(?={_ADVERBS} (?P<having>been|got|had)\b)"
    rf"|(?={_ADVERBS} (?:not|gonna|going to)\b(?!-)))"
)
"""A possessive at the end of a sentence ("Is the dog Ana's?"), or one that stands for a name with a contracted verb
("Ana's been working").
"""
_OBJECT: Final = pattern(
    rf"\b(?:{_PREPOSITIONS}|than|like|{_GIVING}) {PUT_IN}(?:I|we)\b"
    r"(?! (?:was|am|are|were|had|have|do|did|would|will|could|can|should|went|got|said|told|started|\w+ed)\b)"
    rf"|\b(?!(?:{_AUXILIARIES}|{_JOINING}|not) )(?-i:[a-z])\w* {PUT_IN}(?:I|we)\b(?=\s*(?:[?.!;]|$))",
    re.IGNORECASE,
)
"""The word before "I" or "we" that is not the subject of a verb: a preposition, a verb with an indirect object, or any
word where the sentence ends.
"""


def agreeing(question: str) -> str:
    r"""The question with verbs and cases that agree with the pronouns that `PUT_IN` marks, and without these marks.

    The verb that is inverted with a pronoun agrees, and the verb of which the pronoun is the subject, also in a
    relative clause. Verbs of other subjects stay, as in "Who that met you has moved?".

    >>> agreeing("What does \x05I like?"), agreeing("Who gave \x05I the dog?")
    ('What do I like?', 'Who gave me the dog?')
    >>> agreeing("Where is the studio that \x05you has opened?")
    'Where is the studio that you have opened?'
    """
    text = _TAG.sub(_tag, _POSSESSIVE.sub(_without_noun, question))
    text = _OBJECT.sub(_object, _INVERTED.sub(_inverted, _FOLLOWED.sub(_followed, text)))
    return text.replace(PUT_IN, "")


def _with(pronoun: str, verb: str) -> str:
    """The form of a verb in the third person with this pronoun."""
    if verb in _FORMS:
        return _FORMS[verb][pronoun != "I"]
    if not verb.endswith("s") or verb.endswith(("ss", "us", "is", "as")) or verb in _NO_VERBS:
        return verb
    if verb.endswith("ies"):
        return verb[:-1] if len(verb) <= len("dies") else f"{verb[:-3]}y"
    return verb[:-2] if verb.endswith(("sses", "shes", "ches", "xes", "zzes")) else verb[:-1]


def _asked(pronoun: str, verb: str, negation: str) -> str:
    """An auxiliary before this pronoun; "aren't I" has no other short form."""
    lower = verb.lower()
    form = "are" if negation and lower == "is" else _with(pronoun, lower) if lower in _ASKING else lower
    return f"{form.capitalize() if verb[0].isupper() else form}{negation}"


def _inverted(match: re.Match[str]) -> str:
    verb = _asked(match["pronoun"], match["verb"], match["negation"] or "")
    return f"{verb} {PUT_IN}{match['pronoun']}"


def _tag(match: re.Match[str]) -> str:
    verb = match["verb"]
    auxiliary = verb[:-3] if verb.endswith("t") and verb[-2] in "'’" else verb
    return f"{match['main']}{_asked(match['pronoun'], auxiliary, verb[len(auxiliary) :])} {match['pronoun']}"


def _followed(match: re.Match[str]) -> str:
    pronoun, verb, negation = match["pronoun"], match["verb"], match["negation"] or ""
    form = _with(pronoun, verb)
    if (form == verb and not (verb == "was" and pronoun == "I")) or not _is_subject(match):
        return match[0]
    if negation and form == "am":
        form, negation = "am not", ""
    joined = f"{match['joining']}{_with(pronoun, match['joined'])}" if match["joined"] else ""
    return f"{pronoun}{match['between']}{form}{negation}{joined}"


def _is_subject(match: re.Match[str]) -> bool:
    """Whether the pronoun is the subject of the verb after it."""
    before = match.string[max(0, match.start() - _BEFORE_CHARS) : match.start()]
    if match["who"]:
        return _IT_IS.search(before) is not None
    if _NO_SUBJECT.search(before) and not _SAYS.search(before):
        return False
    if not _BEGINS.search(before) or match["verb"] in _ASKING or match["between"] != " ":
        return True
    return match["verb"] in _STATING or _AFTER_VERB.match(match.string, match.end("verb")) is not None


def _without_noun(match: re.Match[str]) -> str:
    if match["alone"] is not None:
        return _ALONE[match["my"]]
    return PUT_IN + (_HAVING if match["having"] else _BEING)[match["my"]]


def _object(match: re.Match[str]) -> str:
    before, _, pronoun = match[0].rpartition(PUT_IN)
    return f"{before}{'me' if pronoun == 'I' else 'us'}"
