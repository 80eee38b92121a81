"""The kind of a question, told from its English forms: what it asks for, or that it asks for nothing.

A text of several sentences has the kind of its last sentence that asks or requests something; "I am back. Which code?"
asks for a fact. A text whose form shows nothing, such as a few keywords or a text in another language, asks for a fact.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from remembrancer.domain.memory import CueFlag
from remembrancer.domain.query import QuestionKind
from remembrancer.language.english.frames import is_frame
from remembrancer.patterns import pattern


def _any(words: str) -> str:
    """A pattern of one of these words; an underscore stands for a space."""
    return f"(?:{'|'.join(words.split())})".replace("_", " ")


def _one_of(*forms: str) -> re.Pattern[str]:
    return pattern("|".join(forms))


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


_WH_WORDS: Final = "what which who whom whose where when why how"
_WH: Final = _any(_WH_WORDS)
_ASKING: Final = _set(f"{_WH_WORDS} wich whcih waht wat wut hwat hwo wehn wher whos whats wheres whens hows")
"""Question words, some of them misspelled."""
_PREPOSITIONS: Final = _set("in at on for to from by with of about since until during under besides")
_PRONOUN: Final = _any("i we you he she it they")
_OWNER: Final = r"(?:the|my|our|your|his|her|their|these|those|\w+'s)"
_BE: Final = _any("is are was were am isn't aren't wasn't weren't")
_AUXILIARIES: Final = (
    "is are was were am isn't aren't wasn't weren't do does did don't doesn't didn't has have had hasn't haven't hadn't"
    " will would can could shall should may might must won't wouldn't can't couldn't shouldn't"
)
_AUXILIARY: Final = _set(_AUXILIARIES)
_PARTICIPLE: Final = (
    r"(?:\w+ed|\w+en|\w+wn|"
    + _any(
        "been read made met seen had done bought told gone sold lost won built taught brought held heard kept left paid"
        " said sent sung cut put begun run"
    )
    + ")"
)
_NO_PLURAL: Final = r"(?:does|is|was|has|this|his|its|us|as|always|perhaps|news|gas|\w*(?:ss|us|is|'s))"
_PLURAL: Final = rf"(?:(?!{_NO_PLURAL}\b)\w{{2,}}s|people|children|men|women|feet|teeth|mice|stuff)"

_WORD: Final = pattern(r"[^\W_]+(?:['-]\w+)*")
_SENTENCE: Final = pattern(rf"(?<=[.!?])\s+|\n+|(?<=[a-z]):\s+(?=(?:{_WH}|can|could)\b)")
_FILLERS: Final = _set(
    "hey hi hello ok okay so well and but also now oh um then thanks please pls plz kindly just btw again actually"
)
_OPENING: Final = pattern(
    r"(?:by the way|quick question|one more thing|good (?:morning|afternoon|evening)|first of all)\b\W*"
)
_POLITE: Final = pattern(
    _any(
        "can_you can_u could_you could_u would_you would_u will_you won't_you can't_you would_you_mind do_you_mind"
        " you_can you_could i'd_like_you_to i_would_like_you_to i_need_you_to i_want_you_to is_it_possible_to let's"
        " let_us are_you_able_to"
    )
    + rf"(?: {_any('please pls kindly just quickly also maybe possibly perhaps')})* "
)
"""Words that turn an imperative into a polite question or a proposal."""
_BEFORE_AN_ACT: Final = _set("can could would will won't can't do you i'd i is let's let are")
"""The first words of `_POLITE`."""

_TO_MEMORY: Final = _set(
    "list name recall remember recount retell describe retrieve check mention state specify identify enumerate count"
    " total outline sort order arrange rank reconstruct summary recap"
)
"""Imperatives that ask for what is remembered."""
_ASKS_MEMORY: Final = _one_of(
    r"(?:search for|look up|look for|bring up|add up|sum up|go over|walk (?:me|us) through|run through)\b",
    r"summari[sz]e\b(?! (?:this|these|the following)\b)",
    r"help me (?:to )?(?:remember|recall|find out)\b",
    r"put (?:.* )?in (?:\w+ )?order\b",
    r"tell (?:me|us)\b(?! an? (?:joke|story|riddle|poem)\b)",
    rf"find (?:out|every|any|all|{_OWNER}|{_WH})\b",
    # "Remind me which" asks; "remind me to" requests.
    rf"(?:remind|show|refresh) (?:me|us|my memory)(?: (?:of|about|again|all|if|whether|{_OWNER}|{_WH})\b(?! to\b)|$)",
    # "Give me the number of" asks; "give me an idea for" requests.
    rf"(?:give|get|show|send) (?:me|us) (?:a|an|all|every|{_OWNER})\b"
    rf"(?! {_any('idea tip suggestion hint recommendation piece_of_advice plan recipe draft example template hand')}\b)"
    r"(?=.* (?:of|for|from|to|on|about|what|that|which|who|where|we|i|you)\b| ?$)",
    r"(?:do|does|did|don't) (?:you|u) (?:remember|recall|know|happen to)\b",
)
_MAY_ASK_MEMORY: Final = _set(
    "search look bring add sum go walk run summarise summarize put tell find remind show refresh give get send help do"
    " does did don't"
)
"""The first words of `_ASKS_MEMORY`."""
_WONDERS: Final = pattern(
    r"(?:i(?:'m| am| was|'d| would)? |just )*"
    r"(?:(?:like|love) to|want to|need to|trying to|wonder(?:ing)?|curious|forgot|forget|have forgotten"
    r"|(?:can't|cannot|can not|don't|do not) (?:quite |exactly |really )?(?:remember|recall|know)|not sure)\b"
    rf" ?(?:know|remember|recall|find out|hear|see|check)?\b (?:if|whether|about|that|{_OWNER}|{_WH})\b"
)
"""Sentences that ask without a question mark: "I wonder which", "I can't remember the"."""
_BEFORE_WONDERING: Final = _set(
    "i i'm i'd just want trying wonder wondering curious forgot forget can't cannot don't not"
)
"""The first words of `_WONDERS`."""
_CHOICES: Final = "way idea place time thing gift option choice exercise recipe practice approach book film movie"
_ADVICE_WORDS: Final = _set(
    "ideas tip tips suggestion suggestions advice recommendation recommendations hint hints pointers thoughts help plan"
    " assistance hand you u should shall can could might how worth better wise sensible looking searching some"
    f" {_CHOICES} {_CHOICES.replace(' ', 's ')}s"
)
"""The words without which `_ADVICE` does not match."""
_ADVICE: Final = _one_of(
    r"\b(?:any|some|few|more|your|other|good|two|three|four|five|ten|\d+) (?:\w+ ){0,2}?"
    r"(?:ideas?|tips?|suggestions?|advice|recommendations?|hints?|pointers|thoughts)\b(?!.* (?:did|gave|had)\b)",
    rf"\b(?:do|can|could|should) (?:you|u) {_any('recommend suggest advise propose think')}\b",
    r"\bwould (?:you|u) (?!say\b)",
    rf"^(?:(?!how (?:many|much|long|often)\b){_WH} ?(?:\w+ ){{0,3}}?)?(?:should|shall) (?:i|we|he|she|they)\b",
    r"^(?:(?:what|how|where|which) )?(?:can|could|might) (?:i|we)\b",
    # "How do I reply to that?", but not "How do I take my coffee?"
    r"^how (?:do|would) (?:i|we)\b"
    rf"(?! (?:\w+ly |always |often )?{_any('like take feel prefer know spell pronounce say sign call pay')}\b)",
    r"^what(?:'s| is| are| would be) (?:a|an|some|the best) (?:\w+ )*?"
    rf"{_any(_CHOICES)}s?\b"
    r"(?!.*\b(?:has|have|had|did|does|was|were)\b)",
    r"\b(?:good|bad|smart|wise) (?:idea|plan|choice)$",
    r"^(?:is|would) it (?:be )?(?:a good idea|worth|better|wise|sensible)\b",
    r"\b(?:i|we)(?:'m| am|'re| are) (?:looking|searching) for\b|^looking for\b",
    r"\b(?:i|we) (?:need|could use|'d like|would like|want) (?:(?:a|an|some|your|any) )?(?:\w+ )?"
    r"(?:help|advice|ideas?|suggestions?|tips|recommendations?|assistance|hand)\b",
)
_TASKS: Final = _set(
    "help write draft compose suggest recommend propose plan prepare create make design generate build translate"
    " fix implement refactor rewrite edit proofread correct improve review explain teach show give book schedule"
    " arrange set add remove delete update change move rename run test debug deploy install configure convert"
    " calculate compute estimate compare choose pick brainstorm develop outline format solve simplify shorten"
    " expand continue turn put use try send call email order buy get find tell remind advise guide act pretend"
    " imagine think consider check look open close start stop let keep cook play research evaluate assess document"
    " merge commit push migrate clean tidy provide produce work take bring read draw paint sketch code script sort"
    " split join extract paraphrase rephrase reply respond answer invite cancel reserve pack quiz organise"
    " organize analyse analyze optimise optimize summarise summarize"
)
"""Imperatives of tasks."""
_AFTER_A_NOUN: Final = _set("is was are were has had did does will of for on from number name details date")
"""Words after which a first word is a noun: "plan of the house", "test was green"."""
_CLAUSE: Final = _one_of(
    r"which (?:reminds|means|is why)\b",
    r"what an? \w+",
    r"how (?:nice|lovely|cool|great|sad)\b",
    rf"(?:when(?:ever)?|while) {_PRONOUN} ",
)
"""Beginnings of exclamations and clauses, which look like questions."""
_TELLING: Final = _one_of(
    # A subject with its verb.
    r"(?:\w+ ){0,4}?(?:i|i'm|i've|i'd|i'll|we|we're|we've|we'll|he|she|they|it|you)(?:'\w+)? \w+",
    r"(?:he|she|it|they|that|there|this|these|those|here|you)(?:'s|'re|'ve|'d|'ll)\b",
    rf"(?:[\w']+ ){{1,6}}?(?:{_BE}|has|have|had|will|won't|didn't|doesn't|don't|can't|couldn't) \w",
    rf"(?:the|my|our|your|his|her|their|this|that|a|an) (?:\w+ ){{1,3}}?"
    rf"(?:\w{{2,}}ed|{_any('came went got broke fell fails took left said told lost won made')}) ",
    # A subject left out: "Finished the book".
    _any("going finished got had back heading finally thank sorry yes no") + r" \w",
    # A rule for later.
    _any("always never from_now_on don't do_not in_future") + r"\b",
)
_ORDER_WORDS: Final = (
    "order",
    "chronolog",
    "sequence",
    "timeline",
    "first",
    "last",
    "latest",
    "newest",
    "before or",
    "sort",
    "rank",
    "arrange",
)
_ORDER: Final = _one_of(
    rf"\b(?:in|by) (?:{_any('what which the right correct exact same a chronological temporal time')} )*order\b"
    rf"(?! (?:to|that)\b| (?:did|do) {_PRONOUN} (?:place|make|cancel|receive))",
    r"\bthe (?:\w+ )?order (?:in which|(?:of|that) (?:these|those|events|topics|things|how|my (?:topics|questions)"
    r"|i (?:brought|mentioned|raised|discussed|talked)))",
    r"\border of (?:topics|events|things|appearance|mention)\b",
    r"\bchronolog|\btimeline of\b|\b(?:the|what|what was the) sequence\b",
    r"\b(?:from|the) (?:first|earliest|oldest)\b.*\b(?:to|through|until) (?:the )?(?:last|latest|newest|most recent)\b",
    rf"\b(?:{_BE}|came|happened|occurred|started|began|ended|took place) (?:first|earlier|later|last|sooner)\b.* or ",
    r"\bhappened first\b|\bbefore or after\b|\b(?:oldest|newest|earliest|latest) first\b|\bin (?:the )?sequence\b",
    r"\bfirst,? (?:(?:and )?then|(?:and )?second),? |\bby (?:date|when)\b",
    r"\bfirst,? (?!of all)[^?]+ or (?!less\b|so\b|something\b)\w",
    r"\b(?:sort|order|arrange|rank) (?:the|these|those|my|all|our)\b",
)
_LIST: Final = _one_of(
    rf"\b(?:which|what)(?: of {_OWNER})?(?: (?!{_any(_AUXILIARIES)}\b)[\w'-]+){{0,3}}? {_PLURAL}\b"
    r"(?! (?:the|a|my|his|her|our)\b)",
    rf"\b(?:what|who)(?:'re| are| were) (?:all |both |some of )?{_OWNER} (?:[\w'-]+ ){{0,3}}?{_PLURAL}\b",
    r"\bhow many\b|\b(?:the|total|what) number of\b|\bcount (?:of|the|all|how)\b",
    r"\b(?:what|who|which|where) (?:all|else)\b",
    # The perfect asks for all that happened so far: "Where has she travelled?"
    r"\b(?:what|where|who|which \w+)(?:'s| has| have|'ve) (?!happened|been the|changed|become)"
    rf"(?:\w+ ){{1,3}}?{_PARTICIPLE}\b",
    r"\b(?:list|enumerate|name) (?!of\b)|\b(?:a|the|full|complete) list of\b",
    rf"\b(?:all|every|each) (?:of )?(?:{_OWNER} )?"
    r"(?!day|time|right|about|(?:\w+ )?(?:chats|conversations|discussions|sessions|history|messages)\b)\w",
    r"\bsummar(?:y|i[sz]e)\b|\b(?:recap|overview|sum up)\b",
)


def kind_of(question: str, answer_type: CueFlag) -> QuestionKind:
    """The kind of a question. `answer_type`: the type of answer that it expects, of `answer_types.asked_for`.

    >>> [str(kind_of(text, CueFlag.NOTHING)) for text in ("my dog's name?", "Help me pack.", "I am back.")]
    ['fact', 'request', 'statement']
    """
    text = question.lower().replace("\u2019", "'").strip()
    sentences = _SENTENCE.split(text)
    asking, kind = text, QuestionKind.STATEMENT if text else QuestionKind.FACT
    for asking in reversed([sentence for sentence in sentences if not is_frame(sentence)] or sentences):
        kind = _act_of(asking)
        if kind is not QuestionKind.STATEMENT:
            break
    if kind is not QuestionKind.FACT:
        return kind
    if any(word in text for word in _ORDER_WORDS) and _ORDER.search(text):
        return QuestionKind.ORDER
    if answer_type is CueFlag.TIME:
        return QuestionKind.TIME
    return QuestionKind.LIST if _LIST.search(asking) else QuestionKind.FACT


def _act_of(sentence: str) -> QuestionKind:
    """Whether one sentence, in small letters, asks (`FACT`), requests or tells."""
    opening = _OPENING.match(sentence)
    words = _WORD.findall(sentence, opening.end() if opening else 0)
    while words and words[0] in _FILLERS:
        del words[0]
    if not words:
        return QuestionKind.STATEMENT if sentence[:1].isalpha() else QuestionKind.FACT  # a greeting, or only marks
    text = " ".join(words)
    polite = _POLITE.match(text) if words[0] in _BEFORE_AN_ACT else None
    act = text[polite.end() :] if polite else text
    if _asks_memory(act) or (words[0] in _BEFORE_WONDERING and _WONDERS.match(text)):
        return QuestionKind.FACT
    if polite or _is_a_task(act) or (not _ADVICE_WORDS.isdisjoint(words) and _ADVICE.search(text)):
        return QuestionKind.REQUEST
    if sentence.endswith("?"):
        return QuestionKind.FACT
    return QuestionKind.STATEMENT if _tells(sentence, words, text) else QuestionKind.FACT


def _asks_memory(act: str) -> bool:
    first = act.partition(" ")[0]
    return first in _TO_MEMORY or (first in _MAY_ASK_MEMORY and _ASKS_MEMORY.match(act) is not None)


def _is_a_task(act: str) -> bool:
    first, _, rest = act.partition(" ")
    return first in _TASKS and bool(rest) and rest.partition(" ")[0] not in _AFTER_A_NOUN


def _tells(sentence: str, words: Sequence[str], text: str) -> bool:
    """Whether a sentence without a question mark tells something, and is neither a question nor a few keywords."""
    first, second = words[0].partition("'")[0], words[1] if len(words) > 1 else ""
    asks = first in _ASKING or (first in _PREPOSITIONS and second in _ASKING) or (words[0] in _AUXILIARY and second)
    if asks:
        return _CLAUSE.match(text) is not None
    return sentence.endswith((".", "!")) or _TELLING.match(text) is not None
