from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from remembrancer.errors import InvalidInput
from remembrancer.language.lexical import word_ends
from remembrancer.policies.consolidation.extractive import MAX_SENTENCES, TITLE_WORDS, AttributedText, summary, title

TALK = [
    AttributedText("Ana", "Hi Ben! The payment worker ran out of memory last night. Can you look at it?"),
    AttributedText(
        "Ben", "Sure. The payment worker has one gigabyte of memory. Checkout needs two gigabytes since the spring."
    ),
    AttributedText("Ana", "Great, thanks!"),
    AttributedText("Ben", "I raised the memory of the payment worker to two gigabytes."),
]

texts = st.lists(st.builds(AttributedText, st.sampled_from(["", "Ana", "Ben"]), st.text(max_size=300)), max_size=8)


def test_a_summary_has_the_central_sentences_with_their_speakers() -> None:
    assert summary(TALK, max_chars=140) == (
        "Ana: The payment worker ran out of memory last night."
        " Ben: I raised the memory of the payment worker to two gigabytes."
    )


def test_sentences_of_one_text_share_one_speaker_label() -> None:
    told = summary([AttributedText("Ana", "The deploy of checkout failed. The deploy of billing failed.")])
    assert told == "Ana: The deploy of checkout failed. The deploy of billing failed."


def test_a_text_of_nobody_has_no_name() -> None:
    assert summary([AttributedText("", "The deploy of checkout failed.")]) == "The deploy of checkout failed."


def test_small_talk_and_questions_stay_out_of_a_summary() -> None:
    told = summary(TALK)
    assert not any(said in told for said in ("Hi Ben", "Great", "Sure", "look at it"))


def test_a_repeated_sentence_is_summarised_once() -> None:
    twice = [
        AttributedText("Ana", "The payment worker ran out of memory."),
        AttributedText("Ben", "The payment worker ran out of memory."),
    ]
    others = [AttributedText("Ana", "The apple cake is for the birthday of our neighbour on Saturday.")]
    told = summary([*twice, *others], max_chars=130)
    assert told.count("ran out of memory") == 1
    assert "apple cake" in told


def test_a_title_names_the_most_frequent_topics() -> None:
    assert title(TALK) == "Payment worker ran, Checkout needs two gigabytes"


def test_a_title_repeats_nothing() -> None:
    words = [word for word in title(TALK).lower().replace(",", "").split() if word != "memory"]
    assert len(words) == len(set(words))


def test_speakers_calling_each_other_by_name_is_no_topic() -> None:
    talk = [
        AttributedText("Ana", "Ben, Ben, listen: apple cake and walnut bread!"),
        AttributedText("Ben", "Ana? Ana, apple cake it is."),
    ]
    assert not {"Ana", "Ben"} & set(title(talk).replace(",", "").split())


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("部署失败了。支付服务内存不足。", "部署失败了, 支付服务内存不足"),
        ("Сервис оплаты упал ночью. Памяти сервису оплаты не хватает.", "Сервис оплаты упал ночью, Памяти сервису"),
    ],
)
def test_other_scripts_have_titles_too(text: str, named: str) -> None:
    assert title([AttributedText("", text)]).startswith(named[:6])


@pytest.mark.parametrize(
    "said", [[], [AttributedText("Ana", "")], [AttributedText("Ana", " \n\x07")]], ids=["none", "empty", "unseen"]
)
def test_nothing_visible_gives_no_summary(said: list[AttributedText]) -> None:
    assert (title(said), summary(said)) == ("", "")


@pytest.mark.parametrize("said", ["ok", "???", "👍", "the of and"])
def test_a_short_text_is_its_own_summary(said: str) -> None:
    assert summary([AttributedText("Ana", said)]) == f"Ana: {said}"


def test_a_flood_of_sentences_is_read_in_part() -> None:
    flood = [AttributedText("Ana", "The deploy failed. " * 5_000), AttributedText("Ben", "The cake is ready.")]
    assert "cake" in summary([*flood * MAX_SENTENCES])


def test_a_single_word_without_end_is_cut() -> None:
    assert summary([AttributedText("Ana", "x" * 10_000)], max_chars=50) == "Ana: " + "x" * 44 + "…"


def test_no_room_at_all_is_refused() -> None:
    with pytest.raises(InvalidInput):
        summary(TALK, max_chars=10)


@given(texts, st.integers(20, 400))
def test_a_summary_keeps_to_its_room_and_its_line(said: list[AttributedText], room: int) -> None:
    told = summary(said, max_chars=room)
    assert len(told) <= room
    assert told == " ".join(told.split())


@given(texts)
def test_a_title_is_short_and_on_one_line(said: list[AttributedText]) -> None:
    told = title(said)
    assert len(told) <= 500
    assert told == " ".join(told.split())


@given(st.permutations(["The deploy failed again", "Apple cake needs cinnamon", "Rain is expected on Sunday"]))
def test_speakers_come_in_the_order_of_their_first_turn(said: list[str]) -> None:
    assert summary([AttributedText("", f"{text}.") for text in said]) == ". ".join(said) + "."


@pytest.mark.parametrize(
    ("said", "named"),
    [
        (["The payment worker ran out of memory."], "The payment worker ran out of memory"),
        (["Deploy failed.", "Great, thanks!"], "Deploy failed, Great, thanks"),
        (["Deploy it, " * 20], "Deploy it, " * 7 + "Deploy"),
        (["部署失败了" * 20], "部署失败了部署失败了部署失败了部署失败了部署失败了部署失败了"),
        (["ok"], "Ok"),
        (["???", "👍"], ""),
    ],
    ids=["few phrases", "small talk", "one long clause", "no blanks", "one word", "no word"],
)
def test_a_title_has_five_to_fifteen_words_where_its_texts_have_five(said: list[str], named: str) -> None:
    assert title([AttributedText("Ana", text) for text in said]) == named


@given(st.lists(st.lists(st.text("abt失败,", min_size=1, max_size=9), max_size=20), min_size=1, max_size=4))
def test_no_title_is_shorter_or_longer_than_requested(said: list[list[str]]) -> None:
    texts = [" ".join(words) for words in said]
    told = len(word_ends(title([AttributedText("", text) for text in texts])))
    assert min(TITLE_WORDS[0], max(len(word_ends(text)) for text in texts)) <= told <= TITLE_WORDS[1]
