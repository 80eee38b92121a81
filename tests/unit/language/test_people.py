"""Names of those who speak, in a question."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from remembrancer.language.english.people import people
from remembrancer.language.reading import read_question
from remembrancer.testing.doubles import NOW


def test_a_whole_name_means_nobody_else_who_shares_a_part_of_it() -> None:
    speaking = people(frozenset({"Ana Lima", "Ana Costa"}))
    assert speaking.named_in("What did Ana Lima say?") == {"Ana Lima"}


def test_a_shared_first_name_means_all_who_have_it() -> None:
    speaking = people(frozenset({"Ana Lima", "Ana Costa", "Ben"}))
    assert speaking.named_in("What did Ana say?") == {"Ana Lima", "Ana Costa"}


@pytest.mark.parametrize(
    ("name", "question", "left"),
    [
        ("Ana", "What did Ana's sister open?", "What did sister open?"),
        ("payments", "What failed in payments?", "What failed in payments?"),
        ("Мария", "Что сказала Мария о сервере?", "Что сказала о сервере?"),
        ("李明", "李明 在哪里?", "在哪里?"),
    ],
)
def test_only_proper_names_are_left_out_where_words_are_compared(name: str, question: str, left: str) -> None:
    assert people(frozenset({name})).left_out(question, proper=True) == left


def test_a_name_that_is_also_a_word_is_left_out_of_the_embedded_text_only() -> None:
    planned = read_question("What failed in payments?", {"payments", "Ana"}, NOW)
    assert (planned.embedded, planned.lexical.terms, planned.speakers) == (
        "What failed in ?",
        ("fail", "payment"),
        {"payments"},
    )


def test_a_question_of_names_alone_stays_as_it_is() -> None:
    assert people(frozenset({"Ana"})).left_out("And Ana?") == "And Ana?"


def test_nobody_leaves_a_question_as_it_is() -> None:
    assert people(frozenset[str]()).left_out("What did Ana open?") == "What did Ana open?"


def test_in_a_lower_case_question_lower_case_names_count() -> None:
    speaking = people(frozenset({"Ana Lima", "Ben"}))
    assert speaking.named_in("what glaze did ana order?") == {"Ana Lima"}


def test_a_phone_s_capital_at_the_beginning_is_nobody_s() -> None:
    assert people(frozenset({"Ana", "Ben"})).named_in("What glaze did ana order, and did I?") == {"Ana"}


def test_a_name_in_small_letters_may_be_a_word_and_stays_among_those_that_are_searched() -> None:
    planned = read_question("what did mark order?", {"Mark Reyes", "Ben"}, NOW)
    assert (planned.embedded, planned.lexical.terms, planned.speakers) == (
        "what did I order?",
        ("mark", "order"),
        {"Mark Reyes"},
    )


def test_in_small_letters_the_later_parts_of_a_name_do_not_count() -> None:
    assert people(frozenset({"Support Team", "Ben"})).named_in("which team won the match?") == frozenset()


def test_in_a_question_with_capitals_a_lower_case_name_is_a_word() -> None:
    assert people(frozenset({"Grace", "Ben"})).named_in("Did Ben grant the client a grace period?") == {"Ben"}


def test_a_stop_word_names_nobody_in_small_letters_either() -> None:
    assert people(frozenset({"Will", "Ben"})).named_in("what will ben order?") == {"Ben"}


NAMED = [
    # capitals
    ({"ilse", "bram"}, "Where did Ilse go in May?", {"ilse"}),
    ({"Ilse", "Bram"}, "where did ilse go?", {"Ilse"}),
    ({"Ilse", "Bram"}, "Where did ilse go with Tom?", {"Ilse"}),
    ({"ILSE", "Bram"}, "Where did Ilse go?", {"ILSE"}),
    ({"Grace", "Ben"}, "Did Ben grant a grace period?", {"Ben"}),
    ({"Rose", "Ben"}, "Did Ben water the rose?", {"Ben"}),
    ({"Will", "Mark"}, "Will Mark come?", {"Mark"}),
    ({"May", "Ben"}, "Did Ben move in May?", {"Ben"}),
    # spelling
    ({"Sarah", "Tom"}, "Which sport does Sara like?", {"Sarah"}),
    ({"Sara", "Tom"}, "Which sport does Sarah like?", {"Sara"}),
    ({"Sara", "Sarah"}, "Which sport does Sara like?", {"Sara"}),
    ({"Yusuf", "Meera"}, "What is Jusuf's dog called?", {"Yusuf"}),
    ({"Katharina Weber", "Otto"}, "Did Catherina visit Rome?", {"Katharina Weber"}),
    ({"Thandiwe", "Ben"}, "What does Tandiwe like?", {"Thandiwe"}),
    ({"Oyelaran", "Ben"}, "What does Oyelarn like?", {"Oyelaran"}),
    ({"Oyelaran", "Ben"}, "What does Oyealran like?", {"Oyelaran"}),
    ({"José Álvarez", "Zoë"}, "When did Jose travel?", {"José Álvarez"}),
    ({"José Álvarez", "Zoë"}, "When did Zoe travel?", {"Zoë"}),
    ({"Jose", "Ben"}, "When did José travel?", {"Jose"}),
    ({"Mario", "Lena"}, "What did Maria say?", set[str]()),
    ({"Anna", "Hanna"}, "What did Ana say?", {"Anna"}),
    ({"Mary", "Tom"}, "Did they marry? Merry Christmas", set[str]()),
    ({"Lena", "Tom"}, "What did Lenz write?", set[str]()),
    ({"Ben", "Tom"}, "What did Bea say?", set[str]()),
    # short forms
    ({"Robert", "Lena"}, "What did Bob cook?", {"Robert"}),
    ({"Bob", "Lena"}, "What did Robert cook?", {"Bob"}),
    ({"Alexander", "Maria"}, "What did Sasha say?", {"Alexander"}),
    ({"Elizabeth", "Tom"}, "What did Liz say?", {"Elizabeth"}),
    ({"Beth", "Tom"}, "What did Liz say?", set[str]()),
    ({"Alexander", "Alexandra"}, "What did Alex say?", set[str]()),
    # several words, addresses, handles
    ({"ana_silva", "Ben"}, "What did Ana decide?", {"ana_silva"}),
    ({"BenOkafor", "Ana"}, "What did Ben decide?", {"BenOkafor"}),
    ({"kat@x.org", "Ana"}, "What did Kat decide?", {"kat@x.org"}),
    ({"@jonas", "Ana"}, "What did Jonas decide?", {"@jonas"}),
    ({"Jonas", "Ana"}, "What did @jonas decide?", {"Jonas"}),
    ({"Dr. Weber", "Ana"}, "What did Weber decide?", {"Dr. Weber"}),
    ({"Dr. Weber", "Ana"}, "Which doctor, dr who?", set[str]()),
    ({"Robert (Bobby) Tables", "Ana"}, "What did Bobby decide?", {"Robert (Bobby) Tables"}),
    ({"O'Brien", "Jean-Luc"}, "Did Jean-Luc meet O'Brien's sister?", {"O'Brien", "Jean-Luc"}),
    ({"Jonas", "Mia"}, "What was Jonas' plan?", {"Jonas"}),
    ({"Support Team", "Ben"}, "which team won?", set[str]()),
]


@pytest.mark.parametrize(("speaking", "question", "named"), NAMED)
def test_a_name_is_matched_across_capitals_spellings_and_short_forms(
    speaking: set[str], question: str, named: set[str]
) -> None:
    assert people(frozenset(speaking)).named_in(question) == named


@pytest.mark.parametrize(
    ("question", "asked"),
    [
        ("Where did Ana move?", "Where did I move?"),
        ("What is Ana's sister called?", "What is my sister called?"),
        ("Which sport did both Ana and Ben try?", "Which sport did we try?"),
        ("What did Ana, Ben and Jonas decide?", "What did we decide?"),
        ("What did Ana give Ben for Ben's birthday?", "What did I give you for your birthday?"),
        ("What is Ana and Ben's plan?", "What is our plan?"),
        ("Does Ana like tea?", "Do I like tea?"),
        ("Isn't Ana vegan? What has Ben bought?", "Aren't I vegan? What have you bought?"),
        ("What was Jonas' plan?", "What was my plan?"),
        ("Where did Mia move?", "Where did Mia move?"),
        # a relative or dependent clause of the speaker
        ("How does Ana describe the studio that Ben has opened?", "How do I describe the studio that you have opened?"),
        ("Which novel is it that Ana is writing?", "Which novel is it that I am writing?"),
        (
            "Where was the dog while Ana met the man Ben was seeing?",
            "Where was the dog while I met the man you were seeing?",
        ),
        ("What does Ana say Ben doesn't eat?", "What do I say you don't eat?"),
        ("Which book that Ana likes was lost?", "Which book that I like was lost?"),
        ("What is something that Ana really misses?", "What is something that I really miss?"),
        (
            "Which languages does the school where Ana teaches offer?",
            "Which languages does the school where I teach offer?",
        ),
        ("Which subject is it that Ana studies?", "Which subject is it that I study?"),
        ("What is the town that Ana goes to?", "What is the town that I go to?"),
        ("What is the town where Ana lives and works?", "What is the town where I live and work?"),
        ("Which prize is it that Ana was given?", "Which prize is it that I was given?"),
        ("Where is the house that Ana and Ben own?", "Where is the house that we own?"),
        ("Ana lives in Rome, doesn't she?", "I live in Rome, don't I?"),
        ("Say where Ana's been working?", "Say where I have been working?"),
        # verbs of other subjects
        ("Did Ana say which friend who visited Ben has moved?", "Did I say which friend who visited you has moved?"),
        ("How old did Ana say the girl with Ben is?", "How old did I say the girl with you is?"),
        ("Are Ana and Ben fans of the team?", "Are we fans of the team?"),
        ("Did Ana give Ben roses?", "Did I give you roses?"),
        ("According to Ana, who is the best?", "According to me, who is the best?"),
        ("What type of cake does Ana say Ben makes and is cheap?", "What type of cake do I say you make and is cheap?"),
        # cases
        ("What is a good month for Ana and Ben?", "What is a good month for us?"),
        ("What words describe Ana?", "What words describe me?"),
        ("And Ana?", "And Ana?"),
    ],
)
def test_a_question_is_retold_as_its_first_speaker_would_ask_it(question: str, asked: str) -> None:
    assert people(frozenset({"Ana", "Ben", "Jonas"})).as_speaker(question) == asked


NAMES = st.sampled_from(
    ["Ana", "ben", "Thandiwe", "José Álvarez", "Katharina", "O'Brien", "Grace", "kat@x.org", "李明"]
)
QUESTIONS = st.lists(
    st.sampled_from("what did Ana ben's Katarina jose grace and say to Thandiwe O'Brien about ? 李明 Tom".split()),
    min_size=1,
    max_size=8,
).map(" ".join)


@given(st.frozensets(NAMES), QUESTIONS)
def test_without_the_names_a_question_keeps_its_terms_or_all_of_itself(speaking: frozenset[str], question: str) -> None:
    known = people(speaking)
    assert known.left_out(question).strip()
    assert known.as_speaker(question).strip()


@given(st.frozensets(NAMES, min_size=1), QUESTIONS)
def test_an_unrelated_speaker_changes_nobody_s_name(speaking: frozenset[str], question: str) -> None:
    assert people(speaking | {"Wulfthryth"}).named_in(question) == people(speaking).named_in(question)


@given(st.frozensets(NAMES, min_size=1))
def test_a_name_as_it_is_spelled_means_its_speaker(speaking: frozenset[str]) -> None:
    assert all(name in people(speaking).named_in(f"What did {name} say?") for name in speaking)


@pytest.mark.parametrize(
    ("participants", "question", "named"),
    [
        ("Will Ana", "What did Will say?", "Will"),
        ("Will Ana", "Will Ana come?", "Ana"),
        ("Will Ana", "What did William say?", "Will"),
        ("May Ana", "What did May do in June?", "May"),
        ("May Ana", "What did Ana do in May?", "Ana"),
        ("May Ana", "Did Ana move on May 5?", "Ana"),
        ("Sidney Ben", "When was Ben in Sydney?", "Ben"),
        ("Sidney Ben", "What did Sydney tell Ben?", "Sidney Ben"),
    ],
)
def test_words_months_and_places_are_names_only_where_the_sentence_says_so(
    participants: str, question: str, named: str
) -> None:
    assert people(frozenset(participants.split())).named_in(question) == frozenset(named.split())


def test_a_pronoun_in_place_of_an_object_is_in_its_case() -> None:
    assert people(frozenset({"Ana", "Ben"})).as_speaker("Who gave Ana the dog?") == "Who gave me the dog?"


_NAMES = st.sampled_from(["Ana", "ben", "Oluwaseun", "Katharina", "Jean-Luc", "D'Angelo", "Zoë Ito", "李明", "Will"])
_WORDS = ["Ana", "Bens", "Zoe's", "Catherina", "Will", "did", "the", "cake", "and", "李明", "jean-luc", "?", "'"]
_QUESTIONS = st.lists(st.sampled_from(_WORDS), min_size=1).map(" ".join)


@settings(max_examples=60)
@given(st.frozensets(_NAMES), _QUESTIONS)
def test_without_names_a_question_is_never_empty(participants: frozenset[str], question: str) -> None:
    known = people(participants)
    assert known.left_out(question).strip()
    assert known.as_speaker(question).strip()


@settings(max_examples=60)
@given(st.frozensets(_NAMES), _QUESTIONS)
def test_somebody_unrelated_changes_nothing_about_whom_a_name_means(
    participants: frozenset[str], question: str
) -> None:
    assert people(participants | {"Xqpz"}).named_in(question) == people(participants).named_in(question)
