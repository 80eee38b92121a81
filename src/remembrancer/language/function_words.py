"""Function words of scripts other than Latin: grammatical words and question words.

Like the English `stop_words`, they are ignored in ranking. Half of a question in an inflecting language consists of
them; without this list, a short question would not reach the coverage that an answer needs. Latin script has no list,
because one language's function word is another's noun or verb ("die"); idf handles these.
"""

import re
from functools import cache
from typing import Final

from remembrancer.patterns import pattern

FUNCTION_WORDS: Final = frozenset(
    # Russian, with words that Ukrainian, Belarusian and Bulgarian spell alike.
    """
    а без бы был была были было быть в вам вас ваш весь во вот все всего всех вы где для до его ее если есть еще же
    за зачем и из или им их к как какая какие какого какой какую ко когда кого кому кто куда мне мой мы на над нас
    наш не него нее нет ни них но ну о об он она они оно от откуда перед по под почему при про с сам сколько со так там
    то того тоже только у уже чего чем через что чтобы чья чей эта эти это этого этой этом этот эту я
    """
    # Arabic: particles, pronouns, question words; including forms with attached conjunctions and prepositions.
    """
    ان او اي اين اذا الا الى التي الذي الذين اللذين اما انا انت انه انها اني ايضا بعد بعض بل به بها بين تلك ثم
    حتى حيث خلال ذلك عن عند عنده عندها على عليه عليها فقط في فيه فيها قبل قد كان كانت كل كم كما كيف لا لان لدى لديه
    لديها لقد لكن لم لماذا لن له لها لهم ليس ما ماذا متى مع من منذ منه منها نحن هذا هذه هل هم هناك هو هي و وان وفي
    وقد وكان ولا ولم ومن وهو وهي يا
    """
    # Greek.
    """
    αν αλλα απο αυτα αυτη αυτην αυτο αυτος αυτου γιατι για δε δεν δια εαν εγω εδω ειμαι ειναι ειχε εκει εμεις εναν ενα
    ενας ενος επειδη ετσι εχει εχουμε εχουν εχω η ηταν θα και κατα κι μας με μεν μετα μη μην μια μιας μονο μου μπορει
    να ο οι ομως οπου οπως οπως οσο οταν οτι ουτε πολυ ποια ποιας ποιες ποιο ποιοι ποιον ποιος ποιου ποτε που προς πως
    σαν σας σε στα στη στην στης στις στο στον στους στου στων συ τα τη την της τι τις το τον του τους των ως
    """
    # Hindi: postpositions, auxiliaries, pronouns, question words, without virama, chandrabindu as anusvara.
    """
    अब अगर अपना अपनी अपने आप इन इस इसका इसकी इसके इसमें इसे उन उनका उनकी उनके उस उसका उसकी उसके उसने उसे ऐसे
    और कब करता करती करते करना करने करें कहां का कि किन किया किए किस किसका किसकी किसके किसको किसने किसी किसे की
    कुछ के कैसा कैसी कैसे को कोई कौन कया कयों गई गए गया जब जहां जा जाता जाती जाते जाने जिस जो तक तब तो था थी थे
    दिया न नहीं ने पर फिर बहुत भी मुझे में मेरा मेरी मेरे मैं मैंने यदि यह यहां या ये रहा रही रहे लिए लेकिन
    वह वहां वाला वाली वाले वे सकता सकते से हम हमने हमारा हमारे हमें ही हुआ हुई हुईं हुए है हैं हो होगा होगी
    होता होती होते होना होने
    """
    # Hebrew.
    """
    אבל או אותה אותו אותי אז אחרי איזה איזו אילו אימ איפה איכ אינ אל אלה אנחנו אני את אתה אתמ בגלל בינ גמ הוא היא
    היה היו היתה המ הנ זאת זה זו יש כאנ כאשר כי כל כמה כמו כנ כש כשה לא לאנ לה להמ לו לי למה למי לנו לפני מאוד מאינ
    מדוע מה מהו מהי מי מישהו מנ מתי עד עוד על עליו עליה עלינו עמ פה רק שהוא שהיא של שלה שלהמ שלו שלי שלנו
    """.casefold().split()  # turns the Greek final sigma into the ordinary one
)
"""Spelled as `lexical.fold` returns them: no accents, vowel points, virama or hamza; Hebrew final letters as ordinary
ones.
"""

# Chinese, Japanese, Thai, Korean: question words, particles and sentence endings that rarely occur inside a word at its
# edge, or occur only where an ending can. A wrong cut is made in texts and questions alike.
_CHINESE: Final = """
    为什么 為什麼 什么时候 什麼時候 什么 什麼 怎么样 怎麼樣 怎么 怎麼 怎样 怎樣 哪里 哪裡 哪儿 哪个 哪個 哪位 哪些 哪天
    是谁 是誰 是否 是不是 有没有 有沒有 多少 几号 幾號 几点 幾點 吗 嗎 呢
"""
_JAPANESE: Final = """
    でしょうか でしたか ましたか ませんか ですか ますか でしょう でした ました ません です ます ください
    どうして どうやって どのように どこで どこに どこへ どこ だれ なぜ なに どれ どんな いつまで いつから いつ
    していました していますか しています している しました しますか します する について という ので から まで を
"""
_THAI: Final = """
    ทำไม ใคร อะไร เมื่อไร เมื่อไหร่ ที่ไหน อย่างไร ยังไง เท่าไร เท่าไหร่ หรือไม่ หรือเปล่า หรือยัง ไหม เพราะ
"""
_KOREAN_WORDS: Final = """
    언제까지 언제부터 언제 어디에서 어디서 어디에 어디로 어디 누구의 누구 누가 무엇을 무엇이 무엇 어떻게 어떤 얼마나
"""
_KOREAN_ENDINGS: Final = """
    습니다 습니까 합니다 합니까 입니다 입니까 됩니다 됩니까 인가요 었나요 했나요 나요 까요 어요 아요 세요 에요 해요 네요
"""


def _any_of(sequences: str) -> str:
    """A pattern of these sequences, longest first, because the first alternative wins."""
    return "|".join(sorted(sequences.split(), key=lambda sequence: (-len(sequence), sequence)))


_HANGUL: Final = "\uac00-\ud7a3"


@cache
def function_run() -> re.Pattern[str]:
    """A pattern that matches a function word or ending inside a run of a script without spaces.

    Compiled on first use: compiling takes longer than analysing a text, and most processes do not need it.
    """
    lists = (_CHINESE, _JAPANESE, _THAI, _KOREAN_WORDS, _KOREAN_ENDINGS)
    first = "".join(sorted({sequence[0] for sequences in lists for sequence in sequences.split()}))
    return re.compile(
        f"(?=[{first}])"  # the lookahead rejects most characters early: this pattern dominates the cost of analysis
        f"(?:{_any_of(_CHINESE + _JAPANESE + _THAI)}"
        f"|(?<![{_HANGUL}])(?:{_any_of(_KOREAN_WORDS)})(?=[은는이가을를도인입]?(?![{_HANGUL}])|입니|인가)"
        f"|(?<=[{_HANGUL}])(?:{_any_of(_KOREAN_ENDINGS)})(?![{_HANGUL}]))"
    )


KOREAN_SYLLABLE: Final = pattern(
    f"(?<![{_HANGUL}])([{_HANGUL}])(?:은|는|이|가|을|를|의|에|도|만|와|과|로)(?![{_HANGUL}])"
)
"""A one-syllable noun with a particle. The pair would not match the noun with another particle, so the syllable is a
term.
"""
