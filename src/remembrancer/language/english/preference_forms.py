"""The English forms of preferences and lasting instructions, as expressions over lower-case sentences with plain
apostrophes. Each form names words of its own: only a text that contains one of them is searched for it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from remembrancer.patterns import pattern

if TYPE_CHECKING:
    import re

VERBS: Final = (
    "abbreviate|acknowledge|act|add|address|adjust|admit|answer|append|apply|ask|assume|attach|avoid|base|be|begin|book"
    "|break|bring|build|bullet|buy|call|capitali[sz]e|cc|change|check|choose|cite|clarify|close|comment|commit|compare"
    "|compose|confirm|consider|consult|convert|copy|correct|count|cover|create|date|define|deliver|describe|design"
    "|discuss|display|do|document|double-check|draft|edit|email|emphasi[sz]e|end|ensure|err|estimate|explain|express"
    "|favou?r|find|finish|focus|follow|format|generate|get|give(?! up)|go|greet|group|guide|handle|have|help|highlight"
    "|include|indent|indicate|inform|insert|install|introduce|invite|keep(?! going)|label|leave|let(?! me know)|limit"
    "|link|list|make|mark|mention|message|name|notify|number|offer|omit|open|order|organi[sz]e|outline|pack|pay|phrase"
    "|pick|place|plan|play|point|prefer|prefix|prepare|present|print|prioriti[sz]e|produce|proofread|propose|provide"
    "|push|put|quote|read|recommend|refer|reference|remind|remove|repeat|replace|reply|report|request|reserve|respect"
    "|respond|return|review|round|run|save|say(?! never)|schedule|search|seat|select|send|serve|set|share|show|sign"
    "|simplify|skip|sort|speak|specify|spell|split|start|state|stay|stick|store|structure|suggest|summari[sz]e|support"
    "|switch|take|talk|target|teach|tell|test|text|tone|track|translate|treat|try|turn|type|update|use|validate|verify"
    "|wait|walk|warn|wear|wrap|write|accept|allow|amend|assign|bill|block|bump|cache|cancel|charge|compile|contact|cook"
    "|cut|delete|deploy|draw|encrypt|escalate|escape|expand|forward|guess|hardcode|invent|invoice|lint|log|measure"
    "|merge"
    "|mock|paste|phone|plot|reach|rebase|refactor|refund|rename|renew|ring|ship|shorten|squash|substitute|swap|tag"
    "|touch"
    "|trim|upgrade"
)
"""Verbs of instructions, in the form of the imperative."""
TELLING: Final = (
    "add|address|answer|apologi[sz]e|assume|attach|book|bring up|call|cc|cite|contact|email|explain|format|give(?! up)"
    "|greet|include|lecture|list|make up|mention|message|order|pad|phone|put|quote|recommend|remind|reply|respond|ring"
    "|schedule|send|serve|show|sign off|speak|start|suggest|summari[sz]e|swear|talk|tell|text|translate|use|write"
)
"""Verbs of what an assistant does; "don't" with another verb is seldom about more than one occasion."""
LASTING: Final = (
    r"(?:from (?:now|here|today|this (?:point|moment)) on(?:wards?| out| in)?|going forwards?|moving forwards?"
    r"|in (?:the )?future|for (?:the|all) future|henceforth|as of (?:now|today)|starting (?:now|today)|by default"
    r"|as a (?:general )?rule|in general|for future reference|at all times|(?:every|each|any) ?time|whenever"
    r"|in (?:all|any|every|each)(?: of)? (?:your|my|our|future)?\s?\w+|(?:every|each) (?:answer|reply|response|message"
    r"|email|letter|report|recipe)|without exception"
    r"|in this (?:repo(?:sitory)?|project|codebase|chat|conversation|house|team|company|shop))"
)
"""Words that say that an instruction holds from then on."""
_LASTS: Final = (
    "now on|here on|today on|point on|moment on|forward|future|henceforth|as of |starting |by default|as a rule|general"
    "|all times|each |every |any time|anytime|whenever|in all|in any|in this |exception"
)
LANGUAGES: Final = (
    "english|french|german|spanish|italian|portuguese|dutch|chinese|japanese|korean|arabic|hindi|russian|polish|swedish"
    "|turkish|greek|danish|norwegian|finnish|czech|ukrainian|hebrew|catalan|welsh|irish"
)
_ADVERBS: Final = (
    "(?:(?:really|much|generally|usually|normally|typically|always|strongly|still|now|definitely|personally|also|do"
    "|absolutely|simply|just|truly|actually|honestly|particularly|especially|kinda|kind of|sort of|mostly|rather|very"
    "|quite|tend to|often|currently|even|totally|genuinely|certainly|so|too|more|both|greatly) )*"
)
_POLITE: Final = "(?:(?:please|kindly|just|simply),? )*"
_TO_YOU: Final = (
    "(?:(?:i(?:'d| would)? (?:want|need|like|expect|prefer|ask)|i'd appreciate it if)(?: for)? you(?: to)?|i want"
    "|i need|you (?:should|must|need to|have to|are to|will|can|may)|make sure(?: (?:that )?you| to)?|be sure to"
    "|remember to|don't forget to|try to|let's|can you|could you)"
)
_HOW: Final = "(?:please |always |never |only |don't |do not |also |then )*"
_YOU_DO: Final = (
    "you(?:'re| are)? (?:give|giving|write|writing|answer|respon|repl|expla|show|suggest|recommend|draft|summari|plan"
    "|format|generat|send|talk|list|mak|creat|cit|quot|mention|provid|present|describ|cod|produc|translat|book|schedul"
    "|help|address|speak|comment|review|search|us|refer)"
)


class SentenceForm(NamedTuple):
    """A form of sentences: any text of this form has one of the `words`."""

    words: tuple[str, ...]
    sentence: re.Pattern[str]


def _form(words: str, sentence: str) -> SentenceForm:
    return SentenceForm(tuple(words.split("|")), pattern(sentence))


_THING: Final = (
    r"(?! (?:to (?:ask|say|think|bother|break|interrupt|admit|see you|imagine|believe|disappoint|nag|be that|help)"
    r"|(?:how|where) (?:you|he|she|this|it|that|they)|the\b(?! (?:window|aisle|middle|outdoors|sea|ocean"
    r"|mountains|beach|countryside|city|theatre|theater|cinema|cold|heat|rain|sun|snow|dark|idea of))|what (?:you|he"
    r"|she"
    r"|they)|your|you\b|him\b|her\b|them\b|us\b|his\b|their\b|(?:this|that|these|those)\b|it(?! when| if)\b|one\b"
    r"|mine\b"
    r"|not\b|that's)|[.!,;]|$)"
)
"""Matches before a thing of its own, rather than one just mentioned."""

_HAS_A_FORM: Final = (
    "distance|distances|weight|weights|price|prices|amount|amounts|temperature|temperatures|date|dates|times|sums"
    "|money|cost|costs|quantities|measurement|measurements|recipes|letters|emails|e-mails|answers|replies|messages"
    "|everything|reports|commit messages|comments|invoices"
)

_MUST: Final = "should|must|has to|have to|needs to|need to|ought to"

INSTRUCTIONS: Final = (
    # Always use metric units. Please never call before nine.
    _form(
        "always|never|ever |only ",
        rf"{_POLITE}(?:always|never|do not ever|don't ever|only(?: ever)?)\s+(?:(?:please|only|ever)\s+)?"
        rf"(?:{VERBS})\b(?!\s*(?:,|$|to mind\b))",
    ),
    _form(
        "always|never|only ever",
        rf"{_POLITE}(?!you\b){_TO_YOU} (?:please )?(?:always|never|only ever)\b",
    ),
    _form(
        "always|never|only ever",
        rf"{_POLITE}you (?:should|must|need to|have to|are to) (?:please )?(?:always|never|only ever) (?:{TELLING}"
        rf"|check"
        r"|confirm|double-check|share|verify)\b",
    ),
    # From now on, use American spelling. I want you to answer briefly from now on.
    _form(
        _LASTS,
        rf"{LASTING}[,:]? {_POLITE}(?:{_TO_YOU} )?(?:please |always |never |only |stop |no (?:more )?\w+|don't "
        rf"|do not )*"
        rf"(?:(?:{VERBS})\b(?! been)|no (?:more )?\w+)",
    ),
    _form(
        _LASTS,
        rf"{_POLITE}(?:{_TO_YOU} )?(?:please |always |never |only |don't |do not |stop \w+ing )*(?:(?:{VERBS})\b"
        rf"|(?<=want )|(?<=need )|(?<=prefer )).*\b{LASTING}\b",
    ),
    # When I ask about travel, include the price. Include the price when I ask about travel.
    _form(
        "when|whenever|if |time |in case|for any|for all|for every",
        r"(?:(?:when|if|in case) (?:i|we|you|someone|somebody|i'm|you're|i am|you are) (?!(?:have|get|got|can|could"
        r"|finish"
        r"|need|want|arrive|see|know|are (?:done|ready|free))\b).*?[,:]|(?:when|for) (?:\w+ing|(?:any|all"
        r"|every)(?:thing)?)"
        r"\b.*?,|(?:whenever|any ?time|every time|each time) (?:i|we|you|someone|somebody|there|the|an?)\b(?! need).*?"
        rf"(?:,|(?= (?:please|always|never)\b))) {_POLITE}(?:{_TO_YOU} )?{_HOW}(?:{VERBS})\b",
    ),
    _form(
        "when|whenever|time |if ",
        rf"{_POLITE}(?:(?:always|never|only|don't|do not) )?(?:{VERBS})\b.* (?:when(?:ever)?|every time|each time"
        r"|any ?time|if) (?:i(?:'m| am)? (?:ask|talk|mention|discuss|request|say|want|bring|write|tell|travel|order)"
        rf"|{_YOU_DO})",
    ),
    # Don't use emojis. Avoid jargon. No bullet points, please.
    _form(
        "don't|do not|never|stop|quit|refrain|no need|no longer",
        rf"{_POLITE}(?:don't|do not|never|stop|quit|refrain from|no need to|no longer|you (?:don't|do not) need to)"
        rf" (?:ever )?(?:{TELLING}|(?:us|add|giv|suggest|includ|call|writ|start|apologi[sz]|remind|explain|send|list"
        r"|show|mention|recommend|summari[sz]|repeat|lectur)ing)\b(?! (?:so|me (?:you|that|again)\b))",
    ),
    _form(
        "avoid",
        r"(?:please )?avoid (?:using |giving |adding |any |all )?\w+",
    ),
    _form(
        "no ",
        r"no (?:more )?(?!problem|thanks|worries|idea|way|doubt|one|need|rush|wonder|comment|matter|hurry)\w+"
        r"(?: \w+){0,4},? (?:please|for me)\b(?:[.!,]|$)",
    ),
    # Keep your answers short. Use British spelling. Answer in French. Be brief.
    _form(
        "answers|replies|responses|explanations|messages|summaries|suggestions|emails|letters|reports",
        rf"{_POLITE}(?:keep|make|format|write|phrase|limit|structure|begin|start|end|give me) (?:all )?(?:of )?"
        r"(?:your|the|all|any)? ?(?:\w+ )?(?:answers|replies|responses|explanations|messages|summaries|suggestions"
        r"|emails"
        r"|letters|reports)\b",
    ),
    _form(
        "use |write in|stick to|stay with|switch to|go with",
        r"(?:please )?(?:use|write in|stick to|stay with|switch to|go with)\b.*?(?:spelling|units|english|format"
        r"|notation|tone|pronouns|currency|emojis?|temperatures|celsius|fahrenheit|voice|bullet points|bullets|headings"
        r"|markdown|plain text|jargon|abbreviations|terminology|conventions|style|24-hour|12-hour)\b",
    ),
    _form(
        "answer|reply|respond|speak|talk|write|communicate|explain|chat",
        r"(?:please )?(?:answer|reply|respond|speak|talk|write|communicate|explain things|chat)(?: (?:to|with) me"
        r"| back)?"
        r" (?:only )?(?:as if|like|more|less|briefly|concisely|formally|casually|in (?:an? )?(?:plain|simple|formal"
        rf"|informal|casual|friendly|full|short|complete|lower|bullet|markdown|prose|{LANGUAGES}))\b",
    ),
    _form(
        "brief|concise|succinct|terse|formal|casual|blunt|direct|honest|specific|polite|friendly|detailed",
        "(?:please )?be (?:more |less |very |extremely |brutally |always |a bit )*"
        r"(?:(?:brief|concise|succinct|terse)\b|(?:formal|informal|casual|blunt|direct|honest|specific|polite|friendly"
        r"|detailed)\b(?=.*\b(?:with me|answer\w*|repl\w+)\b))",
    ),
    # Never rebase a shared branch. Don't add dependencies. Distances in miles. Letters to doctors: formal.
    _form(
        "always|never",
        rf"{_POLITE}(?:always|never) (?!(?:a|an|the|again|as|at|been|before|best|better|busy|but|careful|cheap|cold"
        rf"|easy|ends|enough|ever"
        r"|fun|funny|glad|good|great|had|happy|hard|heard|here|hungry|in|interesting|knew|late|less|lovely|mind|more"
        r"|nice|on|one|over"
        r"|polite|proud|quite|ready|right|seen|so|sorry|sure|thankful|that|there|think|this|thought|tired|to|too|true"
        r"|up|was|weird"
        r"|welcome|worth|wrong|look|looks|feel|feels|say|remember|full|by|with|for|from|of|about|love|like|want|gotta"
        r"|gonna|give up|done|gone|known|met|made"
        r"|taken|given|came|felt|found|got|went|told|said|saw|meant|lost|left|kept|bought|brought|ate|eaten|slept"
        r"|spoke|took"
        r"|wore|won|wrote|written|understood|stood|sat|ran|flown|flew|forgot|forgotten|come|hurts"
        r"|stop)\b)[a-z][a-z-]+(?<!ed)(?<!ing)(?<![^s]s) \w+",
    ),
    _form(
        "don't|do not",
        rf"{_POLITE}(?:don't|do not) (?:add|amend|bump|change|commit|delete|deploy|edit|force-push|guess|hardcode"
        rf"|install|invent|log|merge"
        rf"|mock|push|rebase|refactor|remove|rename|skip|squash|touch|upgrade)\b{_THING}",
    ),
    _form(_HAS_A_FORM, rf"(?:{_HAS_A_FORM})(?: always)? (?:in|as|with|without) \w+"),
    _form(
        "letters|emails|messages|replies|answers|reports|recipes|posts|commits|commit|prs|texts|invoices|reviews",
        r"(?:letters|emails|messages|replies|answers|reports|recipes|posts|commits|commit messages|prs|texts|invoices"
        r"|reviews)"
        r"(?: (?:to|for|from) [\w ]+)?: \w+",
    ),
    # Ask me before you delete anything. Don't touch the migrations without asking. If a customer asks, offer a refund.
    _form(
        "before|unless|without",
        rf"{_POLITE}(?:{_TO_YOU} )?(?:always |never |don't |do not )*(?:(?:ask|check|confirm|verify|tell|warn"
        rf"|show)\b.* before"
        rf" (?:you|any|\w+ing)\b|(?:don't|do not|never)\b.* (?:without|unless|until|before) (?:asking|checking|telling"
        rf"|my|me|you|i)\b"
        r"|only (?:if|after|when)\b)",
    ),
    _form(
        "if |when|whenever",
        r"(?:if|when(?:ever)?) (?:an?|any|anyone|anybody|someone|somebody|customers?|clients?|people|patients?"
        r"|users?)\b"
        rf"[^,]{{3,80}}, {_POLITE}{_HOW}(?:{VERBS})\b",
    ),
    # Answers should be short. Everything you write must be in plain English. Prices always include VAT.
    _form(
        "|".join(f"{must} {ever}" for must in _MUST.split("|") for ever in ("always", "never", "only")),
        r"(?!(?:i|you|he|she|it|they|we|there|that|this|who)\b)(?:anything|everything|all|any|every|each|the|your|my"
        rf"|our)?(?: ?[\w'-]+){{1,6}} (?:{_MUST}) (?:always|never|only)\b",
    ),
    _form(
        "should|must|has to|have to|needs to|need to",
        r"(?:anything|everything|whatever|all|any|every|each) (?:[\w'-]+ ){1,6}?(?:should|must|has to|have to"
        r"|needs? to)\b",
    ),
    _form(
        "always|never",
        r"(?!(?:i|you|he|she|it|they|we|there|that|this|who|what|as|thanks|thank)\b)(?:[\w'-]+ ){1,4}(?:always"
        r"|never) (?:in|on|with|without|as"
        r"|at|by|first|last|including|before|after|go|come|get|include|need)\b",
    ),
    _form("always|never|every time", r"(?!.*\bas always)[^,]{4,60},? (?:always|every time|without exception)[.!]?$"),
    # We never use npm. We only write tests in pytest. Our convention is tabs.
    _form(
        "we ",
        r"(?:in this \w+,? |here,? |at \w+,? )?we (?:always|never|only|don't|do not|no longer)(?: ever)? (?:use|write"
        r"|put|merge|deploy|commit|push|test|name"
        rf"|ship|send|sign|round|quote|answer|call|pay|refund|format|accept|support|log|keep|book|order|store|import"
        rf"|mock|add|buy)\b{_THING}",
    ),
    _form(
        "convention|house style|our style|rule|our policy",
        r"(?:(?:an?|my|our|the|one|another|two|ground|basic|general) )*(?:house style|conventions?|ground rules?"
        r"|house rules?|rule"
        r"|policy|standing order)\b(?: here| for \w+| in \w+)?(?: is| are|:|,)(?! it\b| that\b| this\b)",
    ),
    # Email me rather than calling. Reach me by text. Metric units, please. Short answers only.
    _form(
        "rather than|instead of|reach me|contact me",
        rf"{_POLITE}(?:(?:{VERBS})\b.* (?:rather than|instead of) |(?:you can )?(?:best )?(?:reach|contact) me (?:by"
        rf"|on|at|via|only))",
    ),
    _form(
        "please| only",
        r"(?:in )?(?!no\b)(?:[\w'-]+ ){0,3}(?:spelling|units|english|metric|celsius|fahrenheit|euros|dollars|pounds"
        r"|answers|replies"
        rf"|responses|bullet points|bullets|plain text|prose|{LANGUAGES}),? (?:please|only)[.!]?$",
    ),
    _form(
        "no ",
        r"no (?!(?:errors|problems|worries|thanks|results|changes|issues|questions|plans|tests|signs|complaints"
        r"|regrets|news|less|matches"
        r"|replies|answers|updates|details|doubts|limits|bookings"
        r"|customers)\b)(?:more )?(?:\w+ ){0,2}\w{2,}[^s\W]s\b(?: (?:or|and|nor) \w+(?: \w+)?"
        r"| (?:in|before|after|on|at|for|with) [\w ]+)?[.!]?$",
    ),
    _form("keep things", r"(?:please )?keep things (?:short|brief|simple|concise|plain|formal|informal|casual|light)"),
    # Prefer pathlib to os. Use uv, not pip. Keep diffs small. No jargon. Force pushes are off limits.
    _form("prefer |stick to|stick with", rf"{_POLITE}(?:prefer|stick (?:to|with))\b{_THING}"),
    _form(
        " not | over ",
        rf"{_POLITE}(?:use|write|say|take|buy|book|choose|send|run|put|pick|quote|name|call) (?!the (?:other|first"
        rf"|second|last)\b)"
        r"[^.]{2,50},? (?:not|over) (?!the (?:other|first|second|last)|yet\b|too\b|only\b|all\b|now\b|here\b)\w+",
    ),
    _form(
        "keep ",
        r"(?:please )?keep (?:\w+ ){1,3}(?:short|small|brief|simple|formal|informal|casual|plain|clean|under|below"
        r"|to (?:a|one|two|three))\b",
    ),
    _form(
        "no ",
        r"no (?:more )?(?:jargon|fluff|small talk|sugar|meat|dairy|gluten|alcohol|fish|pork|nuts|markdown|html|slang"
        r"|sarcasm|flattery"
        r"|padding|preamble|emoji)\b",
    ),
    _form(
        "no-go|off limits|off-limits|taboo|non-negotiable|not an option|forbidden|mandatory",
        r"[^.]{2,60} (?:is|are) (?:a |an |strictly |absolutely |always )*(?:no-go|off[- ]limits|taboo|non-negotiable"
        r"|not an option"
        r"|forbidden|mandatory)\b",
    ),
    # Call me Sam. I go by Sam. My pronouns are they/them.
    _form(
        "call me|address me",
        r"(?:.*(?:[,;] |\b(?:and|but|so) ))?(?:please |just |you can |you may |do )*(?:call|address) me (?:as |by )?(?!"
        r"(?:back|later|crazy|when|if|at|on|in|tomorrow|today|tonight|asap|soon|again|maybe|old|biased|any ?time|please"
        r"|first|before|after|once|the|a|an|now|about|for|from|until|every|whenever|instead|mad|stupid|lazy|weird|naive"
        r"|paranoid|up|over|out|picky|spoiled|cynical|what|names|this|that|to|with|or|and|right)\b)[a-z]",
    ),
    _form(
        "be called|go by",
        r"i(?:'d| would)? (?:(?:like|prefer|want) to be called|go by|prefer to go by) \w+",
    ),
    _form(
        "pronouns",
        r"my (?:preferred )?pronouns are\b",
    ),
)
"""The forms of instructions that hold from then on, from the beginning of a sentence."""

ASKED: Final = pattern(
    r"(?:please\s+)?(?:can|could|would|will) (?:you|we)(?: please)? (?:(?:just )?(?:always|never)\b"
    rf"|.*\b{LASTING}\b)"
)
"""A question that is an instruction: "Could you always answer in French?"."""

_AILMENTS: Final = (
    "migraines?|headaches?|hives|heartburn|nausea|nauseous|sick|seasick|carsick|dizzy|itchy|sneeze|drowsy|sleepy"
    "|anxious"
    "|nervous|panic|rash(?:es)?|cramps|vertigo|claustrophobic|uncomfortable"
)

PREFERENCES: Final = (
    # I prefer aisle seats. I'd rather not fly.
    _form(
        "prefer|preferred",
        rf"i(?:'d|'ve| have| would| do)? {_ADVERBS}(?:prefer|(?<=ve )(?:always )?preferred|(?<=ve always )preferred)\b"
        r"(?! not to (?:say|answer|talk|discuss|disclose|comment|go into|share|tell|think|get into))"
        r"(?! (?:the (?:first|second|third|last|former|latter|other)|neither|either|both|not to\b *[.!]?$)\b)(?![.!,]"
        r"|$)",
    ),
    _form(
        "rather ",
        "i(?:'d| would) (?:really |much |honestly |always )*rather (?!not (?:say|answer|talk|discuss|disclose|comment"
        r"|go into|share|tell|think|get into|know)|die\b|be (?:dead|here|there)|you\b(?! (?:always|never|did|not)))\w+",
    ),
    _form(
        "preference|preferred",
        "(?:i have an? (?:strong |slight |clear |marked )?preference for|my (?:strong "
        "|personal )?preference is(?! to wait)"
        r"|my preferred \w+(?: \w+){0,2} (?:is|are))\b",
    ),
    # I like it when you ask first. I can't stand cilantro. I'm a fan of jazz.
    _form(
        "like|dislike|love|hate|enjoy|adore|detest|loathe|despise|appreciate it",
        rf"i(?:'ve| have)? {_ADVERBS}(?:don't |do not |dont |no longer |never )?(?:really |much |particularly "
        rf"|actually "
        rf"|even )*(?:like|love|hate|dislike|enjoy|adore|detest|loathe|despise|appreciate it)\b{_THING}",
    ),
    _form(
        "can't|cannot|could never|can never",
        "i (?:really |just |absolutely |honestly |simply )*(?:can't|cannot|could never|can never) (?:stand|bear|abide"
        rf"|tolerate|eat|drink|digest|take|handle|have)\b{_THING}",
    ),
    _form(
        "fan of|fond of|keen on|into |partial to|crazy about|scared of|afraid of|comfortable|passionate about"
        "|sensitive to|allergic to|intolerant ",
        "i(?:'m| am) (?:really |just |definitely |still |also |honestly |no longer )*(?:not |never )?(?:really |much "
        "|an? |such an? |very |so |the )*(?:big |huge |great |real |lifelong )*(?:fan of|fond of|keen on|into"
        "|partial to"
        "|crazy about|scared of|afraid of|(?:un|most |more )?comfortable with|passionate about|sensitive to|allergic to"
        rf"|intolerant (?:to|of)){_THING}",
    ),
    # No lavender, please. I don't want black. A personal rule: no sad endings.
    _form(
        "no ",
        r"(?:please,? no (?!problem|worries|idea|one|rush|more\b)\w+|no (?!problem|thanks|worries|idea|way|doubt|one"
        r"|need|rush|wonder"
        r"|comment|matter|hurry)\w+(?: \w+){0,3},? please\b)",
    ),
    _form(
        "don't want |do not want ",
        rf"i (?:really )?(?:don't|do not) want(?! (?:to|any(?:thing|one)?)\b){_THING}",
    ),
    _form(
        " rule",
        r"(?:(?:an?|my|our) )?(?:personal|house|golden|one|only|own) rule\b(?:[:,]| is| of)",
    ),
    # Solvents give me migraines. I get seasick. Ibuprofen upsets my stomach.
    _form(
        "s me |give me |make me |made me | my stomach|agree with me",
        rf".{{2,60}}\b(?:(?:gives?|make?s?|made) me (?:\w+ )?(?:{_AILMENTS})|(?:upsets?|wrecks?|hurts?) my (?:stomach"
        rf"|back|eyes|ears"
        r"|knees?|skin)|(?:doesn't|don't|does not|do not) agree with me)\b",
    ),
    _form(
        " get | gets ",
        rf"i (?:always |often |usually |easily |sometimes )*get (?:\w+ )?(?:{_AILMENTS})\b",
    ),
    # Love jazz. Not a fan of opera. I don't drive. I try to avoid sugar. I usually run early.
    _form(
        "love|hate|fan of|prefer|allergic to|don't like|keen on|can't stand",
        rf"(?:really |absolutely |just |definitely |still )*(?:love|hate|prefer|can't stand|don't like"
        rf"|(?:not )?(?:an? )?(?:big |huge )?fan of"
        rf"|no fan of|not (?:too )?keen on|allergic to)\b(?! (?:to|for|from|and|all|is|was|can)\b){_THING}",
    ),
    _form(
        "don't |do not ",
        r"i (?:really |just )*(?:don't|do not) (?!(?:know|think|mind|want|have|see|get|remember|understand|believe"
        r"|care|feel|need|recall"
        r"|really|suppose|agree|even|wanna|mean|like|expect|usually|seem|trust|blame|say|say|guess|hear|hope|wish"
        r"|doubt|quite|always"
        rf"|look|find|give|let|make|ask|plan|intend|dare)\b)\w+{_THING}",
    ),
    _form(
        "try to|trying to|try not",
        r"i(?:'m| am)? (?:try|trying) (?:not )?to (?:avoid|cut|give up|eat|drink|quit|stop|limit|reduce|stay away|keep"
        r"|buy|use|spend)"
        rf"\b{_THING}",
    ),
    _form(
        "usually|normally|generally|mostly|tend to|mainly",
        r"i (?:usually|normally|generally|mostly|mainly|tend to) (?!(?:am|was|have|had|do|did|think|feel|know|get"
        r"|forget|find|agree)\b)"
        rf"\w+(?<!ed){_THING}",
    ),
    _form(
        "only |never |not ",
        r"i(?:'m| am) (?:only|usually|never|not|rarely) (?:free|available|around|reachable|at my desk|in the office"
        r"|working)\b",
    ),
    # Mornings don't work for me. Opera isn't my thing. I have a bad knee. I can't do heights.
    _form(
        "work for me|for me|my thing|my cup of tea",
        r".{3,60}\b(?:(?:don't|doesn't|do not|does not|never) works? for me|(?:isn't|aren't|is not|are not"
        r"|not) (?:really )?(?:for me(?! to)|my thing"
        r"|my cup of tea))\b",
    ),
    _form(
        "i have |i've got ",
        r"i(?: have|'ve got) (?:an? )?(?:(?:bad|weak|dodgy|sore|stiff|chronic|mild|severe) (?:\w+ )?(?:knees?|back"
        r"|shoulder|hip|ankle|wrist"
        r"|eyesight|hearing|heart)|asthma|diabetes|adhd|epilepsy|high blood pressure|migraines|vertigo|hay fever"
        r"|reflux|arthritis|dyslexia)\b",
    ),
    _form(
        "can't do |cannot do |can't deal|can't cope",
        rf"i (?:really )?(?:can't|cannot) (?:do|deal with|cope with)\b{_THING}",
    ),
    # My favourite colour is green.
    _form(
        "favorite|favourite|favorites|favourites",
        r"my (?:all-time |absolute |very |new )*favou?rite(?: \w+){0,4}? (?:is|are|has always been|will always be"
        r"|remains)\b(?! (?:that|this|it)\b)",
    ),
    _form(
        "favorite|favourite|favorites|favourites",
        r"(?!what|which|who|that\b|this\b|it\b|one\b).{3,60}\b(?:is|are) (?:still |definitely )?my (?:all-time "
        r"|absolute "
        r"|very )*favou?rites?\b",
    ),
    # I'm vegetarian. I have a nut allergy. I keep kosher.
    _form(
        "vegetarian|vegan|pescatarian|flexitarian|veggie|free|lactose|liac|diabetic|teetotal|allergic|kosher|halal"
        "|keto|paleo"
        "|carb|handed|blind|dyslexic|night owl|early |morning person|night person|trovert|hearing|deaf",
        "i(?:'m| am|'ve been| have been|'ve (?:become|gone)| have (?:become|gone)| became| went|'m going) "
        "(?:(?:now|a|an|mostly|strictly|also|not|no|longer|any|still|actually|totally|fully|severely|mildly|on|the"
        "|trying to be|both|recently|just|back to|being|very|really) )*(?:vegetarian|veggie|vegan|pescatarian"
        "|flexitarian"
        "|gluten[- ]?free|dairy[- ]?free|lactose|coeliac|celiac|diabetic|teetotal(?:l?er)?|allergic|kosher|halal|keto"
        "|paleo|low[- ]carb|left[- ]handed|colou?r[- ]?blind|dyslexic|night owl|early (?:bird|riser)|morning person"
        r"|night person|introvert|extrovert|hard of hearing|deaf|blind)\b",
    ),
    _form(
        "allergy|allergies|intolerance|aversion",
        r"i (?:also |now |still |do )*(?:have|'ve got|developed) (?:an? )?(?:(?:bad|severe|serious|mild"
        r"|strong) )?(?:\w+ )?"
        r"(?:allerg(?:y|ies)|intolerance|aversion)\b",
    ),
    _form(
        "kosher|halal|vegan|vegetarian|free|diet",
        "i(?:'m| am)? (?:strictly |mostly |only |now )*(?:(?:keep|keeping|eat|eating) (?:kosher|halal|vegan|vegetarian"
        r"|gluten[- ]free)|on an? [\w-]+(?: [\w-]+)? diet|follow(?:ing)? an? [\w-]+(?: [\w-]+)? diet)\b",
    ),
    # I don't eat meat. I never drink coffee after noon. I only fly direct. I always take the window seat.
    _form(
        "don't|do not|never|no longer|only |always|avoid|stopped|quit|gave up|stay away",
        "i (?:really |generally |usually |strictly |still |now |also )*(?:don't|do not|never|no longer|only(?: ever)?"
        "|always"
        "|avoid|stopped|quit|gave up|stay away from) (?:ever |really |usually |only )?(?:(?:eat|drink|fly|travel|take"
        "|do|pay|carry|bring|pack|wear|order|smoke|book|stay|work|watch|read|use|buy|shop|cook|drive|eating|drinking"
        "|flying|smoking|wearing)"
        rf"\b{_THING}|(?:meat|alcohol|dairy|gluten|sugar|caffeine|coffee|pork|fish|nuts|spicy|fried|red)\b)",
    ),
    _form(
        " always | never ",
        r"i (?:always|never) (?!(?:forget|get|wanted|thought|think|knew|know|feel|felt|seem|end|lose|miss|mess|fail"
        r"|say|said|find"
        r"|wonder|hear|heard|hope|underst\w+|see|saw|been|had|was|were|did|got|could|would|will|have|made|came|went"
        r"|\w+ed|call"
        rf"|meant|told|learn|notice|worry|mind|believe|dream)\b)\w+{_THING}",
    ),
    _form(
        "avoid|steer clear|stay away",
        r"i (?:avoid|steer clear of|stay away from) (?!being |getting |having )\w+",
    ),
    _form(
        " again",
        r"i (?:now )?(?:eat|drink|fly|smoke|wear|use|take|like|enjoy|prefer) (?!you\b)[\w ]+ again\b",
    ),
    # Mornings work best for me. I learn best by doing. I'm a tea person.
    _form(
        "for me|suit",
        r".{3,60}\b(?:(?:works?|(?:is|are)(?: usually| generally)?) (?:best|better|easiest|ideal) for me"
        r"|suits? me (?:best|better))\b",
    ),
    _form(
        " person| lover| drinker| sleeper| eater",
        r"i(?:'m| am) (?:(?:more of|not|very much|definitely|just) )*an? (?:[\w-]+ ){1,3}(?:person|lover|drinker"
        r"|sleeper|eater)\b",
    ),
    _form(
        " find ",
        r"i find (?!(?:it|that|this|you|your)\b)[\w -]+ (?:exhausting|annoying|tedious|boring|stressful|distracting"
        r"|overwhelming|irritating|relaxing|helpful|easier|confusing|uncomfortable)\b",
    ),
    _form(
        "best|better|productively",
        "i (?:learn|work|focus|concentrate|think|sleep|function|do|understand things) (?:best|better|most productively)"
        r"\b",
    ),
)
"""The forms of preferences that somebody states of themselves, from the beginning of a clause."""

CLAUSE: Final = pattern(
    r"(?:^|^(?:for|in|on|at|with|as for|when|whenever|if|during|before|after) [^,;?]{2,40} |[,;:(] ?"
    r"|\b(?:and|but|so|because|since|as|though|although|that|cause|while|plus|even if) )(?=i\b|my\b)|^"
)
"""The beginnings of clauses, in which somebody speaks of themselves."""

FRAME: Final = pattern(
    r"\b(?:answers?|repl(?:y|ies)|responses?|respond|explanations?|spelling|emojis?|tone|units|bullet points|bullets"
    r"|jargon|abbreviations|headings|markdown|plain text|pronouns|language|formal(?:ly)?|informal(?:ly)?|casual(?:ly)?"
    r"|concise(?:ly)?|brief(?:ly)?|succinct|call me|address me|i go by|be called|speak|talk to me|celsius|fahrenheit"
    r"|24-hour|12-hour|date format|currency|passive voice|exclamation marks|small talk|disclaimers|apologi[sz]\w*"
    rf"|gender-neutral|{LANGUAGES})\b"
)
"""Words for the language, tone and form of answers."""
ABOUT: Final = pattern(
    r"\b(?:when(?:ever)?(?! (?:you (?:answer|reply|respond|talk|speak)|answering|replying))|before|after|if i|if you"
    r"|every time|each time|any ?time|letters?|e-?mails?|reports?|recipes?|code|codes|coding|scripts?|functions?"
    r"|commits?"
    r"|essays?|poems?|tweets?|posts?|invoices?|contracts?|trips?|travel|flights?|hotels?|restaurants?|meals?|dinners?"
    r"|food|meetings?|books?|films?|movies|music|songs?|workouts?|exercises?|lessons?|class|homework|presentations?"
    r"|slides?|memos?|minutes|proposals?|articles?|blogs?|documents?|documentation|tests?|spreadsheets?|recommend\w*"
    r"|customers?|clients?|my (?:boss|manager|team|wife|husband|mother|mom|mum|father|dad|kids?|children)|learn\w*"
    rf"|speak (?:{LANGUAGES}) (?:at|with)|for \w+ (?:work|projects?))\b"
)
"""Words that limit an instruction to a condition or a subject."""
