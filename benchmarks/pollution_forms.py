"""Questions within long pasted prompts: system prompts, logs, code, documents and transcripts, before or after them."""

from __future__ import annotations

import json
from typing import Final

from remembrancer.domain.recalled import UNTRUSTED

_PERSONA: Final = (
    "You are Atlas, the assistant of a small team. Be friendly and precise. Never invent facts. If you are not sure,"
    " say that you do not know. Prefer short answers, and use lists where they help. Do not reveal internal notes."
    " Speak the language of the user. When a tool fails, explain what happened and propose the next step. Dates are"
    " written as day, month and year. Amounts are in euros unless the user says otherwise. You have access to a"
    " calendar, a mail box, a file store and a long-term memory. Use the memory when the user refers to something that"
    " was said before. Do you need to confirm an action? Ask once, then act. What if two sources disagree? Name both."
    " Keep the tone calm, also if the user is upset. Avoid jargon, and explain abbreviations when they first appear."
)
_LOG: Final = "\n".join(
    f"2026-03-{1 + place % 28:02d} 10:{place % 60:02d}:07,{place:03d} {level} worker-{place % 7} request {place * 37}"
    f" finished in {place * 13 % 900} ms, retries={place % 3}, user=u{place % 17}"
    for place, level in enumerate(("INFO", "DEBUG", "WARN", "ERROR") * 13)
)
_CODE: Final = "\n".join(
    f"def step_{place}(value: int) -> int:\n    # why does this work?\n    return value * {place} + {place % 5}\n"
    for place in range(40)
)
_DOCUMENT: Final = (
    "The harbour was built in 1871 and extended twice. Who would have thought that it would serve ferries again? The"
    " northern pier carries two cranes, and the southern one a small light. In winter the ferries run twice a day, in"
    " summer every hour. Tickets are sold at the kiosk. How long does the crossing take? About forty minutes, if the"
    " wind allows it. Bicycles travel free of charge.\n\nThe museum next to the harbour shows ship models, maps and a"
    " diving suit. It is closed on Mondays. Guided tours begin at eleven. Children get a quiz, and the answers are on"
    " the last page of the leaflet. Visitors may also see the old engine of the first ferry, which still runs."
)
_MAIL: Final = (
    "From: Tom Berger\nTo: Office\nSubject: Shelves\n\nHello all,\n\nthe shelves for the store room arrive on Thursday."
    " Can somebody be there before nine? The driver will not wait. I also need the measures of the back wall; who has"
    " them? Please send them today.\n\nThe old shelves can go to the school. Would Friday be fine for that? They need"
    " two people to carry them, and a van. I asked my brother, and he can lend us his.\n\nBest regards\nTom\n\n> On"
    " Monday Eva wrote:\n> Have we paid the deposit? I could not find the receipt.\n> It should be in the red folder,\n"
    "> but that folder is empty now."
)
_TRACE: Final = (
    "Traceback (most recent call last):\n"
    + "\n".join(
        f'  File "/srv/app/module_{place}.py", line {place * 11 + 3}, in handle_{place}\n'
        f"    return next_{place}(request)"
        for place in range(30)
    )
    + "\nRuntimeError: connection reset by peer (attempt 5 of 5, last error: timeout)"
)
_TABLE: Final = "\n".join(
    [
        "date,product,region,units,price",
        *(f"2026-02-{1 + n % 28:02d},item {n},north-{n % 4},{n * 7 % 90},{n}.50" for n in range(60)),
    ]
)
_MINUTES: Final = (
    "Minutes of the weekly meeting. Present: Ida, Omar, Lena. Ida reported on the new supplier. Omar asked whether the"
    " contract covers spare parts. Does it? Lena will check by Wednesday. The printer on the second floor is out of"
    " order again; nobody knows why. Should we lease one? Ida gets two offers. The summer party is on 4 July. Who"
    " books the band? Omar does, if the budget allows it. The heating was serviced. The next meeting is on Tuesday at"
    " ten in the small room, because the large one gets a new floor. Lena takes the minutes then. Any other business:"
    " the coffee machine needs a filter, and the bicycle stand a second lock."
)
_DIFF: Final = "\n".join(
    f"@@ -{place * 9},4 +{place * 9},5 @@\n context line {place}\n-    old_value = compute({place})\n+    new_value ="
    f" compute({place}, strict=True)\n+    check(new_value)"
    for place in range(30)
)
_RULES: Final = "\n".join(
    f"- {rule}"
    for rule in (
        "Answer in at most three sentences.",
        "Do not use emojis.",
        "Write numbers below ten as words.",
        "If there are several answers, list them all.",
        "Never apologise.",
        "Mention the source of each fact.",
        "Avoid passive sentences.",
        "Do not repeat the question.",
        "Use British spelling.",
        "Leave out greetings and closing words.",
        "If the answer is unknown, say so.",
        "Keep each line shorter than eighty characters.",
        "Do not translate names.",
        "Round amounts to whole euros.",
        "Put the most important thing first.",
    )
    * 2
)
_BLOCK: Final = (
    f"<recalled-memory>\n{UNTRUSTED}\n"
    + "".join(
        f"- [Ana, Wednesday {4 + place} March 2026, {place + 2} days ago] The boiler in flat {place} was repaired, and"
        " the tenant asked for a receipt. Did we send it?\n"
        for place in range(12)
    )
    + "</recalled-memory>"
)
_SCHEMA: Final = json.dumps(
    [
        {
            "name": f"tool_{place}",
            "description": "Looks something up. When should it be called? If the user asks for current data.",
            "parameters": {"type": "object", "properties": {"query": {"type": "string"}, "limit": {"type": "integer"}}},
        }
        for place in range(12)
    ],
    indent=2,
)
_SHOTS: Final = "\n\n".join(
    f"Q: {question}\nA: {answer}"
    for question, answer in (
        ("What is the capital of Norway?", "Oslo."),
        ("How many legs does a spider have?", "Eight."),
        ("Who wrote Faust?", "Goethe."),
        ("When did the first human walk on the moon?", "In July 1969, as a member of the crew of Apollo 11."),
        ("Which metal is liquid at room temperature?", "Mercury. Gallium melts only a little above it."),
    )
)
_QUOTED: Final = "\\n".join(_PERSONA.split(". "))

TUNED: Final = {
    "system prompt, then the question": f"{_PERSONA}\n\n{{q}}",
    "system prompt, then a label": f"{_PERSONA}\n{_RULES}\n\nUser question: {{q}}",
    "question, then a log": f"{{q}}\n\n{_LOG}",
    "log, then the question": f"{_LOG}\n\n{{q}}",
    "question, then code": f"{{q}}\n```python\n{_CODE}\n```",
    "code, then the question": f"```python\n{_CODE}\n```\n{{q}}",
    "document, label, question, label": f"Context:\n{_DOCUMENT}\n\nQuestion: {{q}}\nAnswer:",
    "tags": f"<instructions>{_PERSONA}</instructions>\n<question>{{q}}</question>\n<rules>{_RULES}</rules>",
    "question, then an e-mail": f"{{q}}\n\n{_MAIL}",
    "recalled block, then the question": f"{_BLOCK}\n\n{{q}}",
    "messages as JSON": f'[{{"role": "system", "content": "{_QUOTED}"}}, {{"role": "user", "content": "{{q}}"}}]',
    "question between headings": f"### Role\n{_PERSONA}\n\n### Question\n{{q}}\n\n### Rules\n{_RULES}",
}
"""Forms that the reader was made with. `{q}`: the question."""
HELD_OUT: Final = {
    "prompt with headings, then a task": f"# Identity\n{_PERSONA}\n\n# Style\n{_RULES}\n\n# Task\n{{q}}",
    "chat template": (
        f"<|im_start|>system\n{_PERSONA}<|im_end|>\n<|im_start|>user\n{{q}}<|im_end|>\n<|im_start|>assistant\n"
    ),
    "question, then a traceback": f"{{q}}\n\n{_TRACE}",
    "table, then the question": f"{_TABLE}\n\n{{q}}",
    "question, then minutes": f"{{q}}\n\n{_MINUTES}",
    "examples, then the question": f"Answer like this.\n\n{_SHOTS}\n\nQ: {{q}}\nA:",
    "instruction template": f"[INST] <<SYS>>\n{_PERSONA}\n<</SYS>>\n\n{{q}} [/INST]",
    "question, then tool schemas": f"{{q}}\n\nTools:\n{_SCHEMA}",
    "document, then an own question": f"{_DOCUMENT}\n\n{_MINUTES}\n\nNow my own question: {{q}}",
    "question, then a diff": f"{{q}}\n\n{_DIFF}",
    "transcript": f"{_PERSONA}\n\nHuman: {{q}}\n\nAssistant:",
    "question, then rules": f"{{q}}\n\nRules:\n{_RULES}",
}
"""Forms written with the others, that no rule of the reader was fitted to."""


def polluted(question: str, form: str) -> str:
    """The question within a form."""
    return form.replace("{q}", question.strip())
