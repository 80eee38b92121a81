from __future__ import annotations

from collections.abc import Iterator

import pytest

from remembrancer import Remembrancer
from remembrancer.testing.doubles import FixedClock, HashEmbedder

TEXTS = (
    "O'Brien didn't approve the customer's refund",
    "Call connect(host, port) before flush()",
    "The parser is written in C++ and the tools in C#",
    "See src/app/main.py and /etc/nginx/nginx.conf",
    r"The share is \\server\logs\today.txt",
    "Write to ana.silva@example.com about the invoice",
    "Shipped 🚀 at noon",
    "Version v1.2.3 broke foo_bar and payment-worker",
    "结账服务使用端口八零八零",
    "東京タワーの高さは三百三十三メートルです",
    "서울에서 회의가 열립니다",
    "تم إطلاق الخدمة الجديدة في القاهرة",
    "Сервер упал после обновления базы данных",
    "Η βάση δεδομένων μεταφέρθηκε στην Αθήνα",
    "การประชุมจะจัดขึ้นที่กรุงเทพ",
    "डेटाबेस दिल्ली में है",
    "Das Straßenfest in Zürich",
    "L'été dernier à l'hôtel",
    "ＦＵＬＬ ＷＩＤＴＨ text 42",
)


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        ("What did O'Brien not approve?", 0),
        ("didn't approve", 0),
        ("customers refund", 0),
        ("connect(host, port)", 1),
        ("flush() AND (host OR", 1),
        ('"connect" NEAR/2 port*', 1),
        ("who knows C++?", 2),
        ("C#", 2),
        ("src/app/main.py", 3),
        ("main.py", 3),
        ("nginx.conf", 3),
        (r"\\server\logs\today.txt", 4),
        ("ana.silva@example.com", 5),
        ("silva", 5),
        ("🚀", 6),
        ("v1.2.3", 7),
        ("foo_bar", 7),
        ("payment worker", 7),
        ("哪个端口", 8),
        ("结账服务", 8),
        ("東京タワー", 9),
        ("高さ", 9),
        ("서울 회의", 10),
        ("الخدمة الجديدة", 11),
        ("القاهرة", 11),
        ("обновление базы", 12),
        ("СЕРВЕР", 12),
        ("βαση δεδομενων", 13),
        ("ประชุม", 14),
        ("दिल्ली", 15),
        ("strassenfest zurich", 16),
        ("hotel", 17),
        ("été", 17),
        ("full width", 18),
    ],
)
def test_a_text_is_found_by_its_words_in_any_script(wordy: Remembrancer, asked: str, expected: int) -> None:
    wordy.observe_many({"text": text} for text in TEXTS)
    assert [hit.memory.text for hit in wordy.recall(asked)][:1] == [TEXTS[expected]]


@pytest.mark.parametrize("asked", ["'", '"', "(((", "*", "AND OR NOT", "a" * 5000, "-", "\\", "{x} : ^", "\u202e"])
def test_no_question_is_taken_for_search_syntax(wordy: Remembrancer, asked: str) -> None:
    wordy.observe_many({"text": text} for text in TEXTS)
    assert wordy.recall(asked).query == asked


class English(HashEmbedder):
    """An embedder whose model was trained in English."""

    @property
    def languages(self) -> frozenset[str]:
        return frozenset({"en"})


GERMAN = (
    "Ich habe gestern rote Schuhe in Leipzig gekauft.",
    "Meine Schwester Ilse wohnt jetzt in Bremen.",
    "Am Freitag kommt der Peter zu uns.",
    "Mein Hund heißt Bello.",
    "Ich esse am liebsten Kartoffelsalat.",
)


@pytest.fixture
def english(clock: FixedClock) -> Iterator[Remembrancer]:
    with Remembrancer.open(":memory:", embedder=English(), clock=clock, settings={"background_index": False}) as rem:
        rem.observe_many({"text": text, "actor": "Jonas"} for text in GERMAN)
        rem.jobs.index_now()
        yield rem


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        ("Welche Schuhe habe ich gekauft?", 0),
        ("Wo wohnt Ilse?", 1),
        ("Wer kommt am Freitag?", 2),
        ("Wie heißt mein Hund?", 3),
        ("Was esse ich am liebsten?", 4),
    ],
)
def test_a_question_in_a_language_the_model_does_not_read_says_so(
    english: Remembrancer, asked: str, expected: int
) -> None:
    found = english.recall(asked)
    assert found.degraded == {"language": "hash-256 does not read German: found by words at best"}
    assert found[0].memory.text == GERMAN[expected]


def test_a_question_in_a_language_the_model_reads_says_nothing(english: Remembrancer) -> None:
    assert english.recall("where does Ilse live?").degraded == {}


def test_nothing_is_said_of_a_model_whose_languages_are_unknown(rem: Remembrancer) -> None:
    assert rem.recall("Wo wohnt Ilse?").degraded == {}


def test_the_doctor_warns_of_texts_in_a_language_the_model_does_not_read(english: Remembrancer) -> None:
    [found] = [one for one in english.health.doctor() if one.check == "languages"]
    assert (found.ok, found.warning) == (True, True)
    assert found.detail == "of the 5 newest texts, 5 German; hash-256 reads English"


def test_the_doctor_does_not_warn_of_a_few_such_texts(english: Remembrancer) -> None:
    english.observe_many({"text": f"The deploy of service {number} was a success."} for number in range(100))
    [found] = [one for one in english.health.doctor() if one.check == "languages"]
    assert (found.warning, found.detail) == (False, "hash-256 reads English")
