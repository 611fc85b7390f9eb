"""A nexus as pages: a folder of static pages and data files, and the frame of the explorer's.

``publish`` (the entry point) writes a folder; ``overview`` (start page and vocabulary) and
``elements`` return pages from views, dictionaries made with what ``page`` has for all pages;
``rendering`` fills the templates, the only place where HTML is escaped; ``file_names``;
``element_turtle`` (the Turtle file of a page).
"""
