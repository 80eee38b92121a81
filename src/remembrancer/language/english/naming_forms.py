"""Forms of English sentences that say a name of somebody: what stands before, between and after the names."""

from __future__ import annotations

import re
from typing import Final

from remembrancer.language.english.dates import MONTHS, WEEKDAYS
from remembrancer.language.english.stop_words import STOP_WORDS
from remembrancer.patterns import pattern

_WORDS: Final = r"[\w'’-]+"
_AT: Final = rf"(?: (?:at|in|from|on|around|with|among|of|back) (?:{_WORDS} ){{0,2}}{_WORDS}| here| there| back home)?"
_ADVERBS: Final = (
    r"(?: (?:always|just|all|usually|still|mostly|simply|actually|now|only|both|also|often|sometimes|normally|either"
    r"|generally|kind of|tend to|seems? to|like to|started to|have started to))*"
)
_SUBJECT: Final = (
    rf"(?:everyone|everybody|people|folks|they|friends|(?:most|all|some|many)(?: of)? (?:my |the |our )?{_WORDS}"
    rf"|(?:my|the|our) (?:{_WORDS} ){{0,2}}{_WORDS}(?:(?:,| and) (?:my |the )?{_WORDS}){{0,2}}|the whole {_WORDS}){_AT}"
)
_CLAUSE: Final = (
    r"(?:^|[,:;(.…!] *|\b(?:and|but|so|because|though|although|since|cause|as) )"
    r"(?:(?:ok(?:ay)?|hi|hey|hello|oh|well|yes|yeah|no|also|and|but|so|please|btw|by the way|fyi|actually|honestly|sure"
    r"|though|just|in fact|for the record|nice to meet you|around here|here|at work|at home|online|these days|nowadays"
    r"|note that|remember(?: that)?|lol)[,:!.]* )*"
)
_LEADS: Final = (
    r"(?:(?:please|just|do|simply|also|better|instead|you (?:can|may|should|must)(?: all| just| also)?|feel free to"
    r"|you all can|everyone can|go ahead and|let['’]s|always) )*"
)
_NAME: Final = r"(?:nick ?name|name|nick|alias|pen ?name|call ?sign|stage name|trail name|street name)"
_MINE: Final = (
    r"my (?:(?:full|first|given|real|new|other|old|preferred|current|chosen|married|actual|legal|usual|family|team"
    rf"|trail|school|childhood|english|work) )?{_NAME}"
)

HINTS: Final = (
    "call", "address me", "go by", "goes by", "going by", "gone by", "go under", "name", "nick", "short", "aka ",
    "a.k.a", "known as", "by the way", "btw", "answer", "alias", "dubbed", "christened", "baptis", "baptiz", ", not ",
    "longer", "any more", "anymore", "to my friends", " (", ' "', " “", " '", " ‘", "hi ", "hi,", "hello", "hey",
)  # fmt: skip
"""In small letters. One of these is in every statement of a name."""

LEADS_TO_NAME: Final = pattern(
    r"(?:\b(?:me|as|called|known|nicknamed|by|to|(?:nick)?name|nick|under|of|just|is|actually|also|now|still|not|longer|its|am|im)"
    r"|['’][sm]|[:=,]) $",
    re.IGNORECASE,
)
"""The end of all that may stand before a name of the one who speaks; it is quickly looked for."""
OF_SPEAKER: Final = pattern(
    _CLAUSE
    + r"(?:"
    + rf"{_LEADS}(?:call|address) me(?: as)? "
    + rf"|{_SUBJECT}(?:{_ADVERBS} calls?|(?: has| have|['’]ve){_ADVERBS} called) me(?: as)? "
    + rf"|I(?:['’]m| am){_ADVERBS} (?:better |widely )?(?:called|known as|nicknamed|going by|to be called) (?:just )?"
    + rf"|(?:I{_ADVERBS} (?:go by|answer to|use the name|go under)|I(?:['’]ve| have){_ADVERBS} gone by)"
    + r"(?: (?:the |my )?(?:first |middle )?(?:nick)?name)?(?:,| of)? (?:just )?"
    + r"|I(?:['’]d| would)? (?:much |really )?(?:prefer|rather|like)(?: to)? (?:be called|being called|go by|going by"
    + r"|the name) "
    + rf"|{_MINE}{_AT}(?:['’]s| is|:| =)(?: just| actually| also| now| still)* "
    + rf"|(?:{_WORDS} ){{1,4}}(?:nick)?(?:named|dubbed|christened|bapti[sz]ed) me "
    + rf"|(?:{_WORDS} ){{1,5}}(?:gave me|given me|earned|picked up|got)(?: the| a| my)?(?: trail| old| new)?"
    + r" (?:nick)?name(?: of)? "
    + r")$",
    re.IGNORECASE,
)
"""Before a name of the one who speaks."""
ENDING: Final = pattern(
    r"(?:\b(?:don['’]?t|do not|never|please no longer|stop|quit|not)(?: you| ever| please)* (?:call|calling|address) me"
    r"(?: as)? "
    r"|\b(?:nobody|no[ -]?one|none of (?:my |the |them)[\w'’-]*|hardly anyone)"
    rf"{_AT}(?: really)? (?:calls?|has called) me "
    r"|\b(?:don['’]?t|do not|no longer|stopped|not) (?:go|going|answer|answering) (?:by|to) "
    r"|\bI(?:['’]m| am) (?:no longer|not) (?:called |known as |going by )?)$",
    re.IGNORECASE,
)
"""Before a name that the one who speaks does not have, or has no longer."""
IS_NOT: Final = pattern(r"\bI(?:['’]m| am) not $", re.IGNORECASE)
ANY_MORE: Final = pattern(r"^,? (?:any ?more|any longer|these days|now)\b", re.IGNORECASE)
INTRODUCES: Final = pattern(
    _CLAUSE + r"(?:it['’]s|it is|its|this is|I['’]m|I am|im|name['’]s)(?: just| actually)? $", re.IGNORECASE
)
"""Before a name, or anything else that somebody or something is."""
AFTER_INTRODUCTION: Final = pattern(r"^,? \(?(?:by the way|btw|for short|to (?:my )?friends|not [A-Z]|short for)")
GREETS: Final = pattern(r"^(?:hi|hello|hey)(?: there| all| everyone| everybody| team)?[,!.]? ", re.IGNORECASE)
ENDS: Final = pattern(r"^(?:[.!,]|$)")

AFTER: Final = pattern(
    r"^(?:$|[.!,;:)…?]|\s*[–—(]|\s+(?:for short|instead|now|nowadays|these days|here|please|too|anyway|by the way|btw"
    r"|at \w+|in (?:the|my|our|this|here|class|private|person)|online|around|among|amongst|to (?:my|his|her|their|our"
    r"|close|friends|family|everyone|everybody|most)|from now|from then|on (?:the|my|our|air|stage|here)"
    r"|if (?:you|we|that|it)|when(?:ever)? (?:you|we|I)|because|but|not|rather|though|unless|ever since|since|as|after"
    r"|everywhere|mostly|even|again|all the|most of|ok|okay|haha|lol|except|apart|besides|already|still|by now|always"
    r"|like every(?:one|body)|short for|with|so|which|who|whenever|any ?more|any longer|is fine|works|will do|and|or)"
    r"\b)",
    re.IGNORECASE,
)
"""After a name that somebody is called."""
OR: Final = pattern(r"^,? or (?:just |simply |even )?$", re.IGNORECASE)

_PEOPLE: Final = (
    r"(?:everyone|everybody|people|friends|we|they|most people|most|all of us|I"
    rf"|(?:his|her|their|our|my|the) (?:{_WORDS} ){{0,2}}{_WORDS}){_AT}"
)
BETWEEN: Final = pattern(
    rf"^,? (?:but |and |though )?(?:whom |who |that )?{_PEOPLE}{_ADVERBS} calls?(?: him| her| them)? $"
    rf"|^,?(?: who)?{_ADVERBS} (?:goes by|answers to|uses)(?: the)?(?: (?:nick)?name)?(?: of)? (?:just )?$"
    r"|^(?:['’]s|s['’]) (?:friends|family|colleagues|team|mates|parents|brothers?|sisters?|kids|teammates)"
    rf"{_ADVERBS} call (?:him|her|them) $"
    rf"|^(?:['’]s|s['’]) (?:{_WORDS} )?(?:nick ?name|nick|alias|call ?sign|trail name|stage name){_AT} is (?:just )?$"
    r"|^(?:,| is|['’]s|,? which is|,? it['’]s| \(|,? being)?(?: just| of course| also)?"
    r" ?(?:short|(?:a|the) nickname) (?:for|of) $",
    re.IGNORECASE,
)
"""Between two names, where both are of one person."""
BETWEEN_LIKE: Final = pattern(
    r"^(?:,| is|,? who is|['’]s|,? also)?(?: (?:also|better|usually|often|widely|just|simply|mostly|now|always))*"
    r" (?:known as|nicknamed|aka|a\.k\.a\.?|alias) $"
    rf"|^(?:,? who)? is{_ADVERBS} called $"
    r"|^,? or(?: just| simply)? $|^ \((?:or |aka |a\.k\.a\.? |alias |also |just )?$|^, (?:alias|aka) $",
    re.IGNORECASE,
)
"""Between two names that are of one person if they are alike."""
BETWEEN_FOR_SHORT: Final = pattern(r"^(?:, | \(|,? or |, or just )$", re.IGNORECASE)
FOR_SHORT: Final = pattern(r"^ for short\b", re.IGNORECASE)
CALLS_TWO: Final = pattern(
    rf"(?:^|[,;:.] |\b(?:and|but|so) )(?:everyone|everybody|all of us|(?P<we>we)|we all|people"
    rf"|(?:the|our) whole {_WORDS}){_AT}{_ADVERBS} calls? $",
    re.IGNORECASE,
)
"""Before two names, which are of one person if they are alike, or everybody says so."""

SUPPOSED: Final = pattern(
    r"\b(?:said|says|say|saying|told|tells|tell|asks?|asked|goes(?! by)|went|whether|if|unless|until|wish(?:es)?|would"
    r"|could|might|should have|pretend(?:ed|ing)?|imagine|suppose|supposing|character|novel|movie|film|song|lyrics?"
    r"|story|game|joke[sd]?|joking|kidding|dream(?:t|ed)?|used to|someday|one day|once|was like|were like|quote"
    r"|wants? (?:you|me|us|him|her|them) to|wrote|reads?|sign|sticker|shirt|mug|title|album|band)\b",
    re.IGNORECASE,
)
"""Words before a statement which show that it is reported or supposed."""
STAGED: Final = pattern(
    r"\b(?:in|for) (?:the|a|an|my|our|this|that|his|her) (?:\w+ )?(?:play|game|film|movie|book|story|novel|musical|show"
    r"|campaign|song|dream|sketch|comic)\b|\b(?:kidding|joking)\b",
    re.IGNORECASE,
)
"""Words after a statement which show that it belongs to a story or a joke."""

NO_NAMES: Final = (
    STOP_WORDS
    | {word.lower() for word in (*MONTHS, *WEEKDAYS)}
    | frozenset(
        """
        mom mum mommy mummy mama mamma ma dad daddy papa pa pop pops grandma grandpa granny gran grandad granddad nana
        nan nanna opa oma auntie aunt aunty uncle sister sis brother bro son sir sire madam ma'am maam miss mister mr
        mrs ms mx dr doctor captain coach chef boss professor prof teacher sensei god lord satan santa ishmael crazy
        old-fashioned mad paranoid cynical naive picky weird lazy silly stupid sentimental biased skeptical sceptical
        lucky tomorrow today tonight later back anytime whenever maybe asap uber lyft taxi cab ambulance liar cheap
        boring nosy romantic superstitious dumb insane odd strange greedy spoiled spoilt dramatic ridiculous jealous
        selfish petty traditional english french german spanish italian irish scottish american canadian british
        polish russian chinese japanese indian australian mexican brazilian european asian african names bad wrong
        right ok okay yes no please sorry thanks everyone everybody someone somebody anyone nobody christmas easter
        friend baby babe honey darling dear sweetie love collect again early late directly immediately first anything
        something whatever cruel old fashioned number none null unknown anonymous user assistant admin
        """.split()
    )
)
"""Words that are no names, although they may stand where a name may."""
