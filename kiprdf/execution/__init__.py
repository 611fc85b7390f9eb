"""Runs commands on a store.

``engine`` (parse, bind, check, read), ``writer`` (draft, check, commit; who writes) and
``scoped_writer`` (of a member of a view), what else writes as functions of a writer (``undo``,
``forgetting`` with ``support`` (what lacks evidence then), ``replacing`` by a snapshot or a patch,
``imports``, ``rejecting``, ``transaction``, ``proposals`` of those who may not), ``history`` of a
nexus and ``histories`` (those of a view), ``why`` (what rows come from), ``requests`` (the JSON
protocol), ``bootstrap`` (what opening writes), ``statements`` (parsed commands and compiled
WHEREs), ``catalog_cache`` (types and predicates), ``error_boundary`` (failures become located
errors), ``find_options`` (what a FIND sees), ``empty_answers`` (when one is explained), ``summary``
(what ``repr`` shows).
"""
