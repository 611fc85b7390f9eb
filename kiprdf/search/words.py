"""The languages of texts: their stop words, and the stems by which word forms find each other.

A text is in the language of most of its stop words. Words of other languages and scripts, names,
identifiers and versions have no stem (docs/decisions/132).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable
from functools import cache, lru_cache
from importlib import import_module
from itertools import chain
from typing import Any, NamedTuple

from kiprdf.loading import load
from kiprdf.search.segment import folded_name, plain_words, segment, segment_term

_ALGORITHMS = {
    "en": "english",
    "de": "german",
    "fr": "french",
    "es": "spanish",
    "it": "italian",
    "pt": "portuguese",
    "nl": "dutch",
    "ru": "russian",
}
_STOP_WORDS = {
    "en": """a about above after again against ain all am an and any are aren as at be because been
before being below between both but by can could couldn d did didn do does doesn doing don down
during each ever few for from further had hadn has hasn have haven having he her here hers herself
him himself his how i if in into is isn it its itself just ll m me mightn more most mustn my myself
needn no nor not now of off on once only or other our ours ourselves out over own re s same shan
she should shouldn so some such t than that the their theirs them themselves then there these they
this those through to too under until up ve very was wasn we were weren what when where which while
who whom whose why will with won would wouldn you your yours yourself yourselves""",
    "de": """aber als also am an ander andere anderen auch auf aus bei bin bis bist da damit dann
das dass dein deine dem den denn der des dich die dies diese diesem diesen dieser dieses dir doch
dort du durch ein eine einem einen einer eines er es etwas euch euer eure für gegen habe haben hat
hatte hatten hier hin hinter ich ihm ihn ihnen ihr ihre ihrem ihren ihrer im in ins ist ja jede
jedem jeden jeder jedes jetzt kann kein keine keinen können man mein meine meinem meinen meiner mich
mir mit muss nach nicht nichts noch nun nur ob oder ohne sehr sein seine seinem seinen seiner seit
sich sie sind so soll sondern sonst über um und uns unser unsere unter viel vom von vor wann war
waren warum was weil welche welchem welchen welcher welches wenn wer werde werden wem wen wessen wie
wieder will wir wird wirst wo woher wohin wurde wurden würde zu zum zur zwar zwischen""",
    "fr": """à ai ainsi alors as au aucun aussi autre aux avais avait avant avec avez avoir avons
bien c ça car ce ceci cela ces cet cette chez comme comment d dans de depuis des dont du elle elles
en encore est et étais était étaient été être eu eux fait font il ils j je l la là le les leur leurs
lui m ma mais me même mes moi mon n ne ni nos notre nous on ont ou où par parce pas peu peut plus
pour pourquoi qu quand que quel quelle quelles quels qui quoi s sa sans se sera ses si son sont sous
suis sur t ta te tes toi ton tous tout toute toutes très tu un une vos votre vous y""",
    "es": """a al algo algunas alguno algunos ante antes aquel aquella así aún aunque como cómo con
contra cual cuál cuáles cualquier cuándo cuando cuánto cuánta cuántos de del desde donde dónde
durante e el él ella ellas ellos en entonces entre era eran eres es esa esas ese eso esos esta está
están estaba estado estas este esto estos estoy fue fueron ha había han has hasta hay he la las le
les lo los más me mi mí mis mucho muy nada ni no nos nosotros nuestra nuestro o os otra otro otros
para pero poco por porque qué que quien quién quiénes se sea ser si sí sido sin sobre son soy su sus
también tanto te tengo tiene tienen todo todos tu tú tus un una uno unos usted y ya yo""",
    "it": """a abbiamo ad agli ai al alla alle allo altro anche ancora avere aveva avevo c che chi
ci ciò coi col come con contro cosa cui d da dagli dai dal dalla dalle degli dei del della delle
dello di dove e è ed era erano ero essere fa fare fra gli ha hai hanno ho i il in io l la le lei li
lo loro lui ma me mi mia mie miei mio molto ne negli nei nel nella nelle no noi non nostra nostro o
ogni per perché però più poi qual quale quali quando quanta quanti quanto quella quelle quelli
quello questa queste questi questo qui sarà se sei senza si sia siamo sono sta stata stati stato su
sua sue sugli sui sul sulla suo suoi te ti tra tu tua tue tuo tutti tutto un una uno vi voi""",
    "pt": """a à ao aos aquela aquele aquilo as às até com como da das de dela dele deles depois do
dos e é ela elas ele eles em entre era eram essa esse esta está estão estava este estou eu foi foram
há isso isto já lhe mais mas me mesmo meu meus minha minhas muito na não nas nem no nos nós nossa
nosso num numa o onde os ou para pela pelas pelo pelos por porque porquê pra qual quais quando
quanta quanto quantos que quê quem são se sem ser será seu seus só sua suas também te tem têm tenho
ter teu tinha toda todo todos tu tua um uma você vocês""",
    "nl": """aan al alles als altijd andere ben bij daar dan dat de der deze die dit doch doen door
dus een en er ge geen geweest haar had heb hebben heeft hem het hier hij hoe hoeveel hun iemand iets
ik in is ja je kan kon kunnen maar me meer men met mij mijn moet na naar niet niets nog nu of om
omdat onder ons ook op over reeds te tegen toch toen tot u uit uw van veel voor waar waarom wanneer
want waren was wat welk welke wel werd wie wij wil worden wordt zal ze zelf zich zij zijn zo zonder
zou""",
    "ru": """а без более бы был была были было быть в вам вас весь во вот все всё всего всех вы где
да даже для до его ее её если есть ещё еще же за и из или им их к как какая какие какой когда кого
которая которые который кто куда ли мне мной моя мой мы на над надо нас наш не него нее нет ни них
но ну о об он она они оно от очень по под почему при про с сам свою свой себя сколько со так также
такой там те тебя тем то того тоже той только том тот ты у уже чего чей чем через что чтобы чья эта
эти это этого этой этом этот я""",
}
LANGUAGES = tuple(_ALGORITHMS)
# One of these alone does not make a term one of another language.
_ALSO_ENGLISH = """also come dan den die do er fare had has hat he hoe in is lui man me men no of
over pour so son ten ton van want war was will"""
_WITH_CAPITALS = {"i", "sie", "ihr", "ihre", "ihnen", "ihrem", "ihren", "ihrer"}
"""Stop words that have a capital inside a sentence, and are no names."""
# Pairs of characters, as terms are cut.
_UNSPACED_STOP_WORDS = """什么 怎么 哪里 哪个 哪些 时候 为什 多少 是否 我们 你们 他们
什麼 怎麼 哪裡 時候 為什 です ます まし した すか いつ どこ だれ なに なぜ から まで こと する
して いる ある 언제 어디 무엇 누가 누구 어떤 얼마 무슨 나요 니까 습니 했나 인가"""
LONGEST_READ, MOST_TOKENS = 20_000, 300  # characters and tokens of a term that are read
MOST_STEMS = 50_000  # words of a language whose stems are kept
LONGEST_STOP_NAME = 3
"""Stop words in a row that may be a name."""
_ALPHABETS = {
    "de": frozenset("äöüß"),
    "fr": frozenset("àâæçéèêëîïôœùûüÿ"),
    "es": frozenset("áéíñóúü"),
    "it": frozenset("àèéìíîòóùú"),
    "pt": frozenset("áâãàçéêíóôõúü"),
    "nl": frozenset("áèéëïóöü"),
}
_ANY_LETTER = frozenset("").union(*_ALPHABETS.values())
_LETTER = re.compile("[ß-öø-ɏ]")
_INFLECTED = re.compile("[\u3400-\u9fff][\u3041-\u3096]")
"""What follows a Japanese verb's or noun's last character is an ending or a particle."""
_ACRONYM = re.compile(r"\b[A-ZА-Я]{2,}\b")
_RUSSIAN, _OTHER_CYRILLIC = re.compile("[а-яё]"), re.compile("[іїєґўјљњћђџѓќѕә-ӿ]")
_STEMMED, _STEMMED_RUSSIAN = re.compile("[a-zß-öø-ſ]{3,40}"), re.compile("[а-яё]{3,40}")
_NAME = re.compile(
    # A capital inside a sentence, or an acronym.
    r"[A-ZÀ-ÖØ-ÞА-Я](?:(?<=[^\W_A-ZА-Я] .|[,;:] .)\w*|[A-ZА-Я]+\b)"
)
_SURE = 2.0
"""The letters of a text with this many stop words do not matter."""


@cache
def _languages_of() -> dict[str, tuple[str, ...]]:
    """The languages in which a word, without accents, is a stop word."""
    languages: dict[str, tuple[str, ...]] = {}
    for language, words in _STOP_WORDS.items():
        for word in {folded_name(word) for word in words.split()}:
            languages[word] = (*languages.get(word, ()), language)
    return languages


def _evidence(tokens: Iterable[str]) -> dict[str, float]:
    """How many of the stop words in a text are those of a language; shared ones count less."""
    table = _languages_of()
    evidence = dict.fromkeys(LANGUAGES, 0.0)
    for token in table.keys() & tokens:
        languages = table[token]
        share = 1 / len(languages)
        for language in languages:
            evidence[language] += share
    return evidence


def is_of_stop_words(name: str) -> bool:
    """Whether a folded name has only stop words, of any languages."""
    words = name.split()
    return len(words) <= LONGEST_STOP_NAME and all(
        word in _languages_of() or word in _unspaced_stop_words() for word in words
    )


def languages_of(text: str, tokens: Iterable[str]) -> tuple[str, ...]:
    """The language of a text with these tokens, by its script, stop words and letters.

    There are several where these leave a choice without English, none for other languages.

    >>> languages_of("Ich war im Haus.", ["ich", "war", "im", "haus"])
    ('de',)
    >>> languages_of("De kat", ["de", "kat"]), languages_of("Kocham cię", ["kocham", "cie"])
    (('fr', 'es', 'pt', 'nl'), ())
    """
    letters: set[str] = set()
    if not text.isascii():
        lower = text.lower()
        if 3 * len(_RUSSIAN.findall(lower)) > len(lower):
            return () if _OTHER_CYRILLIC.search(lower) else ("ru",)
        letters = set(_LETTER.findall(lower))
    evidence = _evidence(tokens)
    most = max(evidence.values())
    if most == evidence["en"] > 0 and (most >= _SURE or letters <= _ANY_LETTER):
        return ("en",)
    if not most and not letters:
        return ("en",) if text.isascii() else ()
    return tuple(
        name
        for name in LANGUAGES
        if evidence[name] == most
        and (most >= _SURE or letters <= _ALPHABETS.get(name, _ANY_LETTER if most else frozenset()))
    )


def stems(text: str, language: str) -> set[str]:
    """The tokens of the stems in a text of a language; names and identifiers have none.

    >>> stems("He is in Hastings, running two_parts.", "en"), stems("Die Häuser", "de")
    ({'__en_run'}, {'__de_haus'})
    """
    words = set(plain_words(text))
    if not words:
        return words
    if language != "de" and not (text.islower() or text.isupper()):
        words.difference_update(map(str.casefold, _NAME.findall(text)))
    tokens = set(map(_stem_tokens(language).__getitem__, words))
    tokens.discard("")
    return tokens


class _StemTokens(dict[str, str]):
    """The token of the stem of each word in a language; empty for none."""

    def __init__(self, language: str) -> None:
        self._language = language

    def __missing__(self, word: str) -> str:
        if len(self) >= MOST_STEMS:
            self.clear()
        stem = _stem(word, self._language)
        token = self[word] = stem and stem_token(stem, self._language)
        return token


_stem_tokens = cache(_StemTokens)


def stem_token(stem: str, language: str) -> str:
    return f"__{language}_{stem}"


def _stem(word: str, language: str) -> str:
    """The stem, without accents, of a word with its accents; empty for what has none."""
    script = _STEMMED_RUSSIAN if language == "ru" else _STEMMED
    if not script.fullmatch(word) or language in _languages_of().get(folded_name(word), ()):
        return ""
    return folded_name(_stemmer(language).stemWord(word))


@cache
def _stemmer(language: str) -> Any:
    load("Stemmer")
    # A call holds Python's lock, and without a cache it changes nothing that threads share.
    return import_module("Stemmer").Stemmer(_ALGORITHMS[language], 0)


# Terms --------------------------------------------------------------------------------------------


class Word(NamedTuple):
    """A word of a term: its token, the tokens of its stems, and a token that its forms share."""

    token: str
    stems: tuple[str, ...] = ()
    base: str = ""


Names = Callable[[Collection[str]], Collection[str]]
"""Those of some texts that are the name or an alias of an element."""


def words_of(term: str, languages: tuple[str, ...], names: Names | None = None) -> list[Word]:
    """The words of a term that count, in their order, with the forms that some languages have.

    Stop words count only where the term has nothing else, or where they are a name.

    >>> [word.token for word in words_of("When did she go to The Who?", (), lambda texts: texts)]
    ['when', 'did', 'she', 'go', 'to', 'the', 'who']
    >>> [word.token for word in words_of("When did she go to the circus with Will?", ())]
    ['go', 'circus', 'will']
    """
    term = term[:LONGEST_READ]
    tokens = segment_term(term)[:MOST_TOKENS]
    acronyms: set[str] = set()
    capitals: set[str] = set()
    if not (term.islower() or term.isupper()):
        acronyms.update(word.lower() for word in _ACRONYM.findall(term))
        capitals = _capitals(term, tokens)
    stop_words = _stop_words(tokens, capitals) - acronyms - capitals.difference(tokens[:1])
    kept = _without(tokens, stop_words, names) or tokens if stop_words else tokens
    words = plain_words(term)
    plain = dict(zip(words if term.isascii() else map(folded_name, words), words, strict=True))
    return [
        Word(token) if token in acronyms else word_of(token, plain.get(token, ""), languages)
        for token in reversed(dict.fromkeys(reversed(kept)))
    ]


def _without(tokens: list[str], stop_words: Collection[str], names: Names | None) -> list[str]:
    """The tokens of a term without the stop words that are in no name."""
    if names is None:
        return [token for token in tokens if token not in stop_words]
    stops = [token in stop_words for token in tokens]
    # Some stop words in a row may be a name.
    spans = {
        " ".join(tokens[start:end]): (start, end)
        for end in range(1, len(tokens) + 1)
        for start in range(max(0, end - LONGEST_STOP_NAME), end)
        if all(stops[start:end])
    }
    for name in names(spans):
        start, end = spans[name]
        stops[start:end] = [False] * (end - start)
    return [token for token, is_stop in zip(tokens, stops, strict=True) if not is_stop]


@lru_cache(maxsize=4096)
def word_of(token: str, plain: str, languages: tuple[str, ...]) -> Word:
    """A word with its stems in some languages; ``plain`` is the word with its accents."""
    if _INFLECTED.fullmatch(token):
        return Word(token, (), token[0])
    return Word(token, tuple(filter(None, (_stem_tokens(name)[plain] for name in languages))))


def _capitals(term: str, tokens: list[str]) -> set[str]:
    """The words of a term with a capital that may be names: Will, Mia, Ben."""
    table = _languages_of()
    capitals = set(map(folded_name, _NAME.findall(term)))
    first = set(tokens[:1] if term.lstrip()[:1].isupper() else ())
    if all(token in table or token in capitals or token in first for token in tokens):
        capitals.clear()  # a title: every word has a capital
    capitals.update(token for token in first if "en" not in table.get(token, ()))
    return capitals - _WITH_CAPITALS


def _stop_words(tokens: Collection[str], capitals: Collection[str]) -> set[str]:
    """The stop words of the language of a term, which is not judged by words with a capital."""
    table = _languages_of()
    unspaced = _unspaced_stop_words().intersection(tokens)
    if table.keys().isdisjoint(tokens):
        return unspaced
    evidence = _evidence(set(tokens).difference(capitals))
    most = max(evidence.values())
    best = {name for name in LANGUAGES if evidence[name] == most} if most else {"en"}
    of_best = {token for token in table.keys() & tokens if not best.isdisjoint(table[token])}
    if "en" in best:
        of_best.difference_update(capitals)
    if len(of_best) == 1 and of_best <= set(_ALSO_ENGLISH.split()):
        of_best = {token for token in of_best if "en" in table[token]}
    return of_best | unspaced


@cache
def _unspaced_stop_words() -> set[str]:
    return set(_UNSPACED_STOP_WORDS.split())


def asked_tokens(term: str) -> frozenset[str]:
    """The tokens by which a row may match a term, in any language.

    >>> sorted(asked_tokens("the SideEffect"))
    ['effect', 'side', 'sideeffect']
    """
    words = words_of(term, LANGUAGES)
    return frozenset(
        token for word in words for token in (word.token, *word.stems, word.base) if token
    )


def matches(word: str, tokens: frozenset[str]) -> bool:
    """Whether a word of a text has one of the tokens of a term, as it is or by its stem.

    >>> matches("Crème,", asked_tokens("creme brulee")), matches("ran", asked_tokens("runs"))
    (True, False)
    >>> matches("running", asked_tokens("runs"))
    True
    """
    return not tokens.isdisjoint(tokens_of(word))


def tokens_of(text: str) -> set[str]:
    """The words of a text, as they are and by their stems in any language."""
    forms = (word_of("", plain, LANGUAGES).stems for plain in plain_words(text))
    return {*segment(text), *chain.from_iterable(forms)}
