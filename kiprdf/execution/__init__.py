"""Runs commands on a store.

Commands: ``requests`` (the JSON protocol), ``engine`` (parse, bind, check, read), ``statements``
(parsed commands and compiled WHEREs), ``catalog_cache`` (types and predicates), ``find_options``
(what a FIND sees), ``sizes`` (answers are cut), ``empty_answers`` (when one is explained), ``why``
(what rows come from), ``error_boundary`` (failures become located errors).

Writes: ``writer`` (draft, check, commit; who writes) and ``scoped_writer`` (of a member of a view),
with ``gate`` (shapes), ``trust``, ``authors`` and ``likely_mistakes``; ``receipts``. What else
writes are functions of a writer: ``transaction``, ``loading`` (rows), ``imports`` with ``sources``
and ``several_sources`` (what each source states), ``signed_capsules``, ``replacing`` by a snapshot
or a patch, ``undo``, ``forgetting`` with ``support`` (what lacks evidence then), ``rejecting``,
``gating`` (shapes are set), ``proposals`` of those who may not, ``bootstrap`` (what opening
writes).

The past: ``history`` of a nexus and ``histories`` (those of a view), ``versions`` (for followers),
``validity``. ``naming`` finds elements by what people write, ``summary`` is what ``repr`` shows.
"""
