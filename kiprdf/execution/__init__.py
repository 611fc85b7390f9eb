"""Runs commands on a store.

``engine`` (parse, bind, check, read), ``writer`` (draft, check, commit; who writes), what else
writes as functions of a writer (``undo``, ``forgetting`` with ``support`` (what lacks evidence
then), ``replacing`` by a snapshot or a patch, ``imports``, ``rejecting``, ``proposals`` of those
who may not), ``requests`` (the JSON protocol), ``bootstrap`` (what opening writes), ``statements``
(parsed commands and compiled WHEREs), ``catalog_cache`` (types and predicates), ``error_boundary``
(failures become located errors), ``empty_answers`` (when one is explained), ``summary`` (what
``repr`` shows).
"""
