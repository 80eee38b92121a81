"""AAAK: abbreviates texts by a dictionary of words and phrases; the result stays readable.

Each phrase has one code and each code one phrase. Other text stays unchanged, except that runs of blanks become one.
`docs/aaak.md` explains the codes to readers.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final


def _codes(table: str) -> Mapping[str, str]:
    return MappingProxyType(dict(pair.rsplit("=", 1) for pair in table.split(", ")))


CONNECTIVES: Final = _codes(
    "and=+, or=/, to=→, from=←, because=∵, therefore=∴, with=w/, without=w/o, instead of=!>, at least=≥, "
    "at most=≤, more than=>, less than=<, approximately=≈, for example=e.g., and so on=etc."
)
"""Matched only between blanks, so that two words are never joined."""

ABBREVIATIONS: Final = _codes(
    "user prefers=U.pref, user wants=U.want, user likes=U.like, user dislikes=U.dislike, user=U., "
    "Monday=Mon, Tuesday=Tue, Wednesday=Wed, Thursday=Thu, Friday=Fri, Saturday=Sat, Sunday=Sun, "
    "January=Jan, February=Feb, April=Apr, August=Aug, September=Sep, October=Oct, November=Nov, "
    "December=Dec, administrator=admin, application=app, authentication=authn, authorization=authz, "
    "automation=autom, configuration=config, continuous integration=CI, database=DB, databases=DBs, "
    "deployment=depl, development=devel, directory=dir, documentation=docs, environment=env, "
    "implementation=impl, information=info, infrastructure=infra, maximum=max, message=msg, messages=msgs, "
    "minimum=min, parameter=param, parameters=params, performance=perf, production=prod, pull request=PR, "
    "real-time=RT, repository=repo, requirement=req, requirements=reqs, response=resp, specification=spec, "
    "temporary=temp, PREFERENCE=PREF, INSTRUCTION=INST, PROJECT=PROJ, LOCATION=LOC, FAMILY=FAM, "
    "OCCUPATION=OCC, DECISION=DEC, EVENT=EVT, OPINION=OPN"
)
"""Matched as whole words, also before a comma, full stop or colon."""

DICTIONARY: Final[Mapping[str, str]] = MappingProxyType({**CONNECTIVES, **ABBREVIATIONS})


def compress(text: str) -> str:
    """Replace each phrase of the dictionary by its code, longest phrases first. Idempotent.

    >>> compress("Deploys to production fail because the database is full")
    'Deploys → prod fail ∵ the DB is full'
    """
    return _SHORTER.sub(lambda found: DICTIONARY[found.group()], " ".join(text.split()))


def expand(text: str) -> str:
    """Replace each code by its phrase. The inverse of `compress`, except for blanks, if the input of `compress` has no
    code.

    >>> expand("Deploys → prod fail ∵ the DB is full")
    'Deploys to production fail because the database is full'
    """
    return _LONGER.sub(lambda found: _PHRASES[found.group()], text)


_PHRASES: Final = {code: phrase for phrase, code in DICTIONARY.items()}


def _pattern(connectives: list[str], abbreviations: list[str]) -> re.Pattern[str]:
    """A pattern of the given texts: connectives between blanks; abbreviations between blanks or brackets, or before
    punctuation.

    Parts of compounds such as paths and URLs do not match.
    """

    def among(several: list[str]) -> str:
        return "|".join(re.escape(one) for one in sorted(several, key=lambda one: (-len(one), one)))

    return re.compile(
        rf"(?<!\S)(?:{among(connectives)})(?!\S)|(?<![^\s(\[])(?:{among(abbreviations)})(?=[,;:!?)\]]*(?:\s|$)|\.?(?:\s|$))"
    )


_SHORTER: Final = _pattern(list(CONNECTIVES), list(ABBREVIATIONS))
_LONGER: Final = _pattern(list(CONNECTIVES.values()), list(ABBREVIATIONS.values()))
