"""Detecting the language of a text: by its script, and in Latin script by the language's function words.

English is taken for granted: another language is named only if a text has at least two of its words, and more of them
than of English ones. So a name, a typing error, a quoted phrase or a line of code is no other language, and a text of
one or two words mostly has no detected language.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from functools import cache
from typing import Final

from remembrancer.patterns import pattern

ENGLISH: Final = "en"

_WORDS: Final[Mapping[str, tuple[str, str]]] = {
    "de": (
        """aber alle alles als auch auf aus bei beim bis bist bitte damit danke dann dass daß dein deine dem den denn
        der deren des dich dir doch dort du durch ein eine einem einen einer eines er es etwas euch für gab
        gegen gehabt geht gemacht gesagt gestern gewesen gibt haben habe hast hatte hatten hier ich ihm ihn
        ihr ihre im immer ins ist ja jede jeder jetzt kann kannst kein keine können könnte mein meine meinem
        meinen meiner mich mir mit möchte muss müssen nach nicht nichts noch nur ob oder ohne schon sehr
        sein seine seit sich sie sind soll sollte über um und uns unser unsere unter viel viele vom von vor
        wann warum weil welche welcher welches wem wen wenn wer werden wie wieder wir wird wo wohin woher
        wurde wurden zu zum zur zwischen hätte würde wäre heute morgen""",
        "am an das die hat in man so war was will bin den des",
    ),
    "fr": (
        """c' d' j' l' m' n' qu' s' t' jusqu' aujourd' alors après aucun au aussi autre aux avais avait avant avec avez
        avoir avons beaucoup bien ce cela celle ces cet cette chez combien comme comment dans depuis dire
        dit donc dont du elle elles en encore entre est et était étaient été êtes être eu fait faut hier ici
        il ils jamais je leur leurs lui ma mais même mes mon ne ni nos notre nous où ou parce pas pendant
        peu peut peux plus pour pourquoi puis quand que quel quelle quelles quels qui quoi sa sans sera ses
        si sommes son sont souvent sous suis sur ta tes toi ton toujours tous tout toute toutes très trop tu
        un une vers voici voilà vos votre vous vont y à ça des""",
        "a on me or the la le les de se",
    ),
    "es": (
        """ahora algo algún alguien ante antes aquí así aunque ayer bien cada casi cómo como con contra cosas cuál
        cuándo cuando cuánto cuántos cuánta cuántas desde después dice dijo dónde donde durante e ella ellos
        en entre era eran eres es esa ese eso esta está estaba están estar este esto estos estoy fue fueron
        gracias ha había hace hacer han has hasta hay hecho hoy hubo la las lo los más mejor mi mis mientras
        mucho muchos muy nada nadie ni nos nosotros nuestra nuestro nunca o otra otro para pero poco por
        porque pues puede puedo qué que quién quien quiero se sea ser si sí sido siempre sin sobre solo sólo
        somos son soy su sus también tanto te tengo tenía tiene tienen todo todos tu tú tuvo un una uno unos
        usted ustedes va vez y ya yo""",
        "a al de del el he me no has son",
    ),
    "it": (
        """abbiamo adesso agli ai alla alle allo altri altro anche ancora anni aveva avevo avete avuto bene c che chi
        ci cioè come con cosa così cui da dai dal dalla delle degli dei del della dello dentro deve di dice
        dopo dove due e è ed era erano essere fa fare fatto fino forse gli grazie ha hai hanno ho i ieri il
        in io la le lei li lo loro lui ma mai meno mentre mi mia mie mio molto nei nel nella nelle nessuno
        niente noi non nostra nostro o oggi ogni ora per perché perchè però più poco poi posso prima può
        qual quale quali quando quanto quanti quasi quella quelli quello questa queste questo qui se sei
        sempre senza si sì siamo siete solo sono sopra sotto sta stai stata stato su sua sue sul sulla suo
        suoi ti tra troppo tu tua tuo tutti tutto un una uno va verso vi voi vorrei""",
        "a al in no me i per due come c",
    ),
    "pt": (
        """agora ainda além algo alguém alguns antes ao aos apenas aqui até cada com como contra da das de dele depois
        desde disse do dos e é ela elas ele eles em então entre era eram essa esse esta está estamos estão
        estar estava este estou eu fazer fez foi fora foram há hoje isso isto já lá lhe mais mas melhor
        mesmo meu meus minha minhas muito muitos na nada não nas nem nenhum no nos nós nossa nosso num numa
        nunca o obrigado onde ontem os ou outra outro para pela pelo pode pois por porque qual quais quando
        quanto quantos que quê quem quero são se seja sem sempre ser será seu seus só sobre sua suas também
        te tem têm tenho ter teve tinha tive todo todos tudo um uma umas uns vai você vocês""",
        "a as me no do pass e da",
    ),
    "nl": (
        """aan al als altijd andere ben bent bij daar dan dat deze die dit doch door dus een eens en er gaan gaat geen
        geweest haar had hebben hebt heb heeft heel hem het hier hij hoe hoeveel hun ik iets ja je jij jou
        jouw jullie kan kunnen laatste maar meer men met mij mijn moet moeten naar niet niets nog nu of om
        omdat onder ons onze ook op over reeds te tegen toch toen tot u uit uw van veel voor waar waarom
        waren wanneer wat welke werd wie wij wil worden wordt zal ze zelf zich zij zijn zo zonder zou
        gisteren vandaag heeft dankjewel""",
        "de is was in me we met over had kan of door men die",
    ),
    "sv": (
        """alla allt att av bara blev bli blir från den denna det detta dig din ditt du där efter ej eller en ett finns
        för förra gick gjorde göra ha hade hans har hon honom hos hur här i igår ikväll inte ja jag jämt kan
        kommer kunde man med mellan men mig min mina mitt mot mycket någon något några när nu och också om
        oss på samma sedan sig sin sina sitt ska skulle som så till tack under upp ut utan vad var varför
        varit vem vi vid vilka vilken vilket vill är åt över""",
        "du i man men under ha min den dig ej",
    ),
    "da": (
        """af aldrig alle alt at blev blive bliver både da de dem den denne der deres det dette dig din disse dog du
        efter ej eller en end er et for fordi fra få går gik gjorde ham han hans har havde have hen hende
        hendes her hos hun hvad hvem hver hvilke hvilken hvis hvor hvordan hvorfor hvornår i ikke ind ingen
        jeg jer kan kom kunne man med meget mellem men mig min mine mit mod må ned nej nogen noget nogle nu
        når og også om op os over på sagde samme selv ser sig sin sine skal skulle som sådan tak thi til ud
        under var ved vi vil ville vores være været""",
        "at for have her over under man men kan du i vil min end de den dig hen",
    ),
    "no": (
        """alle alt at av bare ble bli blir både da de deg dem den denne der deres det dette din disse du eller en enn
        er et etter fordi for fra få gikk gjorde gå ha hadde ham han hans har henne her hos hun hva hvem
        hver hvilken hvis hvor hvordan hvorfor i ikke ingen inn jeg kan kom kunne man med meg mellom men mer
        min mine mitt mot mye må nei noe noen nå når og også om opp oss over på sa samme seg si sin sine
        skal skulle som så til takk under ut var ved vi vil ville vår være vært""",
        "at for her over under man men kan du i ha min de den dig",
    ),
    "fi": (
        """ei eikä ette että eivät emme en hän hänen he heidän jo joka jos jossa ja kanssa kaikki keskellä kenen kiitos
        kuin kuinka kuka kun koska ketä koskaan kyllä kymmenen meidän me mikä miksi millainen milloin minkä
        minun minulla minä minut missä mistä mitä mihin monta mutta myös ne nyt näin oli olivat olen olemme
        olet olin olisi ole olla on ovat paljon sama se sen sekä siellä siinä sille sinun sinä sitten sitä
        tai te tämä tämän tänään täällä vain vielä voi voinko eilen mulla sulla""",
        "on me he no se",
    ),
    "pl": (
        """ale bardzo bez był była było były być chcę ci ciebie co coś czemu czy czego dla dlaczego do dobrze dzisiaj
        gdy gdzie go i ich ile im ja jak jaka jaki jakie jako jego jej jest jestem jeszcze jeśli już każdy
        kiedy kogo komu kto która które który którzy ma mam mamy mi mną mnie moja moje mogę może można mój
        musi na nad nam nas nasz nawet nic nie niego niej nigdy nim o od on ona oni ono oraz po pod ponieważ
        przed przez przy się są sobie swoje ta tak także tam te tego tej ten też to tu tutaj ty tylko tym u
        w wczoraj wiem więc wszystko wtedy z za zawsze ze że żeby""",
        "do to on i go my a no",
    ),
    "cs": (
        """aby ale ani asi až bez bude budou by byl byla bylo byly být co což či dnes do ho i já jak jaká jaké jaký
        jako je jeho její jejich jen jenom ještě ji jich jim již jsem jsi jsme jsou jste k kam kde kdo kdy
        kdyby když která které který kolik má mám máme mé mi mít mě můj můžu může my na nad nám nás náš nebo
        nejsou není než nic o od on ona oni ono pak po pod podle pokud pro proč proto protože před přes při
        s se si své svůj ta tady tak také tam te teď ten tento to tohle toho tu ty u už v včera vám vás více
        však všechno všichni vždy z za ze že""",
        "do to on i my a pro je",
    ),
    "hu": (
        """a abban ahhoz aki akkor alatt amely ami amikor amit az azok azt azért be benne csak de ebben egy egyik el
        előtt ember én ennek ez ezek ezt fel hanem hogy hogyan hol honnan hova hozzá igen ilyen is itt jó
        kell ki kinek kit lehet lesz ma már még meg mely melyik mennyi mert mi mikor milyen mint mindig mit
        miért most nagyon nálam ne nekem neki nem nincs olyan on ott pedig sem semmi szerint tegnap te ti
        tudom úgy után vagy vagyok van vannak volt voltak vele""",
        "a is be most van on meg de ki el",
    ),
    "ro": (
        """acest aceasta această acesta acum ai al ale am aș ar are asta astăzi atunci au avea avut azi că când care ce
        cel cele cine cinci cât câte câți cu cum cumva da dacă dar de deci despre din dintre doar după e ea
        ei el ele era este eu fi fie fost foarte fără iar ieri îi îl îmi în încă între își îți la le lor lui
        mai mea mei mele mereu meu mine mi mult nici nimic noastră noi nostru nu o ori pe pentru peste poate
        prin sa să săi sau se si și sub sunt suntem ta tău te toate tot tu un una unde unei unor unui va vă
        voi vom vostru""",
        "a am are de la care cum pe o ai",
    ),
    "tr": (
        """acaba ama ancak aslında artık az bana bazı belki ben benden beni benim bir biri birkaç biz bizim bu bugün
        buna bunu bunun burada çok çünkü da daha dahi de defa değil diye dün eğer en gibi hangi hangisi hem
        henüz hep hepsi her hiç için ile ise işte kaç kadar ki kim kime kimin mı mi mu mü nasıl ne neden
        nedir nerede nereye neyi niçin niye o olan olarak oldu olduğu olsa olur ona onlar onu onun oysa şey
        siz şu sana sen seni senin sonra tüm var ve veya ya yani yok yoksa zaman""",
        "her in on can at ben var de",
    ),
    "id": (
        """ada adalah agar akan aku anda apa apakah atau bagaimana bahwa banyak barang beberapa belum berapa bisa bukan
        dalam dan dapat dari dengan di dia dimana engkau hanya hari harus ini itu jadi juga kami kamu kapan
        karena ke kemarin kepada kita lagi lebih maka mana masih mereka mengapa milik namun oleh pada para
        pernah saat saja sama sangat saya sebagai sebuah sekarang semua seperti sesuatu setelah siapa sudah
        tadi tapi telah tentang terima tetapi tidak untuk yang""",
        "di ada sama dia",
    ),
    "hr": (
        """ali bila bili bilo bio biti bez ću će da dali danas do dok gdje hoću hvala i ili ima imam iz ja jesam jesi
        je jer još jučer kad kada kako kao koja koje koji koliko kome kroz li me meni mi mene moj moja moje
        može možda mogu na nad nakon nam nas naš ne nego neka neki nema ni nije nisam nisu o od on ona oni
        ono ovaj ovo po pod prije preko pri sa sam samo se sebe si smo su sve svi svoj šta što ta tada tako
        taj te tebe ti to toga tu tvoj u uz va već vi vrlo za zašto""",
        "do to on me i a sam no mi",
    ),
    "vi": (
        """anh ấy bạn bao bằng bị biết các cái cần chị chỉ chúng chưa cho chứ có còn của cũng đã đang đâu đây để đến đi
        điều được em gì giờ hay hơn hôm khi không là làm lại lên lúc mà mình một muốn nào này nên nếu ngày
        người nhiều như những nói nó ở phải qua ra rất rồi sao sau sẽ tại theo thế thì tôi trong trước từ và
        vẫn vào về việc vì với""",
        "anh em hay qua sao sau",
    ),
}
"""For each language its function words; and those of them that are also English words, or parts of names. Those of the
second kind count half, and only beside one of the first.
"""

# Function words of a language that are English words, names or abbreviations too.
_SHARED: Final = frozenset(
    """
    ad ada al ale ali ani ante ben bent bin bis com comment con contra dan del den des dia dire dos dove eh el
    em ember en encore era est et eu ex fare fin fort ha hans heel hem hen hun id io jen jim ki kim las lei les li
    los ma mai men meta mia min mine na nada nam nano ne non nu op os pan para pas per plus pod pour sam sans se
    sea seg sen ser set si sin solo sub sue sum ta tak tam ten til ton tot tous tout tu uit una uno van ver vi
    via vis vos wat yo ze
    """.split()
)

# Letters that these languages write and English does not.
_LETTERS: Final[Mapping[str, str]] = {
    "de": "äöüß",
    "fr": "àâçéèêëîïôùûœ",
    "es": "áéíóúñü¿¡",
    "it": "àèéìòù",
    "pt": "áâãàçéêíóôõú",
    "sv": "åäö",
    "da": "æøå",
    "no": "æøå",
    "fi": "äö",
    "pl": "ąćęłńóśźż",
    "cs": "áčďéěíňóřšťúůýž",
    "hu": "áéíóöőúüű",
    "ro": "ăâîșțşţ",
    "tr": "çğıöşü",
    "hr": "čćđšž",
    "vi": "ăâđêôơưạảấầậắằặẹẻẽềếểễệỉịọỏốồổỗộớờởỡợụủứừửữựỳỵỷỹ",
}

# Everyday English words, also those that another language spells alike.
_ENGLISH: Final = frozenset(
    """
    a about after again all also always am an and any are as ask asked at away back be because been before being
    best better big both but by call came can can't could day did didn't do does doesn't doing done don't down
    each even ever every few find first for found from gave get give go going good got great had has have he
    he'd he'll he's help her here hers him his home how i i'd i'll i'm i've if in into is isn't it it's its just
    keep know last left let like little long look made make many may maybe me mean more most much must my need
    never new next no not nothing now of off oh ok okay old on once one only or other our out over own people
    please put really right said same saw say see she she's should show since so some something still such sure
    take tell than thank thanks that that's the their them then there these they they're thing things think this
    those thought time to today told tomorrow too took try two under until up us use used very want was way we
    we're well went were what what's when where which while who who's whom whose why will wish with work would
    yeah year yes yesterday yet you you're your yours
    """.split()
)

_SCRIPTS: Final = (
    # For each script its first and last letter, and the languages that are mostly written in it.
    ("\u0370", "\u03ff", ("el",)),
    ("\u0400", "\u052f", ("ru", "uk", "be", "bg", "sr", "mk", "kk")),
    ("\u0530", "\u058f", ("hy",)),
    ("\u0590", "\u05ff", ("he",)),
    ("\u0600", "\u06ff", ("ar", "fa", "ur")),
    ("\u0900", "\u097f", ("hi", "mr", "ne")),
    ("\u0980", "\u09ff", ("bn",)),
    ("\u0b80", "\u0bff", ("ta",)),
    ("\u0c00", "\u0c7f", ("te",)),
    ("\u0e00", "\u0e7f", ("th",)),
    ("\u10a0", "\u10ff", ("ka",)),
    ("\u3040", "\u30ff", ("ja",)),
    ("\u3400", "\u9fff", ("zh", "ja")),
    ("\uac00", "\ud7af", ("ko",)),
)
_NAMES: Final[Mapping[str, str]] = dict(
    zip(
        "en de fr es it pt nl sv da no fi pl cs hu ro tr id hr vi el ru hy he ar hi bn ta te th ka ja zh ko".split(),
        "English German French Spanish Italian Portuguese Dutch Swedish Danish Norwegian Finnish Polish Czech Hungarian"
        " Romanian Turkish Indonesian Croatian Vietnamese Greek Russian Armenian Hebrew Arabic Hindi Bengali Tamil"
        " Telugu Thai Georgian Japanese Chinese Korean".split(),
        strict=True,
    )
)

_AFTER_LATIN: Final = "\u036f"
_LATIN_ADDITIONAL: Final = ("\u1e00", "\u1eff")

_READ_CHARACTERS: Final = 600
_WORD: Final = pattern(r"[^\W\d_]+(?:['’][^\W\d_]+)*")
_LEAST: Final = 2.0
"""The least number of a language's words, where those that count half are half a word."""
_LEAST_OF_FEW: Final = 1.5
"""The same, for a text of a few words."""
_LEAST_OF_QUESTION: Final = 1.0
"""The same, if the few words are a question that begins with such a word, and none is English."""
_FEW_WORDS: Final = 6
_ALIKE: Final = 0.75
"""Languages with at least this share of the best one's words may be meant as well: Danish and Norwegian."""


def languages_of(text: str) -> tuple[str, ...]:
    """The languages that the text may be written in, as codes of ISO 639-1, the likeliest first; empty if it cannot be
    told. Reads the first 600 characters. Takes 2 to 20 µs.

    >>> languages_of("Welche Schuhe habe ich gestern gekauft?")
    ('de',)
    >>> languages_of("checkout-worker OOM in Zürich")
    ()
    """
    read = text[:_READ_CHARACTERS]
    if not read.isascii() and (written := _by_script(read)):
        return written
    return _by_words(read)


def none_read(found: Sequence[str], languages: Collection[str]) -> str | None:
    """The likeliest of the languages of a text, if none of them is among `languages`; else None.

    >>> none_read(languages_of("Hvor bor du nå?"), {"en"})
    'no'
    >>> none_read(languages_of("Where do you live now?"), {"en"})
    """
    return None if not found or any(one in languages for one in found) else found[0]


def named(language: str) -> str:
    """The English name of a language: "German" of "de"; the code itself if there is none here."""
    return _NAMES.get(language, language)


def without_function_words(text: str, language: str) -> str:
    """The text without the function words of its language; unchanged if nothing else is left.

    >>> without_function_words("Welche Schuhe habe ich gekauft?", "de").split()
    ['Schuhe', 'gekauft?']
    """
    dropped = _function_words(language)
    kept = _WORD.sub(lambda word: " " if word[0].lower() in dropped else word[0], text)
    return kept if _WORD.search(kept) else text


@cache
def _function_words(language: str) -> frozenset[str]:
    return frozenset(" ".join(_WORDS.get(language, ())).split())


def _by_script(text: str) -> tuple[str, ...]:
    """The languages of the script of most letters; empty if that is Latin."""
    letters = [letter for letter in text if letter.isalpha()]
    others = [
        letter
        for letter in letters
        if letter > _AFTER_LATIN and not _LATIN_ADDITIONAL[0] <= letter <= _LATIN_ADDITIONAL[1]
    ]
    if 2 * len(others) <= len(letters):
        return ()
    counts = [(sum(first <= letter <= last for letter in others), languages) for first, last, languages in _SCRIPTS]
    most, languages = max(counts, key=lambda counted: counted[0])
    if "ja" in languages and any("\u3040" <= letter <= "\u30ff" for letter in others):
        return ("ja",)  # kana among Han
    return languages if most else ()


def _by_words(text: str) -> tuple[str, ...]:
    said = _WORD.findall(text.lower().replace("’", "'"))
    words = set(said)
    english = len(words & _ENGLISH)
    if 2 * english > len(words) and english >= _LEAST and text.isascii():
        return (ENGLISH,)
    known = _known()
    strong: dict[str, float] = {}
    weak: dict[str, float] = {}
    both: dict[str, float] = {}
    for word in words:
        for part in _parts(word):
            for language, is_weak in known.get(part, ()):
                counted = weak if is_weak else strong
                counted[language] = counted.get(language, 0) + 1
                both[language] = both.get(language, 0) + (part in _ENGLISH)
    if strong and not text.isascii():
        for language in strong.keys() & _LETTERS.keys():
            letters = _LETTERS[language]
            lettered = sum(any(letter in letters for letter in word) for word in words)
            weak[language] = weak.get(language, 0) + lettered
    scores = {language: found + weak.get(language, 0) / 2 for language, found in strong.items()}
    best = max(scores, key=lambda one: scores[one], default=ENGLISH)
    score = scores.get(best, 0)
    # A word of both languages counts half for either.
    against = english - both.get(best, 0) / 2
    if score < _least(text, said, best, against) or score <= against:
        return (ENGLISH,) if english >= _LEAST and english > 2 * score else ()
    alike = (one for one in scores if scores[one] >= _ALIKE * score)
    return tuple(sorted(alike, key=lambda one: (-scores[one], one)))


def _least(text: str, said: Sequence[str], language: str, english: float) -> float:
    """The least number of words of the language by which it is detected."""
    if len(said) > _FEW_WORDS:
        return _LEAST
    if len(said) < 2 or english or not text.rstrip().endswith("?"):
        return _LEAST_OF_FEW
    begins = any(one == language and not is_weak for one, is_weak in _known().get(_parts(said[0])[0], ()))
    return _LEAST_OF_QUESTION if begins else _LEAST_OF_FEW


def _parts(word: str) -> Sequence[str]:
    """The word; of a contraction that is not English, as "l'avion", also the parts: "l'" and "avion"."""
    if "'" not in word or word in _ENGLISH:
        return (word,)
    first, _, rest = word.partition("'")
    return f"{first}'", rest


@cache
def _known() -> Mapping[str, Sequence[tuple[str, bool]]]:
    """For each word the languages that have it, and whether it counts half: also if it is a single letter."""
    table: dict[str, list[tuple[str, bool]]] = {}
    for language, (strong, shared) in _WORDS.items():
        halves = _ENGLISH | _SHARED | set(shared.split())
        for word in {*strong.split(), *shared.split()}:
            table.setdefault(word, []).append((language, word in halves or (len(word) == 1 and word.isascii())))
    return table
