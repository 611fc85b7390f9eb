"""A nexus as static pages and files.

``publish`` (the door), ``knowledge`` (a dataset as people read it), ``overview``, ``pages`` with
its ``page_*`` parts, ``markup`` (the one door for escaping), ``file_names``, ``neighbours``;
``provenance`` (PROV-O, Dublin Core, SKOS) and ``description`` (VoID, DCAT).
"""
