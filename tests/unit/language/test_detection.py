"""The detection of languages: found in short questions, and never in English ones."""

from __future__ import annotations

import pytest

from remembrancer.language.detection import ENGLISH, languages_of, none_read, without_function_words

QUESTIONS = {
    "de": "Welche Schuhe habe ich gekauft?|Wo wohnt Ilse?|Wie heißt mein Hund?|Was esse ich am liebsten?",
    "fr": "Quelles chaussures ai-je achetées ?|Où habite Ilse ?|Comment s'appelle mon chien ?|Qu’est-ce que j’aime ?",
    "es": "¿Qué zapatos compré?|¿Dónde vive Ilse ahora?|cual es mi comida favorita|¿Quién viene el viernes?",
    "it": "Quali scarpe ho comprato?|Dove abita Ilse adesso?|Come si chiama il mio cane?|Chi viene venerdì?",
    "pt": "Que sapatos eu comprei?|Onde mora a Ilse agora?|Quando é minha próxima consulta?",
    "nl": "Welke schoenen heb ik gekocht?|Waar woont Ilse nu?|Hoe heet mijn hond?",
    "sv": "Vilka skor köpte jag?|Var bor Ilse nu?|När är min nästa tid?",
    "da": "Hvornår er min næste tid?|Hvorfor flyttede jeg?",
    "no": "Hvorfor flyttet jeg?|Hva heter hunden min?",
    "fi": "Missä Ilse asuu nyt?|Mikä koirani nimi on?",
    "pl": "Gdzie teraz mieszka Ilse?|Jak nazywa się mój pies?",
    "cs": "Kde teď bydlí Ilse?|Jak se jmenuje můj pes?",
    "hu": "Mikor van a következő időpontom?|Hogy hívják a kutyámat?",
    "ro": "Ce pantofi am cumpărat?|Când este următoarea mea programare?",
    "tr": "Ilse şimdi nerede oturuyor?|Bir sonraki randevum ne zaman?",
    "id": "Sepatu apa yang saya beli?|Siapa nama anjing saya?",
    "hr": "Gdje sada živi Ilse?|Kako se zove moj pas?",
    "vi": "Tôi đã mua đôi giày nào?",
    "ru": "Какие туфли я купил?",
    "el": "Ποια παπούτσια αγόρασα;",
    "he": "איזה נעליים קניתי?",
    "ar": "ما الحذاء الذي اشتريته؟",
    "ja": "私はどの靴を買いましたか?",
    "zh": "我买了哪双鞋?",
    "ko": "내가 어떤 신발을 샀지?",
}
ENGLISH_TEXTS = (
    "which shoes did i buy?|where does José live now?|Was it in Berlin?|Who is Dan van der Berg?|Is Dove from Málaga?"
    "|did Zoë and François go to São Paulo or to Los Angeles?|Die Hard or Das Boot?|checkout-worker OOM in Zürich"
    "|the café on Rue de la Paix|wat was thier adress agian|teh dog's nmae|non-ASCII in name|pip install numpy"
    "|SELECT id FROM memories WHERE kind IN ('a', 'b')|for i in range(min(end, at)): pass|def main() -> None:"
    "|Kim, Ben, Jen, Hans and Ali|El Niño|La La Land|Who sang Despacito?|what does 'mañana' mean?|Can Ute come?|Oslo?"
    "|er no|I am in|Los Angeles|per se|comment on the PR|pour some sugar|see the era of solo acts|sub total in EUR"
)


@pytest.mark.parametrize(
    ("language", "question"), [(one, text) for one, texts in QUESTIONS.items() for text in texts.split("|")]
)
def test_a_short_question_has_its_language(language: str, question: str) -> None:
    assert language in languages_of(question)
    assert ENGLISH not in languages_of(question)


@pytest.mark.parametrize("text", ENGLISH_TEXTS.split("|"))
def test_english_with_names_typing_errors_or_code_is_no_other_language(text: str) -> None:
    assert none_read(languages_of(text), {ENGLISH}) is None


@pytest.mark.parametrize("text", ["", " ", "?", "42", "…", "🙂", "Ilse"])
def test_a_text_without_function_words_has_no_language(text: str) -> None:
    assert languages_of(text) == ()


def test_a_language_that_is_read_is_not_named() -> None:
    assert none_read(languages_of("Wo wohnt Ilse?"), {"de", "fr"}) is None
    assert none_read(languages_of("Where does she live now?"), {"de", "fr"}) == ENGLISH


def test_a_language_that_may_be_one_that_is_read_is_not_named() -> None:
    assert none_read(languages_of("Hvor er hunden min?"), {"da"}) is None


def test_a_question_of_function_words_only_keeps_them() -> None:
    assert without_function_words("Was ist das?", "de") == "Was ist das?"
