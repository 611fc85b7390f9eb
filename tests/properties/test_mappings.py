"""With any mapping, every dataset is restored from every format and either profile.

``KIPRDF_EXAMPLES`` sets how many datasets and mappings are tried.
"""

from __future__ import annotations

import io

from hypothesis import given, note, settings
from pyoxigraph import Quad, Triple

from kiprdf import Mapping
from kiprdf.interchange.dataset import check_dataset
from kiprdf.interchange.formats import Format, Profile, reading
from kiprdf.interchange.formats.profiles import from_profile, to_profile
from kiprdf.interchange.formats.writing import Serializer
from kiprdf.interchange.mapping.apply import apply_mapping, undo_mapping
from tests.interchange.nexuses import turtle_of
from tests.interchange.test_formats import WAYS
from tests.long_runs import amount
from tests.nexus.support import restored, restored_from
from tests.properties.mapped_datasets import IRIS, datasets, mappings

EXAMPLES = amount("EXAMPLES", 10)
tried = settings(max_examples=EXAMPLES)


@tried
@given(datasets(), mappings())
def test_every_dataset_is_restored_from_every_mapping(
    dataset: list[Triple], under: Mapping
) -> None:
    note(str(under.context()))
    check_dataset(dataset, IRIS)
    mapped = list(apply_mapping(dataset, IRIS, under))
    assert len(mapped) == len(set(mapped))
    for profile in ("rdf11", "rdf12"):
        written = list(to_profile(mapped, profile))
        quads = from_profile(Quad(*triple) for triple in reversed(written))
        again = list(undo_mapping((quad.triple for quad in quads), IRIS, under))
        assert set(again) == set(dataset)
        assert len(again) == len(dataset)


@tried
@given(datasets(), mappings())
def test_the_order_of_the_triples_does_not_matter(dataset: list[Triple], under: Mapping) -> None:
    one = set(apply_mapping(dataset, IRIS, under))
    assert set(apply_mapping(reversed(dataset), IRIS, under)) == one


def written(dataset: list[Triple], format: Format, profile: Profile, under: Mapping) -> bytes:
    target = io.BytesIO()
    Serializer(dataset, format, IRIS, profile=profile, mapping=under).write(target)
    return target.getvalue()


@tried
@given(datasets(), mappings())
def test_every_dataset_is_restored_from_every_format(dataset: list[Triple], under: Mapping) -> None:
    note(str(under.context()))
    for format, profile in WAYS:
        text = written(dataset, format, profile, under)
        again = reading.read(text, format, IRIS.base, mapping=under)
        assert (set(again), len(again)) == (set(dataset), len(dataset)), (format, profile)


@settings(tried, max_examples=EXAMPLES // 5)
@given(datasets(), mappings())
def test_every_nexus_is_restored_from_its_mapped_snapshots(
    dataset: list[Triple], under: Mapping
) -> None:
    note(str(under.context()))
    nexus = restored_from(turtle_of(dataset, IRIS.base), IRIS.base)
    before = nexus.snapshot()
    for format, profile in WAYS:
        copy = restored(nexus, format=format, profile=profile, mapping=under)
        assert copy.snapshot() == before, (format, profile)
