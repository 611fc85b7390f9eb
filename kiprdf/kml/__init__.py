"""Turns a checked KML statement into one delta and a receipt.

``draft`` (the nexus as the statement would leave it), ``upsert``, ``update``, ``merge``,
``delete``, ``protection`` (what no statement may change), ``rejections`` (what no write may state),
``schema`` (instance schemas, enforced on request). ``statements`` writes UPSERT statements.
"""
