from __future__ import annotations

import re
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from remembrancer.domain.query import LexicalQuery
from remembrancer.language.function_words import FUNCTION_WORDS
from remembrancer.language.lexical import (
    MAX_QUERY_TERMS,
    MAX_TERM_CHARS,
    analyse,
    every_word,
    fold,
    lexical_query,
    stem,
    word_ends,
    written,
)


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        pytest.param("crashes crashed crashing", ("crash", "crash", "crash"), id="forms of one word, repeats kept"),
        pytest.param("The worker and its queue", ("worker", "queue"), id="stop words"),
        pytest.param("Ana's deploy", ("ana", "deploi"), id="possessive"),
        pytest.param("the dogs' bowl", ("dog", "bowl"), id="plural possessive"),
        pytest.param("ana’s", ("ana",), id="typographic possessive"),
        pytest.param("don't panic", ("panic",), id="contraction that is a stop word"),
        pytest.param("l'homme", ("l'homme", "homm"), id="elision"),
        pytest.param("O'Brien", ("o'brien", "brien"), id="apostrophe in a name"),
        pytest.param("O’Brien", ("o'brien", "brien"), id="typographic apostrophe in a name"),
        pytest.param("rock'n'roll", ("rock'n'roll", "rock", "roll"), id="two apostrophes"),
        pytest.param("C++ or C#", ("c++", "c", "c#", "c"), id="languages with signs"),
        pytest.param("C++.", ("c++", "c"), id="language at the end of a sentence"),
        pytest.param("#tag 100%", ("tag", "100"), id="signs outside words"),
        pytest.param("src/app/main.py", ("src/app/main.py", "src", "app", "main", "py"), id="path"),
        pytest.param("C:\\Users\\ana", ("c:\\users\\ana", "c", "user", "ana"), id="Windows path"),
        pytest.param("user@host.example", ("user@host.example", "user", "host", "exampl"), id="e-mail address"),
        pytest.param("v1.2.3", ("v1.2.3", "v1", "2", "3"), id="version"),
        pytest.param("foo_bar __init__", ("foo_bar", "foo", "bar", "init"), id="snake case"),
        pytest.param("payment-worker", ("payment-worker", "payment", "worker"), id="hyphen"),
        pytest.param("getUserName", ("getusernam", "get", "user", "name"), id="camel case"),
        pytest.param("HTTPServer", ("httpserver", "http", "server"), id="camel case after capitals"),
        pytest.param("iOS", ("io",), id="too short to part"),
        pytest.param("the 18th and 3rd", ("18", "3"), id="ordinals as their numbers"),
        pytest.param("launch 🚀", ("launch", "🚀"), id="emoji"),
        pytest.param("👩\u200d💻", ("👩", "💻"), id="joined emoji"),
        pytest.param("Café naïve", ("cafe", "naiv"), id="accents"),
        pytest.param("e\u0301tude", ("etud",), id="combining accent"),
        pytest.param("ＦＵＬＬ ﬁle", ("full", "file"), id="width and ligature"),
        pytest.param("Straße", ("strass",), id="case folding"),
        pytest.param("Ошибки сервера", ("ошибк", "сервер"), id="Cyrillic"),
        pytest.param("خطأ الخادم", ("خطا", "خادم"), id="Arabic"),
        pytest.param("Σφάλμα διακομιστή", ("σφαλμ", "διακομ"), id="Greek"),
        pytest.param("שָׁלוֹם שרת", ("שלומ", "שלו", "לומ", "שרת"), id="Hebrew with points"),
        pytest.param("सर्वर", ("सरवर",), id="Devanagari"),
        pytest.param("новый Николай", ("нов", "никола"), id="Cyrillic short i, which is no accent"),
        pytest.param("فريق الفريق", ("ريق", "فريق", "فريق"), id="Arabic first letter that is no preposition"),
        pytest.param("والخادم", ("خادم", "والخادم"), id="Arabic conjunction before the article"),
        pytest.param("والد", ("والد",), id="Arabic word that only begins like one"),
        pytest.param("სერვერი", ("სერვერი", "სერ", "ერვ", "რვე", "ვერ", "ერი"), id="Georgian, by runs of letters"),
        pytest.param("port ٨٠٨٠ ８０８０ ८०८०", ("port", "8080", "8080", "8080"), id="digits of every script"),
        pytest.param("Đặng Łódź Øster", ("dang", "lodz", "oster"), id="letters Unicode does not take apart"),
        pytest.param("İstanbul ISPARTA Isparta ısparta", ("istanbul", *["isparta"] * 3), id="Turkish i, dotted or not"),
        pytest.param("पाँच पांच", ("पांच", "पांच"), id="Hindi nasal, spelled either way"),
        pytest.param("كتاب کتاب", ("كتاب", "كتاب"), id="Persian letters"),
        pytest.param("почему упал сервер", ("упа", "сервер"), id="Russian function words"),
        pytest.param("לא של מסד", ("מסד",), id="Hebrew function words"),
        pytest.param("γιατί ο διακομιστής", ("διακομ",), id="Greek function words"),
        pytest.param("لماذا من الخادم", ("خادم",), id="Arabic function words"),
        pytest.param("क्यों है सर्वर", ("सरवर",), id="Hindi function words"),
        pytest.param("为什么失败", ("失", "失败", "败"), id="Chinese question word"),
        pytest.param("配信はいつですか", ("配", "配信", "信", "信は", "は"), id="Japanese question words"),
        pytest.param("언제 배포합니까", ("배", "배포", "포"), id="Korean question word and ending"),
        pytest.param("部署失败", ("部", "部署", "署", "署失", "失", "失败", "败"), id="Han"),
        pytest.param("ロイ", ("ロ", "ロイ", "イ"), id="kana"),
        pytest.param("배포", ("배", "배포", "포"), id="Hangul"),
        pytest.param("การ", ("กา", "การ", "าร"), id="Thai"),
        pytest.param("部署 deploy", ("部", "部署", "署", "deploi"), id="two scripts"),
        pytest.param("", (), id="empty"),
        pytest.param("... ??? - _", (), id="no word"),
    ],
)
def test_the_terms_of_a_text(text: str, terms: tuple[str, ...]) -> None:
    assert analyse(text).terms == terms


def test_tokens_keep_the_positions_of_stop_words() -> None:
    assert analyse("to be or not to be seen").tokens == ("to", "be", "or", "not", "to", "be", "seen")


def test_a_long_word_is_cut() -> None:
    assert analyse("x" * 500).terms == ("x" * MAX_TERM_CHARS,)


def test_a_long_compound_is_cut_and_its_parts_kept() -> None:
    assert analyse("/".join(["part"] * 50)).terms == ("/".join(["part"] * 50)[:MAX_TERM_CHARS], *["part"] * 50)


def test_no_term_or_token_is_empty() -> None:
    analysis = analyse("S'S s 's ' - part's s")
    assert "" not in analysis.tokens + analysis.terms


def test_no_term_or_token_holds_a_blank() -> None:
    analysis = analyse("a\u00a0b\u2003c\u3000d\te\nf 部\u3000署 g\u200bh")
    assert not any(character.isspace() for token in analysis.tokens for character in token)


def test_analysing_folded_text_changes_nothing() -> None:
    assert analyse("the deploy failed").terms == analyse("THE DÉPLOY FAILED").terms


@settings(max_examples=50)
@given(st.text(), st.text())
def test_two_texts_with_a_blank_between_have_the_terms_of_both(one: str, other: str) -> None:
    both = analyse(f"{one} {other}")
    assert both.tokens == analyse(one).tokens + analyse(other).tokens
    assert both.terms == analyse(one).terms + analyse(other).terms


def test_a_question_asks_for_its_distinct_terms_in_order() -> None:
    assert lexical_query("the deploy, the failed deploy") == LexicalQuery(terms=("deploi", "fail"))


def test_a_question_of_stop_words_is_a_phrase() -> None:
    assert lexical_query("To be or not to be?") == LexicalQuery(phrase=("to", "be", "or", "not", "to", "be"))


@pytest.mark.parametrize("question", ["", "   ", "???", "-- ' \" ()"])
def test_a_question_without_a_word_is_empty(question: str) -> None:
    assert lexical_query(question).is_empty


def test_a_question_in_an_unspaced_script_asks_for_pairs_alone() -> None:
    assert lexical_query("部署失败") == LexicalQuery(terms=("部署", "署失", "失败"))


def test_a_question_in_thai_asks_for_triples_alone() -> None:
    assert lexical_query("ประตู") == LexicalQuery(terms=("ประ", "ระต", "ะตู"))


def test_a_question_of_two_thai_signs_asks_for_them() -> None:
    assert lexical_query("งู") == LexicalQuery(terms=("งู",))


def test_a_question_of_one_character_asks_for_it() -> None:
    assert lexical_query("部") == LexicalQuery(terms=("部",))


def test_a_question_asks_for_a_korean_noun_of_one_syllable() -> None:
    assert lexical_query("앱은 언제 나와요?") == LexicalQuery(terms=("앱", "앱은", "나와", "와요"))


def test_an_unspaced_question_of_question_words_alone_asks_for_nothing() -> None:
    assert lexical_query("什么时候？").is_empty


def test_function_words_stay_among_the_tokens() -> None:
    assert analyse("не в базе").tokens == ("не", "в", "баз")


def test_function_words_are_listed_as_they_are_folded() -> None:
    assert [word for word in FUNCTION_WORDS if fold(word) != word] == []


def test_no_function_word_is_written_in_latin_letters() -> None:
    assert [word for word in FUNCTION_WORDS if re.search("[a-z]", word)] == []


def test_a_long_question_is_cut_to_its_first_terms() -> None:
    words = [f"w{number}x" for number in range(100)]
    assert lexical_query(" ".join(words)).terms == tuple(words[:MAX_QUERY_TERMS])


def test_query_syntax_in_a_question_is_only_words() -> None:
    assert lexical_query('kestrel* OR "owl" NEAR(x)') == LexicalQuery(terms=("kestrel", "owl", "near", "x"))


def test_a_word_of_mixed_scripts_keeps_its_ending() -> None:
    assert stem("serverы") == "serverы"


def test_a_lone_s_is_its_own_stem() -> None:
    assert stem("s") == "s"


def test_folding_takes_case_accents_and_possessive_away() -> None:
    assert [fold(word) for word in ("Café", "ANA'S", "ÅNGSTRÖM", "كـتـاب")] == ["cafe", "ana", "angstrom", "كتاب"]


def has_every_word(question: str, text: str) -> bool:
    asked, tokens = every_word(question), set(analyse(text).tokens)
    return bool(asked) and all(words & tokens for words in asked)


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("failing deploys", "the deploy failed"),
        ("payment-worker", "the payment worker"),
        ("src/app/main.py", "in src/app/main.py:10"),
        ("deploy", "the deployFailed hook"),
        ("O'Brien", "from Mr O’Brien"),
        ("Ana's", "Ana said"),
        ("to be or not to be", "not to be, or to be"),
        ("don't", "I don't"),
        ("C++", "written in C++"),
        ("付失", "今天支付失败了"),
        ("付", "支付"),
        ("فريق", "الفريق"),
        ("الفريق", "فريق"),
        ("מכתב", "והמכתב הזה"),
        ("ตลาด", "ไปตลาดกัน"),
        ("한국", "한국어로"),
        ("🚀", "launch 🚀"),
        ("18th", "on the 18"),
    ],
)
def test_a_text_with_every_word_of_a_question_is_recognised(question: str, text: str) -> None:
    assert has_every_word(question, text)


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("deploy failed", "the deploy went well"),
        ("C++", "plan C"),
        ("付款", "支付"),
        ("to be or not", "to be"),
        ("???", "???"),
        ("", "anything"),
    ],
)
def test_a_text_without_one_of_the_words_is_recognised(question: str, text: str) -> None:
    assert not has_every_word(question, text)


def test_words_without_a_meaning_are_searched_only_where_there_is_nothing_else() -> None:
    assert (every_word("the deploy"), every_word("the")) == ((frozenset({"deploi"}),), (frozenset({"the"}),))


def test_a_long_question_asks_for_its_first_words() -> None:
    assert len(every_word(" ".join(f"word{n}" for n in range(100)))) == 64


@pytest.mark.parametrize("sign", ["≠", "≮", "→", "🚀"])
def test_a_sign_is_found_unchanged(sign: str) -> None:
    assert has_every_word(sign, f"done {sign} shipped")


@settings(max_examples=300, deadline=None)
@given(st.text())
def test_a_text_has_every_word_of_itself(question: str) -> None:
    assert has_every_word(question, f"it was said: {question} , and then") or not every_word(question)


@pytest.mark.parametrize(
    ("text", "question", "expected"),
    [
        ("The worker crashed. Crashed!", "crashing workers", ("crashed", "worker")),
        ("The payment-worker crashed", "worker", ("worker",)),
        ("The payment-worker crashed", "payment-worker", ("payment-worker",)),
        ("Ana's dog, on Sunday", "Ana on Sundays", ("Ana", "Sunday")),
        ("CafÉ", "cafe", ("CafÉ",)),
        ("昨日は東京で会議がありました", "東京の会議", ("東京", "会議")),
        ("to be or not", "to be or not to be", ("to", "be", "or", "not")),
        ("nothing of it", "refund", ()),
    ],
)
def test_the_words_with_a_questions_terms_are_given_as_written(
    text: str, question: str, expected: tuple[str, ...]
) -> None:
    query = lexical_query(question)
    assert written(text, query.terms or query.phrase) == expected


@pytest.mark.parametrize("text", ["क" * 2_000 + "+", "क" * 200 + "/", "!" * 100_000, "क!" * 20_000])
def test_no_text_takes_exponential_or_quadratic_time(text: str) -> None:
    before = time.process_time()
    analyse(text)
    every_word(text)
    word_ends(text)
    assert time.process_time() - before < 2


@given(st.text(st.sampled_from("ab_!-+# 東京ขั한कि\u0301é9"), max_size=12))
def test_a_word_ends_where_the_letters_and_the_marks_beside_them_do(text: str) -> None:
    ends = word_ends(text)
    assert ends == sorted(set(ends))
    assert all(not text[end - 1].isspace() for end in ends)


def test_an_arabic_word_with_a_sharp_is_found_by_itself() -> None:
    assert all(not forms.isdisjoint(analyse("والفريق#").tokens) for forms in every_word("والفريق#"))
