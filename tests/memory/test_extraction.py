"""Extraction: what texts state, and what they do not."""

from __future__ import annotations

import time

import pytest

from kiprdf.memory import Found, FoundEdge, extract
from kiprdf.memory.extraction.patterns import PATTERNS, Pattern
from tests.cases import each_case
from tests.memory import quality

USER = Found("user", "Primary User")


def entities(text: str) -> list[tuple[str, str]]:
    return [(entity.type, entity.name) for entity in extract(text).entities]


def edges(text: str) -> list[tuple[str, str, float]]:
    return [(edge.predicate, edge.object.name, edge.weight) for edge in extract(text).edges]


@each_case(
    "pattern, text, name", [(pattern, pattern.example, pattern.object) for pattern in PATTERNS]
)
def test_each_example_of_the_table_is_found_by_its_pattern(
    pattern: Pattern, text: str, name: str
) -> None:
    extraction = extract(text)
    edges = (*extraction.edges, *extraction.ended)
    names = [(edge.object.name, edge.pattern) for edge in edges] + [
        (entity.name, entity.pattern) for entity in extraction.entities
    ]
    assert (name, pattern.name) in names


def test_the_corpus_is_read_with_the_required_precision_and_recall() -> None:
    count = quality.measure().counts["all"]
    assert len(quality.cases()) == 400
    assert count.precision >= 0.95
    assert count.recall >= 0.85


def test_the_result_has_names_patterns_and_the_user() -> None:
    extraction = extract("I always use python.")
    tool = Found("tool", "Python", "python", "i_use_x")
    assert extraction.edges == (FoundEdge(USER, "uses", tool, 0.9, "i_use_x"),)
    assert [entity.normalized_name for entity in extraction.entities] == ["python"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("I use Python, Docker and git.", ["Python", "Docker", "Git"]),
        ("We deployed with k8s and postgres.", ["Kubernetes", "PostgreSQL"]),
        ("I'm using C++, C# and Go.", ["C++", "C#", "Go"]),
        ("Let us go home and make tea, R.", []),
        ("We use Node.js v20, not PHP.", ["Node.js"]),
    ],
)
def test_lists_and_aliases_of_tools(text: str, expected: list[str]) -> None:
    assert [name for predicate, name, _ in edges(text) if predicate == "uses"] == expected


@each_case(
    "text",
    [
        "I don't like Java.",
        "We are not using Docker.",
        "I never use Perl.",
        "I might use Docker.",
        "I would like Python.",
        "Do I use Docker?",
        'She said "I prefer Java".',
        "> I prefer Java",
        "```\nI prefer tabs\n# working on Harbor using Docker\n```",
        "`I prefer tabs`",
        "Anna is using Docker.",
        "My colleague prefers Vim.",
        "If I use Docker, it breaks.",
        "We stopped using Jenkins.",
        "I had lunch with my colleague via the back door.",
        "They decided to use Docker.",
        "Working\non\nHarbor",
    ],
)
def test_no_edge_without_a_statement_of_the_user(text: str) -> None:
    assert edges(text) == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("I decided to use SQLite, because it is small.", "Use SQLite"),
        ("We decided to ask Dr. Brown; he knows.", "Ask Dr. Brown"),
        ("Decided not to use MongoDB.", "Not to use MongoDB"),
        ("Choosing tabs over spaces.", "Tabs over spaces"),
        ("It's late, so I'm going with plan B but not today.", "Plan B"),
        ("decided to " + "very " * 40, ("Very " + "very " * 40)[:99]),
    ],
)
def test_a_decision_ends_with_its_clause(text: str, expected: str) -> None:
    assert [name for predicate, name, _ in edges(text) if predicate == "decided"] == [expected]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("See /home/user/main.py, ./a.txt and ../b/.", ["/home/user/main.py", "./a.txt", "../b/"]),
        (
            r"Open C:\Program Files\App\x.exe or \\srv\share\y.",
            [r"C:\Program Files\App\x.exe", r"\\srv\share\y"],
        ),
        ('It is in "/home/ada/My Notes/plan.md".', ["/home/ada/My Notes/plan.md"]),
        ("edit /home/john.doe/project/main.py", ["/home/john.doe/project/main.py"]),
        (r"See C:\Users\kim.lee\run.log now.", [r"C:\Users\kim.lee\run.log"]),
        (
            "Edit docs/plan.md, .github/ci.yml and build.zig.",
            ["docs/plan.md", ".github/ci.yml", "build.zig"],
        ),
        ("Next.js and ASP.NET, example.com/x.md, v1.2", []),
        ("Half is 1/2 and/or 12/05; https://a.b/c/d.py and www.a.b/c, // no", []),
    ],
)
def test_paths_are_files_and_fractions_and_links_are_not(text: str, expected: list[str]) -> None:
    assert [name for type, name in entities(text) if type == "file"] == expected


def test_a_project_and_a_file_of_one_sentence_are_linked() -> None:
    extraction = extract("Working on harbor in ./harbor/main.py. See also ./other.md.")
    reference = extraction.edges[-1]
    assert (reference.subject.name, reference.predicate) == ("Harbor", "references")
    assert (reference.object.name, reference.weight) == ("./harbor/main.py", 0.7)
    assert len(extraction.edges) == 2


@each_case(
    "text, expected",
    [
        ("We decided to use Redis. See docs/time.md for the rules.", ["Use Redis docs/time.md"]),
        ("Decision (3 May): use Redis.\nRationale in docs/7.md.", ["Use Redis docs/7.md"]),
        ("# Project notes: Wren\n\nThe backup is documented in restore.md.", ["Wren restore.md"]),
        ("We decided to use Redis. The tests are in test.py.", []),
        ("I use Redis. See docs/time.md.", []),
        ("We decided to use Redis.\n\nSee docs/time.md.", []),
    ],
)
def test_a_sentence_refers_to_a_file_for_the_one_before(text: str, expected: list[str]) -> None:
    edges = [edge for edge in extract(text).edges if edge.predicate == "references"]
    assert [f"{edge.subject.name} {edge.object.name}" for edge in edges] == expected


def test_a_project_of_the_text_uses_tools() -> None:
    edge = extract("The Harbor project is old. Harbor uses Redis.").edges[0]
    assert (edge.subject.name, edge.object.name, edge.weight) == ("Harbor", "Redis", 0.8)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "\0",
        "\ud800",
        "\x00\x01PK\x03\ufffd\ufffd" * 50,
        "I prefer \ud800.",
        " \n\t",
        "🎉" * 100,
    ],
)
def test_what_is_no_text_states_nothing(text: str) -> None:
    assert extract(text).edges == ()


def test_a_text_beyond_the_limit_and_bytes_are_refused() -> None:
    with pytest.raises(ValueError, match="10000001 characters"):
        extract("a" * 10_000_001)
    with pytest.raises(TypeError, match="not bytes"):
        extract(b"I prefer Python")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "unit",
    ["using ", "I use Python, ", "decided to ", "working on Harbor ./a/b ", "C:\\a b ", "“", "'a ",
     "1 ", "a@", "/a ", "```\n", "X ", "I like a, ", "a" * 20, "working on ", "switched from ",
     "Ada: I use Vim\n", "The user uses Vim. They ", "password ", "if ", "# Ideas\n", "\n\n",
     "my ", "Lumen is ", "busy with ", "- Stack: Redis\n", "# ADR-1: use Redis\n",
     "Project: Harbor\n"],
)  # fmt: skip
def test_the_time_is_linear_in_the_length(unit: str) -> None:
    def seconds(length: int) -> float:
        """The least of three, since another thread or the collector may take its part."""
        text = unit * (length // len(unit))
        times = []
        for _ in range(3):
            start = time.process_time()
            extract(text)
            times.append(time.process_time() - start)
        return min(times)

    assert seconds(20_000) < 10 * max(seconds(5_000), 0.01)


def test_what_repeats_a_verb_takes_no_longer_than_statements_do() -> None:
    def seconds(unit: str) -> float:
        text = (unit * 5000)[:20_000]
        times = []
        for _ in range(3):
            start = time.process_time()
            extract(text)
            times.append(time.process_time() - start)
        return min(times)

    statements = seconds("I use Docker. I decided to use SQLite. Working on Harbor. ")
    units = ("working on ", "decided to ", "using ", "was using ", "no longer ", "I use ", "not ")
    for unit in (*units, "I prefer ", "switched from ", "if ", "User: ", "I'm building "):
        assert seconds(unit) < statements, unit


def test_a_secret_leaves_what_stands_beside_it() -> None:
    assert edges("My API key is abcd1234 and I use Docker.") == [("uses", "Docker", 0.8)]
    assert edges("I prefer password managers.") == [("prefers", "password managers", 1.0)]


def test_a_tool_of_the_user_in_a_project_is_one_of_the_project() -> None:
    stated = [(e.subject.name, e.object.name) for e in extract("I use Go in project Alpha.").edges]
    assert stated == [("Primary User", "Go"), ("Alpha", "Go")]
    stated = [
        (edge.subject.name, edge.object.name)
        for edge in extract("Working on Stonecrop, which uses Elm.").edges
    ]
    assert stated == [("Primary User", "Stonecrop"), ("Stonecrop", "Elm")]


def test_many_statements_of_one_sentence_are_read() -> None:
    tools = ("Vim", "Docker", "Redis", "Kafka", "Python", "Rust", "SQLite", "Terraform")
    text = "Today " + ", ".join(f"I use {tool}" for tool in tools) + "."
    assert {edge.object.name for edge in extract(text).edges} == set(tools)
    assert extract("I use I use Vim.").edges == ()
