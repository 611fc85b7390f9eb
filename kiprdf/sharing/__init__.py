"""What several nexuses know, brought together: following, merging, branches, single facts.

A merge: ``merging`` (the entry point) opens its ``sides`` and finds their base, ``three_way``
compares them, ``applying`` writes what that gives, ``conflicts`` is what it leaves. ``git`` merges
snapshots.

Following: ``following`` (the entry point) reads ``sources``, ``hearing`` is what their logs say.

Single facts: ``nanopublications``, their ``nanopublication_form`` and
``nanopublication_signatures``.
"""
