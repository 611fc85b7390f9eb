"""Mentions of tools, and of words that are no tools although a tool has their name."""

from __future__ import annotations

import re

from kiprdf.memory.extraction.tools import _FILE, _WORD, _entry, _table, mentions
from kiprdf.search.words import sections
from tests.cases import each_case

NAMED = """
We track bugs in Linear. => Linear
We moved our issues to Linear. => Linear
the Linear app => Linear
my notes are in Bear => Bear
I keep my tasks in Things. => Things
I write letters in Word. => Word
We grade in Canvas. => Canvas
I reinstalled with Mint. => Linux Mint
We take payments with Square. => Square
I make the invoices in Wave. => Wave
i use notion and slack => Notion, Slack
we talk on slack => Slack
everything is in excel => Excel
Slack is down. => Slack
Notion is where our recipes live. => Notion
Stack: Rust, Svelte, Tauri => Rust, Svelte, Tauri
Rust is my favourite language. => Rust
i code in rust, mostly for the backend => Rust
Our backend is in Go. => Go
We write Go services. => Go
I know C, C++ and R. => C, C++, R
I do my statistics in R. => R
my blog is built with Hugo => Hugo
i use ruby => Ruby
Using Python, not Ruby. => Python, Ruby
shell: fish => Fish
switched from npm to yarn => npm, Yarn
Moved the blog from WordPress to Hugo. => WordPress, Hugo
We use uv and pip. => uv, pip
I write in LaTeX. => LaTeX
my thesis is in latex => LaTeX
import pandas as pd => pandas
We run SAP. => SAP
the user prefers jamovi over SPSS => jamovi, SPSS
We host on Proxmox with TrueNAS. => Proxmox, TrueNAS
Deployed Harbor with Helm => Helm
I use Obsidian Sync. => Obsidian
I draw in Procreate and edit in Reaper. => Procreate, Reaper
tested with Jest => Jest
editor = "vim" => Vim
Vim for code, Anki for words => Vim, Anki
Using Praat and ELAN. => Praat, ELAN
Wir nutzen Helm und Docker. => Helm, Docker
Ich arbeite mit Excel. => Excel
"""

ORDINARY = """
We fit a linear model. / Linear models are fine. / A Linear Model of Growth / I like linear algebra.
Things went well. / Things Went Well / I love things like that. / All Things Considered
Bear with me. / Bear With Me / Grizzly Bear / I went hiking with Bear Grylls.
I love canvas bags. / Canvas bags are great. / I Love Canvas Bags / A Study in Canvas
Painting on canvas is fun. / oil on canvas
Mint tea / Mint Tea / Mint tea is good. / I like Mint tea. / Fresh Mint Tea for Two
Square one / Back to Square One / We are back to square one. / We met in Times Square.
Go home. / Go Home / Let's go home. / Time To Go Home / We decided to go.
R. Smith / I spoke with R. Smith. / J. R. R. Tolkien / Plan C / vitamin C and D / sonata in C major
Word has it that he left. / Just say the word. / In a word, no.
I have no notion. / A Notion of Justice / Under the Sway of Reason / Trees sway in the wind.
We engage with customers. / to engage in sports / Harvest is over. / Harvest Festival on Sunday
Jasmine called. / I went with Jasmine to town. / Jasmine tea, please. / I like Jasmine.
Ruby is three years old. / I walked with Ruby. / a ruby ring / I used Ruby's laptop.
Spring is here. / In Spring we travel. / We planted in spring. / last Spring
Taylor Swift is on tour. / I listened to Taylor Swift. / a swift reply / Swift Response Team
Phoenix is hot. / I live in Phoenix. / We flew to Phoenix.
covered in rust / Rust is a problem for old cars. / The bridge is covered in Rust Oleum paint.
Black is my colour. / in Black and White / cut me some slack / I want to excel. / zoom in on it
latex gloves / exposed to UV / with UV protection / We saw pandas. / The sap is running.
We went on safari in Kenya. / the audacity of hope / a tailwind helped / Mercurial and moody
my niece Alexa / dinner with Hugo / Ray fixed it. / a trip with Maya / with Alfred / for Ada
I like to react. / a flask of tea / with poetry and prose / celery and carrots / Cargo pants
I bought yarn. / wool and yarn / We use bamboo chopsticks. / season with paprika and salt
face time with the boss / my only office / plan to eat less / remember the milk / since day one
Die Maschine ist kaputt. / Ich bleibe in Kontakt mit Anna. / Das Werkzeug liegt im Keller.
Der Helm ist rot. / Die Premiere war gut. / im Express / Wir fahren nach Tokio.
Der Zustand ist gut.
Il faut aider les gens, vite! / La vue est belle. / Vite, viens! / la notion de temps
Eu vim de casa, a lua estava linda. / È stata una bella giornata. / Ik praat met hem.
How apt the poor are to be proud. / Partly in jest. / King Kong / Franz is apt to sleep.
The outlook is good. / hey presto / at the helm / Prime minister / Fish and chips / I cook fish.
"""


def _listed(cases: str) -> list[tuple[str, list[str]]]:
    parts = (line.split(" => ") for line in cases.strip().splitlines())
    return [(text, names.split(", ")) for text, names in parts]


@each_case("text, names", _listed(NAMED))
def test_a_tool_is_mentioned(text: str, names: list[str]) -> None:
    assert [mention.name for mention in mentions(text)] == names


@each_case("text", [*re.split(r" / |\n", ORDINARY.strip())])
def test_a_word_with_the_name_of_a_tool_is_none(text: str) -> None:
    assert list(mentions(text)) == []


def test_the_list_is_sorted_and_each_spelling_names_one_tool() -> None:
    keys: list[str] = []
    for listed in sections(_FILE).values():
        lines = listed.replace("\n", " ").casefold().replace(": ", ", ").split("; ")
        spellings = [[name.rstrip("?!") for name in line.split(", ")] for line in lines]
        names = [line[0] for line in spellings]
        assert names == sorted(names)
        for line in spellings:
            matched = [key for key in line if " ".join(_WORD.findall(key)) == key]
            assert matched in (line, line[1:])
            assert matched
            keys += line
    assert len(keys) == len(set(keys)) == len(_table())
    assert len({entry.name for entry in map(_entry, keys) if entry}) >= 2300
