"""The expected speaker of a question."""

from __future__ import annotations

import pytest

from remembrancer.domain.event import Role
from remembrancer.language.english.speakers import role_of, roles_left_out


@pytest.mark.parametrize(
    "question",
    [
        "What is my dog called?",
        "Where did I leave it?",
        "Is it mine?",
        "where did i leave it?",
        "Where do we park our car?",
        "What did the plumber charge us?",
        "Who gave me the starter?",
        "What do you think of my trip?",
        "What is the user's dog called?",
        "Where does the user park?",
        "user's favourite editor",
        "What did the user tell the assistant about Rome?",
        "Who did I tell you had a baby?",
        "What did I think of the film you recommended?",
        "Did I tell you Fred moved?",
    ],
)
def test_a_question_about_i_or_my_expects_a_turn_of_the_user(question: str) -> None:
    assert role_of(question) == {Role.USER}


@pytest.mark.parametrize(
    "question",
    [
        "Which hotel did you suggest for my trip?",
        "What was the third stretch you gave me?",
        "You once told me what to put in the water. What?",
        "What had you set aside for my food?",
        "Which one is it that you'd recommended?",
        "In the order you\u2019ve just given me, what comes last?",
        "Which hotel did the assistant suggest to the user?",
        "The assistant once named three hotels. Which?",
        "What was your rule for salads in my garden?",
        "How much is too much for me, according to you?",
        "What were you recommending for my knee?",
        "Was it you who suggested my boots?",
        "Which of my boots were suggested by you?",
    ],
)
def test_what_you_told_expects_a_turn_of_the_assistant(question: str) -> None:
    assert role_of(question) == {Role.ASSISTANT}


@pytest.mark.parametrize("question", ["Which tea would you have me drink?", "Could you put my tea on a list?"])
def test_what_you_would_do_expects_no_turn_of_the_assistant(question: str) -> None:
    assert role_of(question) == {Role.USER}


@pytest.mark.parametrize(
    "question",
    [
        "What do you need for my visa?",
        "Does the assistant need the user's visa?",
        "What if you had to choose my tea?",
        "How do you feed our cat?",
    ],
)
def test_not_every_verb_after_you_is_in_the_past(question: str) -> None:
    assert role_of(question) == {Role.USER}


@pytest.mark.parametrize(
    "question",
    [
        "What did we decide about refunds?",
        "The matter we've discussed?",
        "What had we agreed on?",
        "What did we decide about my kitchen?",
        "What did you and I plan?",
        "What do we know about Redis?",
    ],
)
def test_what_we_talked_about_expects_no_speaker(question: str) -> None:
    assert role_of(question) == frozenset()


@pytest.mark.parametrize(
    "question",
    [
        "Which port is it?",
        "What is in mycology?",
        "Tell me which port it is.",
        "Remind us who is on call.",
        "Refresh my memory: who is on call?",
    ],
)
def test_a_question_without_a_decisive_pronoun_expects_no_speaker(question: str) -> None:
    assert role_of(question) == frozenset()


@pytest.mark.parametrize("question", ["When was I supposed to see the dentist?", "What were we told to bring?"])
def test_what_one_was_supposed_to_do_expects_no_speaker(question: str) -> None:
    assert role_of(question) == frozenset()


@pytest.mark.parametrize(
    "question",
    [
        "Where is the user interface?",
        "Is a user's password kept?",
        "Who is the assistant manager?",
        "the user-made one",
    ],
)
def test_not_every_user_or_assistant_is_one_who_talks_here(question: str) -> None:
    assert (role_of(question), roles_left_out(question)) == (frozenset(), question)


@pytest.mark.parametrize(
    ("question", "left"),
    [
        ("What is the user's dog called?", "What is dog called?"),
        ("Which hotel did the assistant suggest to the user?", "Which hotel did suggest to ?"),
        ("Users of the assistantship", "Users of the assistantship"),
        ("Who is the user?", "Who is the user?"),
    ],
)
def test_a_role_that_a_question_names_is_left_out_where_something_else_is_left(question: str, left: str) -> None:
    assert roles_left_out(question) == left


def test_among_several_people_we_may_be_all_of_them() -> None:
    assert role_of("How do we deploy?", several=True) == frozenset()


def test_among_several_people_i_am_one_still() -> None:
    assert role_of("How do I deploy?", several=True) == {Role.USER}
