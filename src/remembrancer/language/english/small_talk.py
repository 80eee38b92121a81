"""Small talk: turns that only greet, thank, agree or ask to go on, and say nothing that a memory could be about."""

from __future__ import annotations

from typing import Final

from remembrancer.language.lexical import analyse

_WORDS: Final = (
    # greeting and parting
    " hi hello hey hiya yo howdy greetings welcome morning afternoon evening night goodnight bye goodbye ciao cheers"
    " later soon see today tonight tomorrow weekend day"
    # thanking and excusing
    " thank thanks thx ty thankyou appreciate appreciated appreciation grateful sorry apologies pardon excuse please"
    " pls plz help helpful worries worry problem problems mind bother"
    # agreeing and refusing
    " yes yeah yep yup ya aye no nope nah ok okay okey k kk sure alright right exactly agree agreed deal absolutely"
    " definitely indeed correct true certainly course fine fair maybe perhaps possibly probably"
    # judging
    " good great nice cool perfect awesome amazing excellent wonderful brilliant fantastic lovely super sweet neat"
    " well better best bad interesting funny wow whoa oh ah aha haha hahaha hehe lol lmao rofl omg hmm hm mm mhm uh um"
    " er huh oops yay hooray phew ugh meh damn really seriously fun love like glad happy congrats congratulations"
    # understanding
    " got get gotcha understood understand clear know see sense make makes sound sounds look looks work works think"
    " guess suppose mean idea sure wonder hear"
    # going on
    " go going ahead continue proceed next start begin try again retry wait moment second minute sec hold stop done"
    " finished finish keep carry move come let lets do does did one thing things more another time times now back way"
    " always ever still yet already anyway anyways so just also too much many lot lots bit little"
    " one ones it that this all everything nothing anything something"
    # commands that name nothing: "fix it", "ship it"
    " fix run ship explain show lgtm trick"
    # fillers of these sentences
    " please everyone everybody all guys folks buddy friend mate dear sir madam team there here say said tell ask"
    " question questions answer new up take care rest enjoy have had has want need be been"
)
"""English words of small talk. A text of these and of stop words only, such as "ok, sounds good", names no subject."""

_TERMS: Final = frozenset(analyse(_WORDS).terms)
_MOST_CHARS: Final = 300
"""A longer text says something."""


def is_small_talk(text: str) -> bool:
    """Whether a text has no term besides words of small talk and stop words, or no letter and no digit.

    >>> is_small_talk("Great, that works. Thank you so much!"), is_small_talk("Great, the oven works.")
    (True, False)
    """
    return len(text) <= _MOST_CHARS and (not any(map(str.isalnum, text)) or _TERMS.issuperset(analyse(text).terms))
