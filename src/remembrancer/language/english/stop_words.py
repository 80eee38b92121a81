"""English stop words, which are dropped from ranking in texts and questions.

Other languages in Latin script rely on idf, other scripts on `function_words`. Contractions are spelled as
`lexical.fold` returns them ("don't").
"""

from typing import Final

STOP_WORDS: Final = frozenset(
    """
    a about above after again against all am an and any are aren't as at be because been before being below
    between both but by can can't cannot could couldn't did didn't do does doesn't doing don't down during each
    few for from further had hadn't has hasn't have haven't having he he'd he'll her here hers herself him
    himself his how i i'd i'll i'm i've if in into is isn't it it'd it'll its itself just let me more most
    mustn't my myself no nor not now of off on once only or other ought our ours ourselves out over own same
    shall shan't she she'd she'll should shouldn't so some such than that that'd that'll the their theirs them
    themselves then there these they they'd they'll they're they've this those through to too under until up
    upon us very was wasn't we we'd we'll we're we've were weren't what when where which while who whom whose
    why will with won't would wouldn't you you'd you'll you're you've your yours yourself yourselves s t d ll m
    re ve
    """.split()
)
