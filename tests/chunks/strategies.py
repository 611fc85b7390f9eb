"""Hypothesis strategies for values, chunks, statements and documents."""

from __future__ import annotations

from hypothesis import strategies as st

from kiprdf.chunks import (
    Chunk,
    Condition,
    Date,
    Document,
    Link,
    Name,
    Negated,
    Rule,
    Text,
    Variable,
)
from kiprdf.chunks.model import is_name

WORDS = st.one_of(
    st.sampled_from(["dog", "a", "kindof", "_:1", "x-y", "p:q", "true1", "05", "http://x.org/a#b"]),
    st.text("abtf01:._-/", min_size=1, max_size=6).filter(is_name),
)
names = WORDS.map(Name)
reserved = st.sampled_from(["@do", "@id", "@subject", "@object", "@context"]).map(Name)
texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=8).map(Text)
numbers = st.integers() | st.floats(allow_nan=False) | st.sampled_from([10**30, -0.0, 1e22])
dates = st.sampled_from(
    ["1879-03-14", "1879-03", "1997-07-16T19:20+01:00", "2000-02-29T00:00:00.5Z"]
)
plain = names | texts | numbers | st.booleans() | dates.map(Date)
variables = WORDS.map(Variable)
negated = st.builds(Negated, st.none() | plain | variables)
atoms = plain | variables | negated | st.just(Name("*")) | reserved
values = atoms | st.lists(atoms, min_size=2, max_size=4)
properties = st.dictionaries(names | reserved, values, max_size=4)
chunks = st.builds(Chunk, names | st.just("*") | reserved, properties, id=st.none() | WORDS)
links = st.builds(Link, names, names | reserved, names)
conditions = st.builds(Condition, chunks, st.booleans())
rules = st.builds(
    Rule, st.lists(conditions, min_size=1, max_size=3), st.lists(chunks, min_size=1, max_size=3)
)
documents = st.builds(Document, st.lists(chunks | links | rules, max_size=4))
