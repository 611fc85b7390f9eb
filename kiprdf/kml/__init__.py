"""Turns a checked KML statement into one delta and a receipt.

``draft`` (the nexus as the statement would leave it), ``upsert``, ``update``, ``merge``,
``delete``, ``protection`` (what no statement may change), ``trust`` (what only people may do to a
status), ``rejections`` (what no write may state), ``erased`` (what a copy may not bring back),
``schema`` (instance schemas, enforced on request), ``scoped`` (the draft of one member of a view).
``creations`` are new elements without a draft, ``merged_origins`` keeps imported data apart in a
merge, ``says`` has what several nexuses say of an element. ``statements`` writes UPSERT statements.
"""
