"""The sentences of the simulated fortnight: patterns of our own with placeholders, for people, assistants and tools.

A sentence is a pattern filled from a topic, after an optional opening. Topics recur on other days with another number,
part or name, as in conversations at work.
"""

from __future__ import annotations

import random
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final


class Act(StrEnum):
    """The function of a sentence."""

    ASK = "ask"
    ANSWER = "answer"
    REPORT = "report"
    PLAN = "plan"
    DO = "do"
    OUTPUT = "output"
    ERROR = "error"
    FIXED = "fixed"
    DECIDE = "decide"
    PREFER = "prefer"
    RULE = "rule"
    CHAT = "chat"
    HAND_OVER = "hand over"


@dataclass(frozen=True, slots=True)
class Topic:
    """A recurring subject. `name` occurs in most sentences about it."""

    name: str
    parts: tuple[str, ...]
    troubles: tuple[str, ...]
    remedies: tuple[str, ...]
    choices: tuple[str, ...]


def _topic(name: str, parts: str, troubles: str, remedies: str, choices: str) -> Topic:
    several = [tuple(one.strip() for one in each.split(";")) for each in (parts, troubles, remedies, choices)]
    return Topic(name, *several)


TOPICS: Final[Mapping[str, tuple[Topic, ...]]] = {
    "platform": (
        _topic(
            "payment queue",
            "retry worker; dead letters; consumer group",
            "runs out of memory; keeps two copies of a message; stalls behind one slow message",
            "halve the batch size; give each message a deadline; move large bodies to the object store",
            "small batches; one consumer a shard; idempotent handlers",
        ),
        _topic(
            "nightly backup",
            "snapshot step; upload to cold storage; restore drill",
            "takes longer than the night; leaves a lock behind; copies yesterday's snapshot",
            "take increments on weekdays; drop the lock in a finaliser; compare checksums before the upload",
            "increments; weekly full copies; restoring into a scratch host",
        ),
        _topic(
            "certificate renewal",
            "challenge record; reload hook; expiry alarm",
            "fails on the wildcard name; renews and forgets to reload; warns a day too late",
            "move to the other challenge; reload after each renewal; alarm three weeks ahead",
            "short lived certificates; one issuer; renewing on Tuesdays",
        ),
        _topic(
            "log pipeline",
            "parser; sampling rule; hot index",
            "drops lines with emoji; bills twice the forecast; shows stack traces torn apart",
            "read bytes before characters; sample the health checks; join lines by their indent",
            "structured lines; sampling at the source; thirty days of hot data",
        ),
        _topic(
            "build cache",
            "lock file key; remote store; cold start",
            "misses after each rebase; serves artefacts of another branch; fills the disk by noon",
            "key by content and not by time; add the branch to the key; evict by last use",
            "content keys; a local tier; small images",
        ),
        _topic(
            "database migration",
            "backfill job; foreign keys; rollback plan",
            "locks the orders table; leaves half of the rows behind; cannot be undone",
            "backfill in slices; verify counts before the switch; keep the old column for a week",
            "expand and contract; dry runs on a copy; slices of a thousand rows",
        ),
        _topic(
            "rate limiter",
            "token bucket; client header; burst setting",
            "blocks our own probes; forgets its counts on deploy; lets bursts through at midnight",
            "exempt the probes by key; keep the counts outside the process; smooth the window",
            "sliding windows; limits by client; telling clients when to come back",
        ),
        _topic(
            "staging cluster",
            "ingress; seed data; node pool",
            "answers with last month's data; evicts the mail relay; needs a restart every Friday",
            "seed it each morning; reserve memory for the relay; drain one node at a time",
            "ephemeral environments; anonymised seeds; two small nodes",
        ),
    ),
    "shop": (
        _topic(
            "product photos",
            "cropping step; alt texts; colour profile",
            "look green on phones; lose the left edge; take four seconds to appear",
            "convert the profile on upload; crop around the subject; serve a smaller size first",
            "plain backgrounds; one angle for all shoes; alt texts written by hand",
        ),
        _topic(
            "returns policy",
            "prepaid label; refund delay; damaged goods form",
            "contradicts the footer; puzzles customers abroad; promises a label we do not send",
            "say it once and link there; name the countries; drop the sentence about labels",
            "thirty days; refunds on arrival; short sentences",
        ),
        _topic(
            "spring newsletter",
            "subject line; unsubscribe link; audience list",
            "lands among the adverts; greets people by their surname; goes out an hour late",
            "warm up the sender; greet without names; schedule by the reader's own time",
            "plain text; one offer a letter; sending on Thursdays",
        ),
        _topic(
            "search suggestions",
            "synonym list; ranking rule; typo tolerance",
            "offer what is sold out; do not know trainers as sneakers; jump while one types",
            "ask the stock first; add the synonyms of the last quarter; wait until typing pauses",
            "few suggestions; stock before popularity; showing the category",
        ),
        _topic(
            "gift cards",
            "balance page; voucher code; expiry notice",
            "can be spent twice; show the balance of another card; expire without a word",
            "reserve the amount first; tie the page to the session; write two weeks ahead",
            "codes without zeros; cards without expiry; printing at home",
        ),
        _topic(
            "size guide",
            "measuring table; fit notes; children's sizes",
            "mixes inches and centimetres; is cut off on phones; lacks the winter range",
            "keep one unit and convert for display; let the table scroll; import the maker's sheet",
            "centimetres; a drawing beside the table; fit notes from returns",
        ),
        _topic(
            "delivery tracking",
            "carrier feed; status words; pickup points",
            "shows delivered too early; repeats the same status; hides the pickup hours",
            "wait for the carrier's scan; merge equal states; read the hours from the directory",
            "three states; the carrier's own page; a message when it is late",
        ),
        _topic(
            "loyalty points",
            "earning rule; points ledger; birthday bonus",
            "round against the customer; vanish after a refund; come twice on birthdays",
            "round at the end; book refunds as entries; key the bonus by year",
            "whole points; a visible ledger; no expiry",
        ),
    ),
    "research": (
        _topic(
            "river survey",
            "gauge data; sampling sites; flood model",
            "skips the night readings; places two sites in the lake; overstates the spring peak",
            "interpolate up to three hours; correct the coordinates; calibrate on the last decade",
            "hourly readings; open formats; two models side by side",
        ),
        _topic(
            "interview transcripts",
            "speaker labels; consent forms; coding scheme",
            "swap the speakers; miss a consent form; use two names for one code",
            "align by voice; hold back what has no form; merge the codes and note it",
            "verbatim transcripts; two coders; pseudonyms from the start",
        ),
        _topic(
            "literature list",
            "citation keys; duplicate entries; access notes",
            "has the preprint and the article; loses accents; cites a retracted paper",
            "keep the article and link the preprint; save it as Unicode; check it against the retraction list",
            "one entry a work; keys by author and year; notes in full sentences",
        ),
        _topic(
            "grant report",
            "budget table; milestone list; summary page",
            "adds up to the wrong total; names a milestone twice; is two pages too long",
            "sum by formula; number the milestones; move the methods into an annex",
            "plain words; figures with sources; sending it a week early",
        ),
        _topic(
            "sensor calibration",
            "offset table; reference probe; drift check",
            "drifts in the cold; swaps two probes; ignores the warm-up",
            "calibrate at two temperatures; label the probes; discard the first ten minutes",
            "two reference points; monthly checks; keeping raw values",
        ),
        _topic(
            "map tiles",
            "label layer; zoom levels; shoreline",
            "write names over each other; load the same tile twice; draw the shoreline of low tide",
            "place labels by importance; cache by zoom; switch to the mean shoreline",
            "vector tiles; few labels; muted colours",
        ),
        _topic(
            "species index",
            "common names; photo archive; sighting records",
            "lists the warbler under two families; shows a photo of another bird; counts one sighting three times",
            "follow the newer taxonomy; ask the photographer; merge sightings of one hour",
            "Latin names first; sightings with a place; photos under a free licence",
        ),
        _topic(
            "reading group",
            "session plan; discussion notes; room booking",
            "meets in a room that is taken; reads a chapter twice; forgets the remote guests",
            "book the term at once; keep the plan in one place; start with the remote guests",
            "short texts; a new host each week; notes on one page",
        ),
    ),
}

OPENINGS: Final[Mapping[Act, tuple[str, ...]]] = {
    Act.ASK: (
        "",
        "One question: ",
        "Can you check this? ",
        "Quick one. ",
        "Before I forget: ",
        "Sorry to ask again. ",
        "For the minutes: ",
    ),
    Act.ANSWER: (
        "",
        "As far as I can see, ",
        "From the records: ",
        "Short answer: ",
        "I looked it up. ",
        "Yes and no: ",
    ),
    Act.REPORT: ("", "Bad news: ", "It happened again. ", "Heads up. ", "A customer wrote in: ", "I just noticed: "),
    Act.PLAN: ("", "I would go like this: ", "Two steps. ", "Proposal: ", "If nobody objects, "),
    Act.DO: ("", "On it. ", "Working on it now. ", "Give me a minute. ", "Started: "),
    Act.OUTPUT: ("", "[run] ", "exit 0: ", "done: ", "report | "),
    Act.ERROR: ("", "[fail] ", "exit 1: ", "error: ", "aborted | "),
    Act.FIXED: ("", "That was it. ", "Good news: ", "Solved. ", "For the record: "),
    Act.DECIDE: ("", "Settled then: ", "After today's call: ", "To close this: ", "Please note: "),
    Act.PREFER: ("", "You should know: ", "For next time: ", "A habit of mine: ", "By the way, "),
    Act.RULE: ("", "Please remember: ", "As a rule, ", "From now on: ", "House rule: "),
    Act.CHAT: ("", "Morning! ", "Hello again. ", "Well. ", "Back from lunch. "),
    Act.HAND_OVER: ("", "For whoever is next: ", "Handing over. ", "End of my shift. ", "Where we stand: "),
}

SHIFTS: Final = (
    "Something else: ",
    "On to the next thing: ",
    "Different matter. ",
    "That aside, ",
    "Now for the other topic: ",
    "Leaving that for a moment: ",
)
"""Openings that announce a change of topic, used for half of the changes."""

PATTERNS: Final[Mapping[Act, tuple[str, ...]]] = {
    Act.ASK: (
        "what is the state of the {topic}?",
        "did we ever find out why the {part} {trouble}?",
        "who looks after the {part} of the {topic} this week?",
        "how many items did the {topic} handle on {day}?",
        "is it true that the {topic} {trouble}?",
        "where do we keep the notes about the {part}?",
        "what did {person} say about the {topic}?",
        "should we {remedy}, or wait until {day}?",
        "when was the {part} last changed?",
        "what speaks against {choice} for the {topic}?",
        "how long would it take to {remedy}?",
        "does the {part} still need {n} minutes?",
        "can the {topic} do without the {part}?",
        "what was the number that {person} gave us for the {topic}?",
        "why did we choose {choice} back then?",
        "have you seen the message from {person} about the {part}?",
        "which of the two is worse: that it {trouble}, or that it {trouble2}?",
        "what do we tell {person} if the {topic} {trouble} again?",
    ),
    Act.ANSWER: (
        "the {part} handled {n} items on {day}, and {m} of them had to be looked at twice.",
        "{person} changed the {part} last, and nobody has touched the {topic} since.",
        "the {topic} is in good order, apart from the {part}.",
        "it {trouble} whenever more than {n} come in at once.",
        "we chose {choice} because the {part} could not do otherwise.",
        "to {remedy} would take about {n} hours, tests included.",
        "there are {n} open points about the {topic}, the oldest from {day}.",
        "what {person} gave us was {n} for the {part}, and {m} in the worst case.",
        "nothing speaks against {choice}, as long as the {part} stays as it is.",
        "the notes about the {part} are under the heading of the {topic}.",
        "it does not need the {part} at all when we {remedy}.",
        "the last change to the {part} was version {n}.{m}.",
        "both have one cause: the {part} is asked before it is ready.",
        "{person} looks after the {part} until {day}, then it is {person2}'s turn.",
        "I found {n} mentions of the {topic}, the clearest by {person2}.",
        "the {part} needs {n} minutes now, it was {m} before.",
        "no, that was the {part2}; the {part} has been fine since {day}.",
    ),
    Act.REPORT: (
        "the {topic} {trouble}.",
        "since {day} the {part} {trouble}.",
        "the {part} {trouble}, and {person} is waiting for it.",
        "{n} people have told us that the {topic} {trouble}.",
        "the {topic} {trouble} again, for the {n}th time this month.",
        "I tried it on two machines, and the {part} {trouble} on both.",
        "it {trouble} only when {person} is signed in.",
        "the {part} was fine at nine and {trouble} since ten.",
        "without the {part2} the {topic} {trouble} at once.",
        "{person} says that the {topic} {trouble2}, I only see that it {trouble}.",
        "the numbers of the {part} are off by {n} per cent.",
        "what we did on {day} did not last: the {topic} {trouble}.",
        "it costs us {n} minutes each morning that the {part} {trouble}.",
        "one of {n} tries goes wrong, and always at the {part}.",
    ),
    Act.PLAN: (
        "first we {remedy}, then we watch the {part} until {day}.",
        "we {remedy} on a copy and compare {n} results by hand.",
        "{person} writes the test for the {part}, I {remedy} meanwhile.",
        "let us {remedy} today and leave the {part2} for {day}.",
        "the smallest step is to {remedy}; the rest can wait.",
        "before anything else I would measure how often the {topic} {trouble}.",
        "we could {remedy}, which costs {n} hours, or {remedy2}, which costs {m}.",
        "if it still {trouble} on {day}, we {remedy2}.",
        "I would ask {person} first, and {remedy} only then.",
        "the {part} gets a switch, so that we can go back within {n} minutes.",
        "we begin with the {part} because it is the easiest to undo.",
        "assume that the {part} stays; then all we need is to {remedy}.",
        "the risk is that the {topic} {trouble2}, so we {remedy} with a way back.",
    ),
    Act.DO: (
        "I {remedy} in the {part} and run the checks.",
        "reading the last {n} entries of the {part}.",
        "comparing the {part} with what it was on {day}.",
        "I have a draft for the {topic}, {n} lines so far.",
        "asking {person2} for the numbers of the {part}.",
        "running {n} tries against the {part}, then I report back.",
        "I copy the {topic} aside and {remedy} there.",
        "writing down what we know about the {part}.",
        "the first {n} are through, the {part} behaves.",
        "looking for the place where the {topic} {trouble}.",
        "I undo the change to the {part2} and keep the rest.",
        "collecting examples in which it {trouble2}.",
    ),
    Act.OUTPUT: (
        "{part}: {n} ok, {m} skipped, 0 failed",
        "{part} finished in {n}.{m} s",
        "checked {n} rows of {topic}, all equal",
        "{topic}: version {n}.{m} deployed to host-{k}",
        "wrote {n} lines to /srv/{slug}/{part_slug}.log",
        "{part_slug}={n} {slug}_total={m}",
        "{n} warnings in {part}, none new since run {m}",
        "diff of {part}: {n} added, {k} removed",
        "p95 of {part} is {n} ms over the last {m} calls",
        "{topic} restored from snapshot {m}, {n} files",
        "queue depth of {part}: {n}",
    ),
    Act.ERROR: (
        "{part} {trouble}: gave up after {k} tries",
        "{topic} check failed at step {k}: {part} did not answer within {n} ms",
        "cannot read /srv/{slug}/{part_slug}: no such file",
        "E{code}: {part} of {topic} refused the request",
        "timeout after {n} s while waiting for {part}",
        "{topic}: expected {n} rows, found {m}",
        "{part_slug} exited with code {k}",
        "assertion in {part}: {n} is not {m}",
        "permission denied for {part} of {topic}",
        "E{code}: checksum of {part} differs",
    ),
    Act.FIXED: (
        "the {part} was the cause; now that we {remedy}, nothing {trouble_past}.",
        "it was enough to {remedy}: {n} tries without a fault.",
        "the root cause was that the {part} {trouble}; the fix was to {remedy}.",
        "since we {remedy}, the {topic} is quiet, {n} hours now.",
        "the {part} is down to {n} ms, from {m}.",
        "{person} confirmed it: the {topic} is as it should be.",
        "what helped was to {remedy}, not what I tried first.",
        "the test for the {part} fails without the change and passes with it.",
        "the {topic} is back; what remains is a note for {person}.",
        "it had nothing to do with the {part2}: the {part} was asked too early.",
    ),
    Act.DECIDE: (
        "we decided on {choice} for the {topic}.",
        "we decided to {remedy} and to look at it again on {day}.",
        "for the {topic} we agreed on {choice}, because the {part} allows it.",
        "the {part} stays, {person} agreed.",
        "we will {remedy}, whatever the {part2} costs.",
        "no more work on the {part} before {day}.",
        "the limit of the {part} is {n} from now on.",
        "{person} takes over the {topic} on {day}.",
        "we settled on {choice}; {choice2} is off the table.",
        "the {topic} goes out on {day}, with {n} items at most.",
        "we decided against {choice2} for the {part}.",
    ),
    Act.PREFER: (
        "I prefer {choice} for the {topic}.",
        "I prefer {choice} over {choice2}.",
        "I like it when the {part} is checked before lunch.",
        "I always want to see the {part} before it goes out.",
        "I do not like surprises in the {topic}, tell me early.",
        "I prefer to hear about the {part} from {person} and not by mail.",
        "I like short answers about the {topic}, with the number first.",
        "I prefer that you {remedy} before you ask.",
        "I always read the last {k} lines first.",
        "my {part} figures should come in the morning.",
    ),
    Act.RULE: (
        "ask me before you touch the {part}.",
        "never change the {part} on a Friday.",
        "always {remedy} before the {topic} is opened to others.",
        "never send anything about the {topic} without {person} having read it.",
        "always name the {part} in the first line.",
        "ask {person} first when the {topic} {trouble}.",
        "every change to the {part} needs a way back.",
        "always keep the numbers of the {part} for {n} days.",
        "never mix the {part} and the {part2} in one change.",
    ),
    Act.CHAT: (
        "how was the weekend?",
        "the coffee machine is out of order again.",
        "it rains here, so I have all day.",
        "thanks, that helps a lot.",
        "good, then let us go on.",
        "one moment, the phone.",
        "I am back.",
        "great work yesterday, by the way.",
        "{person} says hello.",
        "shall we do this after lunch?",
        "that was quicker than I thought.",
        "I have to leave at {k}.",
        "nothing new from my side.",
        "sounds good to me.",
        "let us keep it short today.",
    ),
    Act.HAND_OVER: (
        "the {topic} is half done: the {part} works, the {part2} does not.",
        "open: {remedy}; closed: everything about the {part}.",
        "{person} waits for the numbers of the {part}, nothing else is urgent.",
        "if it {trouble}, {remedy} and write it down.",
        "the next step is to {remedy}; I got as far as the {part2}.",
        "I leave the {part} running until {day}, do not stop it.",
        "still unclear is why the {part} {trouble}.",
        "tests for the {part} are written, those for the {part2} are not.",
    ),
}

NOTES: Final[Mapping[str, tuple[str, ...]]] = {
    "decision": (
        "For the {topic} we use {choice} and not {choice2}, because the {part} cannot do otherwise.",
        "The {part} of the {topic} is limited to {n} until {person} has looked at it.",
        "{person} decides about the {part} of the {topic}, nobody else.",
        "The {topic} keeps the {part}; to {remedy} is enough for this year.",
    ),
    "preference": (
        "{person} prefers {choice} for the {topic} and wants the {part} checked before lunch.",
        "{person} wants short answers about the {topic}, with the number of the {part} first.",
        "{person} likes to see the {part} of the {topic} before it goes out to anybody.",
    ),
    "error": (
        "When the {topic} {trouble}, the cause was the {part} each time; what helped was to {remedy}.",
        "The {part} of the {topic} {trouble} after a restart, so {remedy} before anything else.",
        "E{code} of the {topic} means that the {part} was asked too early, and to {remedy} mends it.",
    ),
    "workflow": (
        "To work on the {topic}, first look at the {part}, then {remedy}, and tell {person} at the end.",
        "Before the {part} of the {topic} is changed, {remedy} on a copy and compare {n} results by hand.",
        "A change to the {part} of the {topic} needs a test, a way back and a word to {person}.",
    ),
}
"""Patterns of the notes that agents write, by kind of note."""

STATE_NOTE: Final = "The {topic} is {state} as of {day}; {person} looks after the {part}."
STATES: Final = ("on track", "waiting for numbers", "half done", "under review", "blocked", "done but for the notes")
EXPIRING: Final = (
    "The access for the {part} of the {topic} is valid for the next days only, ask {person} for another.",
    "Until further notice the {part} of the {topic} is read only; {person} will say when that ends.",
    "This week {person} stands in for {person2} in all matters of the {topic}.",
)
AGAIN: Final = ("again", "indeed", "overall", "clearly")
"""Words appended to a repeated note."""
QUESTIONS: Final = (
    "why did the {topic} give us trouble?",
    "what did we decide about the {topic}?",
    "what helped when the {topic} {trouble}?",
    "who looks after the {part} of the {topic}?",
    "what does {person} prefer for the {topic}?",
    "what is the limit of the {part}?",
    "what do I have to do before I change the {part}?",
    "what was E{code} of the {topic}?",
    "how far are we with the {topic}?",
    "which numbers do we have for the {part} of the {topic}?",
)

PEOPLE: Final = ("Ines", "Tom", "Priya", "Luca", "Maren", "Yusuf", "Edda", "Noah", "Sofia", "Anton", "Mira", "Jonas")
DAYS: Final = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday")
_PLACE: Final = re.compile(r"\{(\w+)\}")


@dataclass(slots=True)
class Talk:
    """Generates sentences with a seed. `used`: the patterns, with their openings, used so far."""

    chance: random.Random
    used: set[str] = field(default_factory=set[str])

    def say(self, act: Act, topic: Topic, *, opening: str | None = None) -> str:
        """One sentence. `opening`: None for one of the act's own."""
        begin = self.chance.choice(OPENINGS[act]) if opening is None else opening
        return self.fill(begin + self.chance.choice(PATTERNS[act]), topic)

    def fill(self, pattern: str, topic: Topic) -> str:
        """The pattern with its placeholders filled; a sentence that starts with a word is capitalised."""
        self.used.add(pattern)
        words = self._words(topic)
        text = _PLACE.sub(lambda place: words[place[1]], pattern)
        return text[0].upper() + text[1:] if text[0].isalpha() and "=" not in text else text

    def _words(self, topic: Topic) -> dict[str, str]:
        chance = self.chance
        part, part2 = _two(chance, topic.parts)
        trouble, trouble2 = _two(chance, topic.troubles)
        remedy, remedy2 = _two(chance, topic.remedies)
        choice, choice2 = _two(chance, topic.choices)
        person, person2 = _two(chance, PEOPLE)
        return {
            "topic": topic.name,
            "slug": topic.name.replace(" ", "-"),
            "part": part,
            "part2": part2,
            "part_slug": part.replace(" ", "_").replace("'", ""),
            "trouble": trouble,
            "trouble2": trouble2,
            "trouble_past": "goes wrong",
            "remedy": remedy,
            "remedy2": remedy2,
            "choice": choice,
            "choice2": choice2,
            "person": person,
            "person2": person2,
            "day": chance.choice(DAYS),
            "state": chance.choice(STATES),
            "n": str(chance.randint(2, 900)),
            "m": str(chance.randint(2, 90)),
            "k": str(chance.randint(2, 9)),
            "code": str(4000 + 7 * TOPIC_NUMBERS[topic.name]),
        }


TOPIC_NUMBERS: Final = {
    topic.name: number for number, topic in enumerate(topic for several in TOPICS.values() for topic in several)
}


def _two(chance: random.Random, several: Sequence[str]) -> tuple[str, str]:
    one, other = chance.sample(several, 2)
    return one, other
