"""A nexus as a folder of static pages and data files.

``publish`` (the entry point) writes everything; ``knowledge`` (the dataset by element);
``overview`` (start page and vocabulary), ``pages`` (elements) and their parts in ``page_sections``
and ``page_parts``; ``markup`` (HTML, the only place where it is escaped); ``file_names``;
``element_turtle`` (the Turtle file of a page); ``provenance`` (PROV-O, Dublin Core, SKOS) and
``description`` (VoID, DCAT).
"""
