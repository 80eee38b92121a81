"""Memories in scripts other than Latin, asked for in other forms of their words, through the public API."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from importlib.util import find_spec

import pytest
from conversations import CONVERSATIONS, Conversation

from remembrancer import AsyncRemembrancer, Remembrancer, Settings
from remembrancer.testing.doubles import FixedClock

QUIET = Settings(db=":memory:", workspace="acme", background_index=False)

QUESTIONS = [
    pytest.param(script, question, place, id=f"{script}-{question}")
    for script, conversation in CONVERSATIONS.items()
    for question, place in conversation.asked
]

MIXED = Conversation(
    (
        "Kubernetes 集群昨晚升级到了新版本。",
        "Grafana 面板显示内存一直在增长。",
        "Redis のキャッシュを火曜日に消しました。",
        "Kafka를 새 서버로 옮겼습니다.",
        "Мы храним журналы в Elasticsearch тридцать дней.",
        "نقلنا قاعدة PostgreSQL إلى الخادم الجديد.",
        "支付网关监听端口８０８０。",
        "الخدمة تعمل على المنفذ ٩٠٩٠.",
        "सर्वर पोर्ट ७०७० पर चलता है।",
        "Le café de la réunion était fermé à midi.",
        "Élodie a déménagé à Orléans pendant l'été.",
        "Đặng Thị Lan phê duyệt ngân sách quý này.",
        "Nguyễn Văn Bình nghỉ phép đến thứ Hai.",
        "İstanbul ofisi ışıkları açık bırakmış.",
        "ISPARTA deposu kapandı.",
        "Die Straße vor dem Büro ist gesperrt.",
        "Frau Größer prüft die Verträge.",
        "ﾃﾞｰﾀの移行が終わりました。",
    ),
    (
        ("Kubernetes 什么时候升级的？", 0),
        ("哪个面板显示内存增长？", 1),
        ("Grafana 显示了什么？", 1),
        ("Redis はいつ消しましたか？", 2),
        ("Kafka는 어디로 옮겼나요?", 3),
        ("Сколько дней журнал лежит в Elasticsearch?", 4),
        ("أين نقلتم PostgreSQL؟", 5),
        ("端口8080 给谁用？", 6),
        ("支付网关的端口是多少？", 6),
        ("9090", 7),
        ("7070", 8),
        ("cafe ferme a midi", 9),
        ("Quand le CAFÉ était-il fermé ?", 9),
        ("ou Elodie a-t-elle demenage ?", 10),
        ("dang thi lan phe duyet gi", 11),
        ("ĐẶNG THỊ LAN", 11),
        ("dang", 11),
        ("nguyen van binh nghi den bao gio", 12),
        ("istanbul ofisi", 13),
        ("ISIKLARI", 13),
        ("ısparta", 14),
        ("isparta", 14),
        ("strasse gesperrt", 15),
        ("STRASSE", 15),
        ("grösser Verträge", 16),
        ("データの移行", 17),
    ),
)


def memory_of(conversation: Conversation, embedder: str = "none") -> Remembrancer:
    opened = Remembrancer.open(embedder=embedder, settings=QUIET, clock=FixedClock())
    for text in conversation.said:
        opened.remember(text)
    return opened


@pytest.fixture(scope="module")
def memories() -> Iterator[dict[str, Remembrancer]]:
    """A memory for each script, without an embedder."""
    opened = {script: memory_of(conversation) for script, conversation in CONVERSATIONS.items()}
    yield opened
    for memory in opened.values():
        memory.close()


@pytest.fixture(scope="module")
def mixed() -> Iterator[Remembrancer]:
    with memory_of(MIXED) as opened:
        yield opened


@pytest.mark.parametrize(("script", "question", "place"), QUESTIONS)
def test_a_question_in_other_forms_of_the_words_finds_its_answer_first(
    memories: dict[str, Remembrancer], script: str, question: str, place: int
) -> None:
    [first, *_] = [hit.memory.text for hit in memories[script].recall(question)] or [""]
    assert first == CONVERSATIONS[script].said[place]


@pytest.mark.parametrize("script", CONVERSATIONS)
def test_a_question_about_something_else_finds_nothing(memories: dict[str, Remembrancer], script: str) -> None:
    others = {
        "Chinese": "月亮上有多少座火山？",
        "Japanese": "火星の火山はどれですか？",
        "Korean": "화성에는 화산이 얼마나 많습니까?",
        "Thai": "มหาสมุทรแปซิฟิกลึกกี่เมตร",
        "Arabic": "كم بركانا على المريخ؟",
        "Russian": "Сколько на Марсе вулканов?",
        "Hindi": "मंगल ग्रह पर कितने ज्वालामुखी हैं?",
        "Greek": "Πόσα ηφαίστεια έχει ο Άρης;",
        "Hebrew": "כמה הרי געש יש על מאדים?",
    }
    assert [hit.memory.text for hit in memories[script].recall(others[script])] == []


@pytest.mark.parametrize(("question", "place"), MIXED.asked)
def test_scripts_digits_and_accents_may_differ(mixed: Remembrancer, question: str, place: int) -> None:
    [first, *_] = [hit.memory.text for hit in mixed.recall(question)] or [""]
    assert first == MIXED.said[place]


def test_all_scripts_live_in_one_memory() -> None:
    said = tuple(text for conversation in CONVERSATIONS.values() for text in conversation.said)
    first = [(question, c.said[place]) for c in CONVERSATIONS.values() for question, place in c.asked[:3]]
    with memory_of(Conversation(said, ())) as memory:
        assert [(question, memory.recall(question).hits[0].memory.text) for question, _ in first] == first


def test_without_an_embedder_the_answer_reports_lexical_search_only(
    memories: dict[str, Remembrancer],
) -> None:
    assert memories["Russian"].recall("сервис").degraded == {"dense": "no embedder: lexical recall only, as asked for"}


needs_the_local_model = pytest.mark.skipif(
    any(find_spec(name) is None for name in ("remembrancer_minilm", "onnxruntime", "tokenizers")),
    reason="extra local not installed",
)


@needs_the_local_model
@pytest.mark.parametrize("script", CONVERSATIONS)
def test_other_scripts_than_the_local_embedders_are_searched_lexically_and_that_is_reported(script: str) -> None:
    conversation = CONVERSATIONS[script]

    async def ask() -> list[tuple[str, str]]:
        async with await AsyncRemembrancer.open(embedder="local", settings=QUIET, clock=FixedClock()) as memory:
            for text in conversation.said:
                await memory.remember(text)
            await memory.jobs.index_now()
            answers = [await memory.recall(question) for question, _ in conversation.asked]
            return [(answer.hits[0].memory.text, answer.degraded["dense"]) for answer in answers]

    unsupported = "all-MiniLM-L6-v2/int8 does not read the question's script: words only"
    assert asyncio.run(ask()) == [(conversation.said[place], unsupported) for _, place in conversation.asked]


@needs_the_local_model
def test_the_local_embedder_reads_a_question_that_is_mostly_latin() -> None:
    with memory_of(MIXED, "local") as memory:
        memory.jobs.index_now()
        answer = memory.recall("Kubernetes cluster 升级")
        assert (answer.hits[0].memory.text, answer.degraded.get("dense", "")) == (MIXED.said[0], "")
