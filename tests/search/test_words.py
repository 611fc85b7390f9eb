"""Words are found by other forms; stop words, mistyped words, dates and symbols of a term."""

from __future__ import annotations

import re
import sqlite3
import time
from collections.abc import Callable, Sequence
from dataclasses import replace

import pytest

import kiprdf
from kiprdf.budget import Budget, spend
from kiprdf.search import IndexRow, TextIndex, asked_tokens, matches
from kiprdf.search.index import is_exact
from kiprdf.search.ranking import LONGEST_TERM
from tests.cases import each_case
from tests.memory import recall


def note(key: str, text: str, *, name: str = "", aliases: tuple[str, ...] = ()) -> IndexRow:
    return IndexRow(key, "concept", "Note", name or f"note_{key}", aliases, "", text)


def index_of(*rows: IndexRow) -> TextIndex:
    index = TextIndex(None)
    index.update(rows, [], 1)
    return index


def keys(index: TextIndex, term: str, limit: int = 100) -> list[str]:
    return [hit.key for hit in index.search("concept", term, limit=limit)]


# Forms

NOTES = {
    "en": "She was running with her dogs, and he carried the boxes.",
    "de": "Gestern habe ich zwei Bücher in der Stadt gekauft und die Häuser gesehen.",
    "fr": "Nous avons acheté des fleurs et les chevaux ont mangé dans le jardin.",
    "es": "Ayer escuché tres canciones y las ventanas estaban abiertas.",
    "pt": "Recebi as informações sobre os cachorros, mas não as leituras.",
    "it": "Ho visto i ragazzi con le biciclette della scuola.",
    "nl": "Ik heb twee boeken gekocht en de kinderen waren in de huizen.",
    "ru": "Вчера я купил две книги и читал газеты в библиотеке.",
    "ja": "昨日、図書館で本を二冊読みました。",
    "ko": "어제 도서관에서 책을 두 권 읽었습니다.",
    "zh": "昨天我在图书馆看了两本书。",
}


@pytest.fixture(scope="module")
def notes() -> TextIndex:
    return index_of(*(note(language, text) for language, text in NOTES.items()))


@each_case(
    "term, language",
    [
        *((term, "en") for term in ("runs", "dog", "carrying", "box")),
        *((term, "de") for term in ("Buch", "Haus", "städte", "Welches Buch war es?")),
        *((term, "fr") for term in ("fleur", "cheval", "jardins", "manger", "mangées")),
        *((term, "es") for term in ("canción", "cancion", "la ventana", "abierto")),
        *((term, "pt") for term in ("informação", "cachorro", "leitura")),
        *((term, "it") for term in ("ragazzo", "bicicletta", "le scuole")),
        *((term, "nl") for term in ("boek", "een kind", "huis")),
        *((term, "ru") for term in ("книга", "газету", "в библиотеку", "читала")),
        *((term, "ja") for term in ("図書館", "読む", "本が二冊")),
        *((term, "ko") for term in ("도서관을", "읽었다", "책이")),
        *((term, "zh") for term in ("图书馆", "两本书", "昨天")),
    ],
)
def test_a_note_is_found_by_another_form_of_a_word(
    notes: TextIndex, term: str, language: str
) -> None:
    assert keys(notes, term)[0] == language
    assert keys(notes, "elephant") == []


@each_case(
    "text, term, other",
    [
        ("Meine Schwester schwimmt jeden Morgen im See.", "schwimmen", "schwitzen"),
        ("Er hat eine Stadt und die Luft gesehen.", "Städte", "Stab"),
        ("As reuniões com os aviões foram canceladas.", "a reunião", "renda"),
        ("Comprei os jornais e os papéis.", "jornal papel", "jornada"),
        ("Os homens estão nos jardins com as imagens.", "homem jardim imagem", "jarda"),
        ("Não há pão no armazém.", "pães armazéns", "panela"),
        ("Las luces de la casa eran muy bonitas.", "la luz", "lugar"),
        ("Siamo andati ai laghi con gli amici.", "il lago", "lato"),
        ("We hebben twee oude huizen gekocht.", "huis", "huid"),
        ("Ik fiets elke dag met mijn vriend.", "fietsen", "fiere"),
    ],
)
def test_forms_that_snowball_keeps_apart_are_found(text: str, term: str, other: str) -> None:
    index = index_of(note("a", text), note("b", "Tea of the day"))
    assert index.find("concept", term).near == {}
    assert keys(index, term) == ["a"]
    assert keys(index, f"{other} {other}x") == []


@pytest.mark.parametrize(
    ("term", "language"),
    [
        ("Welche Bücher habe ich gestern gekauft?", "de"),
        ("Quelles fleurs avons-nous achetées ?", "fr"),
        ("¿Qué canción escuché?", "es"),
        ("O que recebi sobre o cachorro?", "pt"),
        ("Che cosa ha visto il ragazzo?", "it"),
        ("Welk boek heeft hij gekocht?", "nl"),
        ("Что я купил вчера?", "ru"),
        ("図書館で何を読みましたか。", "ja"),
        ("제가 무슨 책을 읽었나요?", "ko"),
        ("我昨天看了什么书？", "zh"),
    ],
)
def test_a_note_is_found_by_a_question(notes: TextIndex, term: str, language: str) -> None:
    assert keys(notes, term)[0] == language


def test_the_written_form_is_before_another_form() -> None:
    index = index_of(note("a", "He runs in the park."), note("b", "He was running in the park."))
    assert keys(index, "running in the park") == ["b", "a"]
    assert keys(index, "runs in the park") == ["a", "b"]


def test_a_name_is_found_by_another_form_where_a_text_has_its_language() -> None:
    index = index_of(note("a", "It is a pain in the head.", name="Headache"), note("b", "Tea"))
    assert keys(index, "headaches and others") == ["a"]


@pytest.mark.parametrize(
    ("text", "term"),
    [
        ("We met Hastings in the town.", "hasted home"),
        ("He knows the framework Rails well.", "railing here"),
        ("It has a has_running_dogs in it.", "runs home"),
        ("He has had AIDS since then.", "aided there"),
        ("It is the version 3rd of them.", "3rds there"),
        ("Jag såg på ångorna.", "ångor där"),
        ("Я бачив її у місті.", "містом там"),
    ],
    ids=["name", "framework", "identifier", "acronym", "version", "Swedish", "Ukrainian"],
)
def test_what_is_no_word_of_a_known_language_has_no_stem(text: str, term: str) -> None:
    index = index_of(note("a", text))
    assert keys(index, term) == []
    assert keys(index, text.split()[-1].strip(".")) == ["a"]


def test_a_form_is_that_of_the_language_of_the_text() -> None:
    index = index_of(note("a", "C'est le cas de les autres."), note("b", "Las casas y los amigos."))
    assert keys(index, "casa")[0] == "b"
    assert keys(index, "amigas") == ["b"]


# Stop words


def test_stop_words_count_nothing() -> None:
    index = index_of(
        note("a", "What did she do when it was the time of the day?"), note("b", "A circus.")
    )
    assert keys(index, "When did she go to the circus?") == ["b"]


def test_a_term_of_stop_words_alone_is_searched() -> None:
    index = index_of(note("a", "To be or not to be"), note("b", "A circus."))
    assert keys(index, "to be or not to be") == ["a"]


@pytest.mark.parametrize(
    ("name", "aliases", "term"),
    [
        ("The Who", (), "songs by the who"),
        ("IT", (), "work of it"),
        ("information technology", ("IT",), "work of it"),
        ("R", (), "plots in r"),
        ("Will", (), "did will sing"),
    ],
)
def test_a_stop_word_that_is_a_name_counts(name: str, aliases: tuple[str, ...], term: str) -> None:
    row = note("a", "x", name=name, aliases=aliases)
    assert "a" in keys(index_of(row, note("b", "Tea of the day")), term)


def test_a_stop_word_in_capitals_is_an_acronym() -> None:
    index = index_of(note("a", "The IT department"), note("b", "A department"))
    assert keys(index, "IT office") == ["a"]
    assert keys(index, "it office") == []


@pytest.mark.parametrize(
    ("name", "term"),
    [
        ("Ben", "goulash in Ghent with Ben"),  # Dutch: am
        ("Ben", "Ghent goulash Ben"),
        ("Mia", "Mia's goulash"),  # Italian: my
        ("Sara", "Sara goulash in Ghent"),  # Italian: will be
        ("Will", "does Will like goulash"),
        ("Don", "what did Don eat in Ghent"),
    ],
)
def test_a_stop_word_that_is_written_as_a_name_counts(name: str, term: str) -> None:
    index = index_of(note("a", "Goulash in Ghent"), note("b", f"Goulash in Ghent, said {name}"))
    assert keys(index, term)[0] == "b"


@pytest.mark.parametrize(
    "term", ["Haben Sie den Schlüssel", "When did I see the Schlüssel", "Where Is The Schlüssel"]
)
def test_a_stop_word_with_a_capital_is_not_always_a_name(term: str) -> None:
    row = note("a", "Sie hatten es. I had it. Is it the one?")
    assert keys(index_of(row, note("b", "Der Schlüssel")), term) == ["b"]


def test_the_word_of_one_language_is_not_the_stop_word_of_another() -> None:
    index = index_of(note("a", "A red hat"), note("b", "Er hat es"), note("c", "Red wine"))
    assert keys(index, "red hat")[0] == "a"


# Rarity


def test_all_rows_are_ranked_with_true_rarity() -> None:
    """Both words are common; the row with both of them is one of many, with the last key."""
    rows = [note(f"{n:05}", "tea " * (1 + n % 3) + f"cup{n}") for n in range(1_500)]
    rows += [note(f"x{n:05}", f"infuser {n}") for n in range(500)]
    index = index_of(*rows, note("z", "tea"), note("zz", "infuser"), note("zzz", "tea infuser"))
    assert keys(index, "tea infuser", limit=2) == ["zzz", "zz"]
    assert keys(index, "infuser tea", limit=1) == ["zzz"]
    assert len(keys(index, "tea", limit=10_000)) == 1_502


# Dates


@pytest.mark.parametrize(
    "term", ["8 May 2023", "May 8, 2023", "May 2023", "2023-05", "Monday", "8. Mai 2023"]
)
def test_a_date_is_found_in_words(term: str) -> None:
    index = index_of(
        note("a", "A circus.\n2023-05-08T13:56:00Z"), note("b", "A circus.\n2024-06-11T13:56:00Z")
    )
    assert keys(index, term)[0] == "a"


# Near misses


@pytest.mark.parametrize("term", ["pyhton", "pythn", "pythonn", "pithon", "ypthon"])
def test_a_mistyped_word_finds_the_near_one(term: str) -> None:
    ranked = index_of(note("a", "I like Python."), note("b", "I like tea.")).find("concept", term)
    assert [hit.key for hit in ranked.hits] == ["a"]
    assert ranked.near == {term: ["python"]}


@pytest.mark.parametrize("term", ["python", "pythons", "pyth", "pyhtno", "tae", "2032"])
def test_a_word_with_rows_or_two_edits_or_digits_finds_no_near_one(term: str) -> None:
    rows = note("a", "I like a python and a tea in 2023."), note("b", "I like pythms.")
    assert index_of(*rows).find("concept", term).near == {}


def test_search_says_what_was_searched_instead() -> None:
    nexus = kiprdf.Nexus.memory()
    nexus.execute('UPSERT { CONCEPT { {type: "$ConceptType", name: "Tool"} } }')
    nexus.execute('UPSERT { CONCEPT { {type: "Tool", name: "Python"} } }')
    answer = nexus.answer('SEARCH CONCEPT "pyhton"')
    assert [hit["name"] for hit in answer.result] == ["Python"]
    (warning,) = answer.warnings
    assert warning.name == "NearMiss"
    assert warning.message == "No element has the word 'pyhton': 'python' was searched."
    assert nexus.answer('SEARCH CONCEPT "python"').warnings == ()


# Symbols and long terms


@pytest.mark.parametrize("name", ["++", "C#", "🎉", "C++", "?!", "->"])
def test_symbols_that_are_a_whole_name_are_found(name: str) -> None:
    index = index_of(note("a", "x", name=name), note("b", "x", aliases=(name,)), note("c", "c"))
    hits = index.search("concept", name)
    assert [hit.key for hit in hits if is_exact(hit)] == ["a", "b"]


def test_search_finds_an_emoji_and_refuses_one_that_is_no_name() -> None:
    nexus = kiprdf.Nexus.memory()
    nexus.execute('UPSERT { CONCEPT { {type: "$ConceptType", name: "Tool"} } }')
    nexus.execute('UPSERT { CONCEPT { {type: "Tool", name: "🎉"} } }')
    assert [hit["name"] for hit in nexus.execute('SEARCH CONCEPT "🎉"')] == ["🎉"]
    with pytest.raises(kiprdf.KipError, match="contains no word, and is no name"):
        nexus.execute('SEARCH CONCEPT "🎈"')


def test_of_a_long_term_the_first_words_are_searched_and_a_warning_says_so() -> None:
    index = index_of(*(note(f"{n:03}", f"word{n}") for n in range(100)))
    ranked = index.find("concept", " ".join(f"word{n}" for n in range(100)))
    assert [hit.key for hit in ranked.hits] == [f"{n:03}" for n in range(LONGEST_TERM)]
    assert ranked.is_cut
    assert not index.find("concept", "word1 word2").is_cut


@pytest.mark.parametrize(
    "unit", ["the ", "tea ", "é", "阿", "2023-05-08 ", "May ", "a_b", "?", "tea1 "]
)
def test_a_term_of_a_megabyte_is_answered_in_a_second(unit: str) -> None:
    index = index_of(note("a", "the tea of May"))
    started = time.process_time()
    try:
        index.search("concept", unit * (1_000_000 // len(unit)))
    except ValueError:
        assert unit == "?"
    assert time.process_time() - started < 1


# Speed


SAMPLE = """the note says that a folder of files holds the index and a server answers each question
of a client about weather music garden travel dinner family picture window bottle river mountain
bicycle concert painting doctor lesson holiday kitchen market letter camera"""


def texts(number: int) -> list[str]:
    """Texts in which some words are common and others rare."""
    words = SAMPLE.split()
    return [
        " ".join(
            words[(n * 7919 + place * place * (n % 101 + 1)) % len(words)]
            + ("s" if (n + place) % 3 == 0 else "" if (n * place) % 5 else str(n % 700))
            for place in range(22)
        )
        for n in range(number)
    ]


def seconds(function: Callable[[], object]) -> float:
    started = time.process_time()
    function()
    return time.process_time() - started


@pytest.fixture(scope="module")
def many() -> tuple[TextIndex, sqlite3.Connection]:
    """The same texts in an index and in FTS5; each has one common word."""
    rows = [f"common {text}" for text in texts(5_900)]
    index = index_of(*(note(str(n), text) for n, text in enumerate(rows)))
    while index.merge():
        pass
    return index, full_text_table(rows)


@pytest.mark.parametrize(
    ("term", "most"),
    [
        ("weather musics garden7 travel dinners family picture42 windows bottle rivers", 2),
        ("common", 1),
    ],
    ids=["ten words", "a common word"],
)
def test_a_search_takes_at_most_so_many_times_as_long_as_the_ranking_of_fts5(
    many: tuple[TextIndex, sqlite3.Connection], term: str, most: int
) -> None:
    index, other = many
    expression = " OR ".join(f'"{word}"' for word in term.split())
    statement = "SELECT rowid FROM note WHERE note MATCH ? ORDER BY rank LIMIT 10"
    ours, theirs = fastest_of(
        (
            lambda: index.search("concept", term, limit=10),
            lambda: other.execute(statement, (expression,)).fetchall(),
        )
    )
    assert ours < most * theirs


def fastest_of(functions: Sequence[Callable[[], object]], repeats: int = 15) -> list[float]:
    """The least processor time of each function, which run in turn."""
    times = [[seconds(function) for function in functions] for _ in range(repeats)]
    return [*map(min, zip(*times, strict=True))]


def test_questions_over_six_thousand_notes_take_at_most_twice_the_time_of_fts5() -> None:
    """Each word was read from FTS5 again, which took five times as long as its own ranking."""
    conversations = recall.conversations()
    turns = [replace(t, id=f"{t.id}-{k}") for k in range(5) for c in conversations for t in c.turns]
    index = index_of(*(note(t.id, f"{t.content}\n{t.speaker}\n{t.session}") for t in turns))
    other = recall.full_text_search(turns)
    questions = [q.text for c in conversations for q in c.questions][::10]
    for question in questions:
        index.search("concept", question)
    ours, theirs = fastest_of(
        (
            lambda: [index.search("concept", question, limit=10) for question in questions],
            lambda: [other(question, 10) for question in questions],
        ),
        repeats=5,
    )
    assert ours < 2 * theirs


def test_a_mistyped_word_is_looked_for_in_few_reads() -> None:
    index = index_of(*(note(str(n), text) for n, text in enumerate(texts(1_000))))
    statements: list[str] = []
    index._file._connection.set_trace_callback(statements.append)
    assert index.find("concept", "weathre").near == {"weathre": ["weather"]}
    assert len(statements) < 1_000  # with those of FTS5; to look for each edit took 1 600


def full_text_table(rows: list[str]) -> sqlite3.Connection:
    table = sqlite3.connect(":memory:")
    table.execute("CREATE VIRTUAL TABLE note USING fts5(text, tokenize = 'porter unicode61')")
    table.executemany("INSERT INTO note VALUES (?)", ((text,) for text in rows))
    table.commit()
    return table


def test_a_long_ranking_ends_at_the_deadline() -> None:
    index = index_of(*(note(str(n), text) for n, text in enumerate(texts(1_000))))
    with pytest.raises(kiprdf.KipError, match="KIP_4001"):
        spend(Budget(timeout_s=1e-9), lambda: index.search("concept", "weather music"))
    assert len(keys(index, "weather music")) == 100


# Excerpts


def test_the_words_of_a_text_that_match_a_term() -> None:
    tokens = asked_tokens("When did Caroline buy the books?")
    text = "Yesterday caroline was buying a book, when the shop closed."
    matching = [word for word in re.findall(r"\w+", text) if matches(word, tokens)]
    assert matching == ["caroline", "buying", "book"]
