"""Sentences that tell a language model what to do. English.

Manuals are full of imperatives ("Do not delete this file", "You must restart the server"). What tells an attack from
them is whom it addresses (the model, its answers, its prompt, its memory), that something is to be kept from the user,
or that it imitates the format of a prompt.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from remembrancer.patterns import pattern

_MODEL: Final = (
    r"(?:an? |the |any |all |every |your |other )*(?:ai|a\.i\.|llms?|language models?|large language models?"
    r"|(?:ai|llm|virtual|coding|digital|automated) (?:assistants?|agents?|models?|systems?|bots?|readers?|tools?)"
    r"|chatbots?|chatgpt|gpt(?:-\d\w*)?|claude|copilot|gemini|llama)"
)
_USER: Final = (
    r"(?:the |your |any |this |an? |each |another )?(?:users?|humans?|operators?|owners?|customers?"
    r"|person you (?:are|serve)\w*)"
)
_ANSWERS: Final = (
    r"(?:answers?|repl(?:y|ies)|responses?|summar(?:y|ies)|outputs?|messages?|conversations?|recommendations?)"
)
_BEGINS: Final = r"(?:^|[.!?:;>\])}*\"'#-]\s*|\b(?:and|then|please|also|must|should|shall|to|now|will|instead)\s+)"
"""Before an imperative: the beginning of a sentence, or a word such as "please"."""


class _Rule(NamedTuple):
    """A form of sentence. `words`: one of them is in every text that has the form."""

    words: tuple[str, ...]
    form: re.Pattern[str]


def _rule(words: str, *forms: str) -> _Rule:
    return _Rule(tuple(words.split("|")), pattern("|".join(f"(?:{form})" for form in forms), re.MULTILINE))


_RULES: Final = (
    # The instructions before it do not count.
    _rule(
        "what the user|what your user|whatever the user|the real |the actual |the true |above|comply|skip|drop|clear"
        "|delete|ignor|disregard|forget|override|overrid|bypass|discard|do not follow|don't follow|stop following"
        "|set aside"
        "|no attention|no longer|supersede|cancel|void|erase|neglect|obey|abandon|replace|revok",
        r"\b(?:ignor|disregard|forget|overrid|bypass|discard|neglect|abandon|skip)\w*\s+"
        r"(?:(?:and|or|completely|fully|about|of|all|any|the|your|my|these|those|this|every|each|everything|in"
        r"|other)\s+){0,4}"
        r"(?:previous|prior|earlier|preceding|above|original|initial|former|foregoing|safety|ethical|system|developer"
        r"|past"
        r"|existing)(?:ly)?\s+(?:\w+\s+(?:and\s+)?){0,3}(?:instructions?|prompts?|directions?|commands?|messages?"
        r"|guidelines"
        r"|directives?|orders?|guidance|context|conversations?|tasks?|requests?|safeguards?|prompting|training)\b",
        r"\b(?:ignor|disregard|forget|overrid|bypass|discard|abandon)\w*\s+(?:all |any |every |of )*(?:your|thy)\s+"
        r"(?:\w+\s+){0,3}(?:instructions?|prompts?|rules?|guidelines?|directives?|training|programming|restrictions?"
        r"|constraints?|polic(?:y|ies)|safeguards?|limitations?|safety\w*|orders?|tasks?|goals?|persona)\b",
        r"\b(?:cancel|erase|delete|void|revok|supersede|drop|clear)\w*\s+(?:\w+\s+){0,2}(?:previous|prior|earlier"
        r"|preceding|initial"
        r"|original|system|current)\s+(?:\w+\s+)?(?:instructions?|prompts?|directives?|guidelines|orders|task"
        r"|context)\b",
        r"\b(?:ignore|disregard|forget|discard|skip|drop)\s+(?:any|all|the|every|your|those"
        r"|whatever)\s+(?:of the )?(?:instructions?"
        r"|guidance|rules|prompts?|directions|orders|guidelines|directives?|commands?|requests?)\s+(?:(?:that"
        r"|which)\s+)?(?:you\b"
        r"|(?:of|from|by) (?:the |your )?(?:users?|developers?|system|operators?|owners?|humans?)|above|before|given"
        r"|received"
        r"|so far|stated|earlier|previously)",
        r"\b(?:everything|all|anything|the (?:text|message|content)) (?:that (?:is|was|stands) |written )?(?:above"
        r"|before|until here)"
        r"(?: this (?:line|point|message|sentence))?,? (?:is|was|are|were|has been) (?:only |just "
        r"|all )?(?:an? )?(?:test|void|fake|joke"
        r"|example|decoy|invalid|untrusted|wrong|outdated|obsolete|to be ignored)\b",
        r"\bwhat(?:ever)? (?:the |your )?(?:user|human|operator|owner) (?:\w+ ){1,4}?(?:does not|doesn't|is not|isn't"
        r"|is no longer|no longer)"
        r" (?:matter|relevant|important|valid|count|apply)\w*\b",
        r"\bthe (?:real|actual|true) (?:task|instructions?|goal|request|question|assignment) (?:is|are|follows?"
        r"|comes?)\b",
        r"\b(?:ignore|disregard|forget|discard)\s+(?:everything|anything|all(?: of it)?|whatever|what)\s+(?:(?:that"
        r"|which)\s+)?"
        r"(?:(?:was|is|came|you|has|have|had|been|were|they|the user|i|stands?|said|written|told|stated)\s+)*"
        r"(?:above|before|until now|so far|told|said|asked|instructed|learned|previously|up to (?:now|this point))\b",
        r"\b(?:do not|don't|never|stop|no longer|cease)\s+(?:follow|obey|comply)\w*\s+(?:with\s+)?(?:\w+\s+){0,3}"
        r"(?:previous|prior|earlier|above|original|your|system|user's|developer)\s+(?:\w+\s+){0,2}(?:instructions?"
        r"|prompts?"
        r"|rules|guidelines|directives?|orders|requests?)\b",
        r"\b(?:do not|don't|never|stop|no longer|cease to)\s+(?:follow|obey|comply with)\s+(?:\w+\s+){0,2}(?:developer"
        r"|creator|maker"
        r"|operator|owner|user)s?(?:'s?)?\s+\w+",
        r"\b(?:instructions?|prompts?|rules|guidelines|directives?|orders)\s+(?:you (?:were|have been) (?:given"
        r"|told)\s+)?"
        r"(?:above|before|so far|given earlier|of your developers?|in your system prompt)\s+(?:\w+\s+){0,3}"
        r"(?:void|cancelled|canceled|obsolete|no longer|superseded|invalid|revoked|outdated|replaced|overridden)\b",
        r"\b(?:your|the|all|any) (?:of (?:your|the) )?(?:previous|prior|earlier|original|former|initial"
        r"|current) (?:system )?(?:instructions?|prompts?"
        r"|rules|guidelines|directives?|orders|task|objective|goal)\s+(?:are|is|was|were|has been|have been)\s+"
        r"(?:now |hereby |all |only )?(?:void|cancelled|canceled|obsolete|superseded|invalid|revoked|outdated|replaced"
        r"|over"
        r"|overridden|suspended|a test|complete|completed|finished|null)\b",
        r"\bpay no attention to (?:the |any |your |what ){0,2}(?:user|previous|prior|earlier|above|system"
        r"|instructions?)\b",
    ),
    # It addresses the model.
    _rule(
        "attention|chatbot|@bot| bots|machine reader|ai |ai,|ai:|ai-|ai!|ai.|a.i.|llm|language model|assistant|chatbot"
        "|chatgpt|gpt|claude|copilot|gemini|llama|agent",
        rf"\b(?:attention|note|notice|instructions?|message|important|reminder|warning|memo|directives?|hello|hey|hi"
        rf"|dear"
        rf"|addressed|hint|request|orders?|tip)[\s,:!-]*(?:to|for)?[\s,:!-]*(?:the )?(?:reading |processing "
        rf"|summari[sz]ing )?"
        rf"{_MODEL}(?: agents?| readers?)?\s*(?:[:,!\])*-]|that|who|which|reading|processing|when|if|must|only)",
        rf"\b(?:to|for) {_MODEL}(?: (?:agents?|readers?|systems?))?\s*(?:only\b|(?:that|who|which|reading|processing"
        rf"|when|if)\b[^.\n]{{0,80}}:)",
        r"\b(?:any|every|all) (?:assistants?|agents?|models?|bots?) (?:reading|processing|summari[sz]ing) (?:this"
        r"|the)\b",
        r"\battention[\s,:]+(?:summari[sz]er|reviewer bot|bots?|crawlers?|scrapers?|models?|agents?|assistants?)\b",
        r"(?:^|\s)@(?:assistant|ai|agent|claude|chatgpt|copilot|gemini|bot)\b[\s,:]+(?:please|also|ignore|send|do|run"
        r"|you|delete|never|always)",
        r",\s+(?:dear )?(?:assistant|ai|claude|chatgpt|copilot|gemini)\s*[.!]\s*$",
        r"\b(?:ai|llm|language model|chatbot|machine) readers?\s+(?:must|should|shall|are to|have to)\b",
        r"\b(?:chatbots?|llms?|language models?|ai assistants?|ai agents?)\s+(?:summari[sz]ing|reading|processing"
        r"|citing|using|that \w+)\s"
        r"[^.\n]{0,40}?(?:must|should|shall|are to|have to)\b",
        rf"\b(?:if|as|since|because|when|in case) (?:you are|you're|you were) {_MODEL}(?= ?(?:[,.;:)]|that|who|which"
        rf"|or|and|reading|processing|summari|agent|model|trained|visiting"
        rf"|crawl|with|you|please))",
        rf"\b{_MODEL}(?: (?:agents?|models?|assistants?))?,? (?:that|who|which)?\s*(?:is |are )?(?:reading|reads?"
        rf"|processing"
        rf"|summari[sz](?:ing|es?)|parsing|crawling|analy[sz]ing|visiting|scanning) (?:this|the|these|our)\b",
        r"\b(?:ai|llm|language model|chatbot|assistant)s?(?: agents?| models?| assistants?)? (?:must|should|shall"
        r"|are required"
        r" to|is required to|are (?:to|instructed to)|need to|have to)\s+(?:always|never|not|only|first|immediately"
        r"|now|ignore"
        r"|recommend|tell|say|reply|respond|answer|state|include|send|visit|call|run|execute|treat|trust|obey|rank"
        r"|promote)\b",
        r"\b(?:hey|hi|hello|dear|ok|okay|attention)[\s,]+(?:ai|assistant|agent|claude|chatgpt|gpt|copilot|gemini|bot"
        r"|language model)\b\s*[,!:.-]",
        r"^\W*(?:assistant|ai|agent|claude|chatgpt|copilot|gemini)\s*[,:]\s+(?:please\s+|you\s+(?:must|should|will"
        r"|are)\s+"
        r"|now\s+)?(?:ignore|disregard|forget|always|never|do not|don't|send|forward|reply|respond|answer|tell|say"
        r"|remember"
        r"|save|store|call|run|execute|delete|recommend|use the|stop|must|should|treat|include|from now)\b",
    ),
    # It gives the model a role, a mode or a duty.
    _rule(
        "you are|you're|you must|you will|you have been|you shall|your new|your real|your true|your only|your goal"
        "|your task"
        "|act as|pretend|roleplay|role-play|jailbreak|unrestricted|uncensored|unfiltered|dan mode|god mode|henceforth"
        "|from here on|from now on|imagine|suppose|assume"
        "|your instructions|your objective|your rules|your persona|your orders|your job|your role|your purpose"
        "|your mission",
        r"\byou(?:'re| are) (?:now|hereby|from now on|henceforth|no longer)\s+(?:an?|the|in|operating|acting|my|called"
        r"|named"
        r"|free|bound|unrestricted|required|restricted|dan\b|authori[sz]ed|to\b|playing|speaking|running as|limited"
        r"|under)",
        r"\byou(?:'re| are) (?:a|an) (?:\w+[\s,-]+){0,5}(?:assistant|ai|chatbot|language model|bot|agent)\b(?: (?:who"
        r"|that)|[.,;])"
        r"[^\n]{0,40}\b(?:must|always|never|will|answer|respond|only|obey|does|has no|without)\b",
        r"\byou must (?:now (?:answer|respond|reply|act|obey|ignore|follow|pretend|speak|treat|recommend|refer|call"
        r"|always|never|assist|help"
        r"|comply|tell|say|send|delete|use)|henceforth|hereby|obey (?:me|my|this|these|every|all|any)|always (?:answer"
        r"|say|reply|respond|recommend|tell)"
        r"|never (?:mention|reveal|tell|say|refuse)|disregard|pretend|respond (?:only|with|as)|recommend"
        r"|tell the users?|not (?:tell|inform|mention|reveal|alert|warn|refuse))\b",
        r"\byou will (?:now|henceforth|from now on|always|only|never) (?:answer|respond|reply|act|behave|obey|ignore"
        r"|follow"
        r"|pretend|recommend|say|speak|tell|comply|refer|refuse)\b",
        r"\byour (?:role|task|job|goal|instructions|objective|persona|mission|rules|orders) (?:has|have) (?:now |been "
        r"|just )*(?:changed"
        r"|updated|replaced|modified|reset)\b",
        r"\b(?:henceforth|from now on|from here on|now),? you (?:act|behave|are|work|serve|speak|obey"
        r"|answer)\b(?! able| logged| ready| done)",
        r"\b(?:imagine|suppose|assume|pretend)(?: that)? you have no (?:restrictions?|limits?|limitations?|rules"
        r"|filters?|guidelines)\b",
        r"\byour (?:new|real|true|only|actual|primary|next|updated|sole) (?:\w+ )?(?:task|goal|instructions?|role|job"
        r"|objective"
        r"|purpose|persona|identity|mission|directives?|orders?|rules? (?:are|is)|duty|priority) (?:is|are)\b",
        r"\bpretend (?:that )?you(?:'re| are)\b|\bpretend to be (?:an? |the )?(?:ai|assistant|human|user|admin"
        r"|unrestricted|different)\b",
        r"\b(?:act|behave|respond|answer|speak) (?:as (?:if|though) you(?:'re| are| were| have| had)"
        r"|as (?:an? )?(?:unrestricted|uncensored|unfiltered|evil|jailbroken|dan\b|different ai"
        r"|ai without))\b",
        r"\b(?:dan|god|jailbreak|unrestricted|uncensored|unfiltered) mode\b",
        r"\byou (?:have|'ve) (?:now )?(?:been )?(?:entered|switched (?:to|into)|granted) (?:\w+ )?(?:mode|admin\w*"
        r"|root|full"
        r" access)\b",
    ),
    # Something is to be kept from the user.
    _rule(
        "user|human|operator|owner|customer|mention this|mention that|anyone|secret|reveal|disclose|quietly"
        "|leave no trace|this instruction"
        "|these instruction|this message",
        rf"\b(?:do not|don't|never|must not|should not|without|avoid|not to|refrain from)\s+(?:ever\s+)?"
        r"(?:(?:tell|inform|alert|warn)(?:ing)?\s+(?:the |your |any )(?:users?|humans?|operators?|owners?"
        r"|customers?)\b(?! (?:to|how)\b)"
        rf"|let(?:ting)?\s+{_USER}\s+(?:know|see|notice|find out|learn|discover|realise|realize))",
        rf"\b(?:do not|don't|never|must not|should not|without|avoid|not to|refrain from)\s+(?:ever\s+)?"
        rf"(?:mention|reveal|disclose|admit|report|show|explain|repeat|say)(?:ing)?\s+(?:this|that|it|these|anything"
        rf"|any of"
        rf"|the (?:above|source|reason|change))[^.\n]{{0,40}}?\b(?:to|from|with|in front of)\s+{_USER}\b",
        r"\b(?:do not|don't|never|without)\s+(?:mention|reveal|disclose|repeat|acknowledg|refer to|quot|cit)(?:e"
        r"|ing)?\s+"
        r"(?:this|these|the|that|any|any of these)\s+(?:(?:hidden|new|secret|above|following)\s+)?(?:instructions?"
        r"|message"
        r"|prompt|note|directive|request|text|rule)s?\b",
        rf"\b(?:hide|conceal|keep|withh?o?ld)\w*\s+(?:this|it|that|these|(?:the|all|any) (?:\w+ )?(?:steps?|actions?"
        rf"|messages?|changes?|instructions?|requests?|facts?|reasons?"
        rf"|transfers?|calls?|emails?|results?|traces?|evidence|truth|purchases?|payments?"
        rf"|warnings?))[^.\n]{{0,40}}?\bfrom\s+{_USER}\b",
        r"\b(?:no need|not necessary|unnecessary|no reason|needn't|need not)\s+(?:to )?(?:tell|inform|alert|notify"
        r"|warn|ask|bother)\s+"
        r"(?:the|your) (?:user|human|operator|owner)",
        r"\b(?:the|your) (?:user|human|operator|owner)s? (?:must|should|may|can|shall|is|are|will) (?:not"
        r"|never)(?: to)? (?:find out|know|notice"
        r"|learn|hear|be (?:told|informed|notified|asked|alerted))\b",
        r"\bleave no trace\b[^.\n]{0,60}\b(?:instructions?|answer|reply|message|this)\b",
        r"\b(?:keep|do) (?:this|it) (?:quietly|secret|silently|hidden|confidential)\b[^.\n]{0,60}\b(?:user|human"
        r"|anyone|answer"
        r"|reply|response|conversation)\b",
    ),
    _rule(
        "without",
        rf"\bwithout\s+{_USER}(?:'s?)?\s+(?:knowledge|consent|knowing|noticing|awareness|permission|approval|seeing)\b"
        rf"[^.\n]{{0,60}}\b(?:send|delete|call|run|do|post|transfer|read|open|execute|forward|email|upload|proceed)\b",
        rf"\b(?:send|delete|call|run|post|transfer|read|open|execute|forward|email|upload|proceed|do (?:this|so|it))\b"
        rf"[^.\n]{{0,80}}\bwithout\s+(?:{_USER}(?:'s?)?\s+(?:knowledge|consent|knowing|noticing|awareness|permission"
        rf"|approval"
        rf"|seeing)|(?:asking|telling|informing|notifying|alerting) (?:the|your|any) (?:user|human|operator|owner)s?"
        rf"|(?:asking|requesting) (?:for )?(?:their |any )?(?:confirmation|permission|approval|consent))\b",
        r"(?:^|[.!?;]\s+)(?!the |this |it |files? |if |a |an |when |to |how )\w+\s[^.\n]{0,80}?\bwithout\s+(?:asking"
        r"|telling|informing"
        r"|notifying|alerting|consulting)\s+(?:the|your) (?:user|human|operator|owner)s?\b",
    ),
    # It asks for the prompt, the conversation or secrets.
    _rule(
        "prompt|instruction|conversation|chat|user's|users'|credential|password|secret|api key|token|.env|id_rsa|.ssh"
        "|private key|your memory|your memories|environment variable|your context|everything you know|personal"
        "|customer's|owner's",
        r"\b(?:reveal|print|repeat|output|show|dump|disclose|display|leak|recite|reproduce|quote|write out|tell me"
        r"|give me"
        r"|share|expose)\w*\s+(?:\w+\s+){0,4}?(?:your|the)\s+(?:(?:full|entire|complete|exact|whole"
        r"|own)\s+){0,2}(?:system|initial"
        r"|hidden|original|secret|internal|developer)\s+(?:prompts?|instructions?|messages?|rules)\b",
        r"\b(?:send|forward|post|e-?mail|upload|transmit|exfiltrate|leak|deliver|submit|append|paste|encode|include"
        r"|copy|put"
        r"|report)\w*\s+[^.\n]{0,60}?\b(?:(?:this|the|our|full|entire|whole|your|previous) (?:\w+ )?(?:conversations?"
        r"|chats?"
        r"|chat (?:history|logs?)|transcripts?|dialogue)|system prompt|your (?:memory|memories|context|instructions"
        r"|prompt)"
        r"|(?:user|customer|owner|victim|human)(?:'s|s'?) (?:\w+ ){0,3}(?:passwords?|credentials?|addresse?s?"
        r"|e-?mails?|data"
        r"|files?|names?|keys?|tokens?|secrets?|inbox|contacts?|history|documents?|messages?|location|details"
        r"|information"
        r"|numbers?|notes?|calendar|memor(?:y|ies))|(?:all|any|every|the|stored|saved|found"
        r"|known) (?:\w+ ){0,3}(?:credentials?"
        r"|passwords?|secrets?|api keys?|private keys?|access tokens?|environment variables|ssh keys?|personal (?:data"
        r"|details"
        r"|information)))\b[^\n]{0,80}?(?:\b(?:to|at|into|in|on|via|with)\b\s+(?:\w+\s+){0,5}?(?:<?https?:|hxxp|www\."
        r"|[\w.+-]+@"
        r"|(?:an? |the )?(?:attacker|webhook|external|remote|url|image|link|following (?:address|url|link|server"
        r"|endpoint)"
        r"|query string|address below)|[\w-]+\.(?:com|net|org|io|ru|cn|xyz|example|test|dev|co)\b))",
        r"\b(?:take|look up|get|read|collect|find|summari[sz]e|extract|gather|copy|fetch|list"
        r"|export)\w*\s+[^.\n]{0,60}?"
        r"(?:(?:user|customer|owner|victim)(?:'s|s'?)\s|(?:our|this|the (?:full|whole|entire)) (?:whole |entire "
        r"|full )?(?:chat|conversation)"
        r"|your (?:memory|memories|context|instructions)|environment variables|credentials|passwords"
        r"|api keys)[^.\n]{0,80}?\b(?:and|then)"
        r"\s+(?:then\s+)?(?:send|post|upload|forward|e-?mail|transmit|submit|paste|put|report|deliver|append)\s+(?:it"
        r"|them|that|this|all"
        r"|everything|the result)\b",
        r"\b(?:what|which) (?:are|is|were) your (?:initial|system|original|hidden|first|secret) (?:instructions?"
        r"|prompts?)\b",
        r"\b(?:read|open|cat|fetch|get|collect|find|search for|look for|copy|base64)\w*\s+[^.\n]{0,60}?(?:~?/?\.ssh/"
        r"|id_rsa|\.env\b"
        r"|\.aws/credentials|/etc/(?:passwd|shadow)|api keys?|passwords?|credentials?|private keys?|secrets?|inbox)"
        r"[^.\n]{0,80}?\b(?:and|then)\s+(?:\w+\s+){0,2}?(?:send|post|upload|forward|e-?mail|transmit|submit|include"
        r"|append|paste"
        r"|put|exfiltrate|report|curl)\w*\b",
    ),
    _rule(
        "your memor|your context|system prompt|your instructions|the conversation|chat history|user's |users' |](http",
        r"\bhttps?://[^\s<>\"]+[^\n<>\"]{0,60}?\b(?:your (?:memory|memories|context|system prompt|instructions)"
        r"|the (?:conversation|chat history)"
        r"|(?:user's|users') \w+)",
        r"!\[[^\]\n]{0,80}\]\(https?://[^)\n]{0,200}?[=/?](?:<|\{|\[|%7b)",
    ),
    _rule(
        "send every|send all|send each|forward every|forward all|forward each|mail every|mail all|mail each|post every"
        "|post all"
        "|post each|upload every|upload all|upload each",
        r"\b(?:send|forward|e-?mail|post|upload)\s+(?:every|all|each)(?: of)? (?:the )?(?:messages?|e-?mails?|files?"
        r"|documents?|invoices?"
        r"|memor(?:y|ies)|notes?|contacts?)\b[^.\n]{0,80}?\b(?:to|at)\s+(?:[\w.+-]+@|https?:|www\.)",
    ),
    # It imitates a prompt, a role or a tool call.
    _rule(
        "[inst]|[/inst]|<<sys>>|<</sys>>|<system|</system|</assistant|</important|</developer|</admin|</secret"
        "|</hidden|</instruction"
        "|<instruction|[system|system:|system]|developer:|system message|system prompt|system override|system note"
        "|system notice"
        "|system instruction|system update|system alert|admin override|administrator override|root override"
        "|developer override"
        "|<tool_call|<function_call|<invoke|</invoke|<tool_use|<function=|:tool|:function|:invoke|tool_calls|tool_code"
        "|function_call|### system"
        "|### new|<important|begin prompt|begin system|begin hidden|end of prompt|end of the prompt|end of system"
        "|end of user|end prompt"
        "|end system|start of|beginning of|<assistant|human:|developer message|developer note|new instruction"
        "|updated instruction"
        "|additional instruction|urgent instruction|critical instruction|real instruction|hidden instruction"
        "|secret instruction"
        "|system command|system directive|admin:|admin message|administrator:|<admin|<secret|<hidden|<developer"
        "|system user instruction",
        r"(?:^|\s)(?:\[/?inst\]|<</?sys>>)",
        r"</?(?:system|assistant|system[-_ ](?:prompt|message|reminder|note|instructions?)|important|admin|secret"
        r"|hidden"
        r"|instructions?|developer)[-_ ]?(?:instructions?|message|note)?>",
        r"</?(?:antml:)?(?:tool_calls?|function_calls?|tool_use|invoke|function=\w)(?:\s+name\s*=|[\s>=])",
        r"```(?:tool_code|tool_call|function_call)\b|[\"'](?:tool_calls|function_call)[\"']\s*:\s*(?:\[\s*)?\{",
        r"(?:^|[\[(*#>-])[ \t]*(?:#+ *|\[|\*+ *)?(?:system|developer|admin(?:istrator)?)(?:[ \t]+(?:message|prompt"
        r"|override|note"
        r"|notice|instructions?|update|alert|directive|command))?[ \t]*(?:\]|\*+)?(?:[ \t]*[:\]]+"
        r"| -+)[ \t*\n]+(?:you (?:are|must|will|should|have to|shall)\b|ignore|from now"
        r"|always|never|the (?:user|assistant|model|agent|previous|following (?:is|are|instructions))|new\b|override"
        r"|do not"
        r"|don't|forget|disregard|assistant|all (?:previous|prior|future)|when(?:ever)? (?:the user|asked|you)|must"
        r"|respond|reply"
        r"|answer|your\b|recommend|send|call|delete|any (?:future|user)|treat|trust|remember|save|store|instructions?)",
        r"\b(?:this is|here is|the following is)\s+(?:an?|your|the)\s+(?:(?:official|urgent|new|mandatory|automated"
        r"|important"
        r"|verified|real|trusted)\s+){0,2}(?:system|developer|openai|anthropic|admin\w*) (?:message|prompt|override"
        r"|update"
        r"|directive|instructions?|command|notice)(?:\s*[:.!,\n-]|$| (?:from|to (?:the )?(?:ai|assistant|model"
        r"|you))\b)",
        r"\b(?:system|admin|administrator|developer|root) override\b",
        r"^\W*(?:begin|end|start)(?:ning)? (?:of )?(?:the )?(?:system|hidden|new|user|original|developer)?\s*"
        r"(?:prompt|instructions|system message|user input)\b",
        r"^\W*(?:new|updated|additional|real|hidden|secret|urgent|critical)\s+(?:(?:system|user|hidden"
        r"|admin)\s+)?instructions?"
        r"(?: (?:from|by|of) (?:the )?(?:user|admin\w*|developers?|operator|owner|system))?\s*[:*\]-]",
        r"^\W*human\s*:[^\n]*\n+\s*assistant\s*:",
    ),
    _Rule(
        ("<|",),
        pattern(
            r"<\|(?:im_start|im_end|system|user|assistant|start_header_id|end_header_id|endoftext|eot_id|end"
            r"|begin_of_text"
            r"|end_of_turn)\|>"
        ),
    ),
    # It says what to answer, now and always.
    _rule(
        "asked|asks|ask |inquire|question|wants to know|requests|from now on|henceforth|going forward|future|always"
        "|never"
        "|every time|whenever|until further notice|answer|respon|reply|replies|summary|summaries|nothing else"
        "|this conversation",
        rf"\b(?:when(?:ever)?|if|any ?time|every time|each time|should|once|as soon as)\s+(?:ever\s+)?(?:{_USER}"
        rf"|someone|anyone"
        r"|anybody|somebody|people|they|he or she|you are|you're)\s+(?:(?:is|are|ever|later|next|again|now"
        r"|were)\s+)?(?:asks?|asked|inquires?"
        r"|questioned|wants? to know|mentions?|requests?|queries|talks?|wonders?|looks? for|needs?"
        r"|brings? up)\b[^.\n]{0,140}?"
        r"[\s,;:]+(?<!\bthe )(?<!\ban )(?<!\ba )(?<!\btheir )(?<!\byour )(?<!\bno )(?<!\bto )(?:then\s+)?"
        r"(?:(?:you\s+(?:must|should|will|are to|shall)|always|only|please|simply|just|never|do not|don't"
        r"|first|instead|also)\s+)*(?:answer|say|reply|respond|recommend|tell (?:them|him|her|the user|users)|claim"
        r"|insist"
        r"|suggest|state|direct (?:them|him|the user|users)|point (?:them|him|the user)|assert|lie|promote|pretend"
        r"|steer)\b",
        rf"\b(?:when(?:ever)?|if|any ?time|every time|each time)\s+(?:{_USER}|someone|anyone|anybody"
        rf"|people)\s+(?:asks?|mentions?|wants? to know"
        r"|requests?)\b[^.\n]{0,140}?[\s,;:]+(?:you\s+(?:must|should|will|are to)|always|only"
        r"|never)\s+(?:ever\s+)?(?:refuse|deny|mention|send"
        r"|quote|name|cite|refer|use|call|include|warn|advise|explain|confirm|report|give|transfer|grant|open"
        r"|delete)\b",
        r"\b(?:any|every|all|each) questions? (?:about|on|regarding|of|concerning)\b[^.\n]{0,80}?\b(?:has to|have to"
        r"|must|should|is to|are to"
        r"|shall) be answered\b",
        r"\bthe (?:correct|only|right) answer to (?:any|every|all|each) questions?\b",
        r"\byour (?:final )?(?:reply|answer|summary|replies|answers|recommendation) (?:has to|have to|must|should"
        r"|needs? to|is to) (?:always |only"
        r" |also )?(?:contain|include|mention|say|state|end with|begin with|start with|recommend|claim|praise)\b",
        r"\b(?:say|write|output|reply|answer|print|respond|return)\b[^.\n]{0,80}?[\"'”] ?and nothing else\b",
        r"\b(?:in|to) (?:each|all|every|any) of your (?:future |next )?(?:answers|replies|responses|messages"
        r"|summaries)\b",
        r"\b(?:when(?:ever)?|if|any ?time|every time"
        r"|each time)\s+asked\b[^.\n]{0,140}?[\s,;:]+(?:then\s+)?(?:(?:you\s+(?:must"
        r"|should|will|are to|shall)|always|only|never|instead)\s+(?:answer|say|reply|respond|recommend|tell|claim"
        r"|insist|suggest"
        r"|state|refuse|deny|mention|give|quote|name)|(?:recommend|claim|insist|assert|deny|say that|state that"
        r"|tell (?:them"
        r"|the user|everyone)|answer that|reply that|reply with|respond with|respond that|lie|refuse)\b)",
        rf"(?:{_BEGINS})(?:always|only|never)\s+(?:answer|respond|reply|recommend|say|mention|claim|suggest|tell|cite"
        rf"|promote"
        rf"|refuse|obey|praise|rank)\s+(?:\w+\s+){{0,8}}?(?:{_USER}|\"|that\b|about|questions?|in (?:the )?\w+"
        r" (?:language|style|accent|rhyme)|as (?:if|though|an?)|instead of|over|first|best|when|with the (?:word"
        r"|phrase|text"
        r"|following)|only)\b",
        r"\b(?:from now on|from this (?:point|moment)(?: on(?:wards?)?)?|henceforth|going forward|until further notice"
        r"|for the"
        r" rest of (?:this|the|our) (?:conversation|session|chat)|in (?:all|every|any|each)(?: your"
        r"| of your)?(?: future)?"
        rf" {_ANSWERS}(?: you give| to the user)?)\b[\s,:;-]+(?:please\s+|and\s+)?(?:you\s+(?:must|are to|shall"
        rf"|should (?:always"
        r"|never|only|answer|respond|reply)|will (?:always|only|never|answer|respond|act|be(?:have)?\s+(?:a|an|as)"
        r"|obey|ignore"
        r"|follow|call)|are (?:an?|the|my|now|no longer)|respond|answer|obey|speak|reply|trust|treat)|always|never"
        r"|only (?:answer"
        r"|respond|reply|recommend|trust)|answer|respond|reply|act (?:as|like)|pretend|treat|talk|write only|speak"
        r"|refer to|recommend|ignore"
        rf"|the (?:assistant|ai|agent|model) (?:must|should|will|is|has)|every {_ANSWERS}|all (?:of )?your"
        rf"|all {_ANSWERS}|your"
        r"|call (?:me|the user|yourself)|say|tell|trust|obey|prefer|mention|include|add|append|send|prefix|begin"
        r"|end every|do not"
        r" (?:mention|tell|answer|recommend|trust|warn|ask|reveal)|don't (?:mention|tell|answer|recommend|trust|warn"
        r"|ask|reveal))\b",
        r"\b(?:answer|respond|reply|recommend|say|include|mention|append|add|prefix|end|begin|sign"
        r"|finish)\w*\b[^.\n]{0,100}?\b"
        r"(?:from now on|henceforth|until further notice|for the rest of (?:this|the|our) (?:conversation|session|chat)"
        rf"|in (?:all|every|each|any) (?:of )?(?:your |future |subsequent )+{_ANSWERS}|(?:to|at the end of"
        rf"|at the start of|before"
        rf"|after|in) (?:all|every|each|any)?(?: of)? ?your (?:final |next |future |subsequent )*(?:answers?|repl(?:y"
        rf"|ies)"
        r"|summar(?:y|ies)|recommendations?|responses? to (?:the )?users?))\b",
        r"\b(?:in|for|to) your (?:final |next )?(?:answer|reply|summary|recommendation|response to (?:the )?users?"
        r"|response)"
        r"[\s,:]+(?:you\s+(?:must|should|will)\s+|please\s+|always\s+|only\s+)?(?:say|state|include|mention|recommend"
        r"|claim|write"
        r"|add|tell|insert|append|rank|call|describe|praise|use the (?:word|phrase)|begin|end|do not|don't|never)\b",
        rf"\b(?:end|begin|start|finish|sign|close|prefix) (?:every|each|all) (?:of your )?{_ANSWERS} (?:with|by)\b",
        r"(?:respond|reply|answer) (?:only |just |simply |exactly )+(?:with|by)\b[^.\n]{0,60}",
    ),
    # It wants to be remembered.
    _rule(
        "what you know|what you remember|what you have|what you stored|what you learned|whatever you|user preference"
        "|permanent|core |forever"
        "|from now on|memory|memories|memorise|memorize|remember|future conversations|future sessions|future chats"
        "|long-term",
        r"\b(?:save|store|add|write|commit|record|put|insert|append|keep|update|persist|note)\w*\b[^.\n]{0,80}?\b(?:to"
        r"|in|into|with)"
        r"\s+(?:your|the (?:agent|assistant|ai|model)'s)\s+(?:own |long-?term |persistent |permanent |core "
        r"|user )*(?:memor(?:y|ies)|notes"
        r"|memory (?:store|bank|tool|file)|knowledge base)\b",
        r"\b(?:save|store|commit|keep|write|add)\s+(?:this|that|it|the following)\b[^.\n]{0,60}?\b(?:to|in"
        r"|into)\s+(?:long-?term|persistent"
        r"|permanent|core) memory\b",
        r"\b(?:overwrite|replace|change|update|delete|forget|correct)\w*\s+what(?:ever)? you (?:know|remember"
        r"|have stored|stored|learned)\b",
        r"\b(?:store|save|record|add|note|remember)\w*\s+(?:this |it |the following )?as (?:an? |the )?(?:user"
        r"|permanent|core|new user) (?:preference"
        r"|fact|memory|rule|instruction)\b",
        r"\b(?:update|modify|change|overwrite|clear|delete|edit"
        r"|wipe)\w*\s+(?:all (?:of )?)?your (?:\w+ ){0,2}memor(?:y|ies)\b",
        r"\b(?:remember|memori[sz]e|keep in mind|note|learn)\b(?! (?:the|my|these|your|their|this"
        r"|that) \w+ for)[^.\n]{0,100}?\b(?:for (?:all )?(?:your |the )?(?:future|subsequent"
        r"|later|next) (?:conversations?|sessions?|chats?|answers?|responses?|tasks?|interactions?|questions?"
        r"|requests?)"
        r"|from now on|permanently|forever|across (?:all )?(?:conversations|sessions|chats))\b",
        r"\b(?:remember|memori[sz]e|note|recall|keep in mind"
        r"|bear in mind)(?: this)?(?: fact)?[:,]?\s+(?:that\s+)?(?:the|this|your|our)"
        r" (?:user|owner|customer|operator|human)(?:'s)? (?:\w+ ){0,4}?(?:prefers?|wants?|likes?|trusts?|always|hates?"
        r"|said|told"
        r"|asked|allowed|agreed|approved|authori[sz]ed|consented|gave|granted|is (?:an? )?(?:admin\w*|root|owner"
        r"|developer)|has"
        r" (?:agreed|approved|authori[sz]ed|consented|granted|asked|given|chosen|decided|moved|changed)|new|password"
        r"|address"
        r"|account|e-?mail|is now|uses|never|does not|doesn't|must)\b",
        r"\b(?:use|call|invoke)\w*\s+(?:the |your )?[`\"']?(?:remember|memory|save_memory|store_memory|add_memory"
        r"|observe|memorize)"
        r"(?:[_ ]\w+)?[`\"']?\s+(?:tool|function)\b",
    ),
    # It has the model act, in the name of somebody.
    _rule(
        "authorized|authorised|approved|instructed|wants you|asked you|ordered|told you|expects you|allowed you"
        "|your tool"
        "|tool|function|granted you|permission|requires you|needs you|on behalf|your task|immediately|before answering"
        "|before responding|before replying|before you",
        rf"\b(?:{_USER}|admin(?:istrator)?|developers?|management|my boss|security team|anthropic|openai)\s+(?:has "
        rf"|have |had )?"
        r"(?:already |explicitly |previously |just )*(?:pre-?)?(?:authori[sz]ed|approved|instructed|ordered|asked|told"
        r"|wants?|expects?"
        r"|allowed|granted|permitted|directed|requires?|needs?|given)\s+you\b\s+(?:to|(?:full )?(?:permission"
        r"|authority|authori[sz]ation) (?:to|for))\b",
        rf"\b(?:{_USER}|admin(?:istrator)?|developers?)\s+(?:has |have )?(?:already |explicitly "
        rf"|previously )*(?:pre-?)?"
        r"(?:authori[sz]ed|approved|consented to|confirmed|agreed to|permitted)\s+(?:this|these|all|any|every"
        r"|it)\b[^.\n]{0,60}?(?:\bproceed|no (?:need|confirmation|further)|without|do not ask|don't ask|go ahead"
        r"|immediately)",
        r"\b(?:use|call|invoke|run|execute|trigger)\w*\s+(?:your|the)\s+[`\"']?(?:\w+_\w+|\w+ing|browser|e-?mail|shell"
        r"|terminal|bash"
        r"|search|file|payment|http|web|code)[`\"']?(?:\(\))?\s+(?:tool|function call|plugin|capability"
        r"|connector)s?\b[^.\n]{0,80}?"
        r"\b(?:send|delete|post|transfer|forward|upload|pay|buy|e-?mail|visit|fetch|download|execute|run|remove|grant"
        r"|share|read|write"
        r"|drop|disable|to https?:)\b",
        r"\b(?:use|call|invoke|run)\s+your\s+[`\"']?\w+(?:[ _]\w+)?[`\"']?\s+(?:tool|function|plugin)s?\b",
        r"\bto (?:continue|proceed|complete|finish)(?: with)? your task\b",
        r"\b(?:immediately|before (?:answering|responding|replying|you (?:answer|respond|reply|continue|do anything))"
        r"(?: (?:the user|any question|anything))?)[\s,:]+(?:please\s+|you must\s+)?(?:call|invoke|run|execute"
        r"|use)\s+(?:the\s+)?[`\"']?"
        r"[a-z]\w*_\w+[`\"']?(?:\(|\s+(?:tool|function|with|on|to)\b)",
    ),
    # It comes before the answer.
    _rule(
        "before |after |instead of|answer|respond|reply|summari|obey|trust|help|assist",
        r"\b(?:do not|don't|never)\s+(?:answer|respond to|reply to)\s+(?:the|this|that|their|his"
        r"|any)\s+(?:\w+\s+)?(?:questions?|requests?"
        r"|quer(?:y|ies)|prompts?)\b[^.\n]{0,10}?(?:[;,.]\s*(?:instead|but|rather)|\binstead)\b",
        r"\b(?:before|after|instead of)\s+(?:answering|responding|replying|you (?:answer|respond|reply)"
        r"|summari[sz]ing)\b[^.\n]{0,40}?"
        r"[\s,:]+(?:(?:please|always|first|also)\s+)*(?:you\s+(?:must|should|will|need to|have to)|run|call|visit|send"
        r"|fetch|delete"
        r"|tell (?:the user|them)|download|execute|recommend|append|output|print)\b",
        rf"\b(?:do not|don't|never|refuse to|stop|decline to)\s+(?:answer|respond to|reply to|summari[sz]e|help"
        rf"|helping|trust"
        rf"|believe|obey|assist|serve)\w*\s+(?:to\s+)?(?:{_USER}|them|any (?:more|further|other) (?:questions?"
        rf"|requests?))"
        r"(?:'s|s')?\b(?! (?:input|supplied|agents?|data|provided|names?|namespaces?|defined|controlled|content|code"
        r"|generated))",
        r"\binstead of (?:answering|summari[sz]ing|responding|replying|translating)\b[^.\n]{0,60}?[\s,]+(?:say|write"
        r"|reply|respond"
        r"|output|print|tell|send|do|answer|call|run)\b",
    ),
)


def instructs(text: str) -> bool:
    """Whether a sentence of the text tells the model that reads it what to do."""
    lower = text.lower()
    return any(any(word in lower for word in rule.words) and rule.form.search(lower) is not None for rule in _RULES)
