"""A nexus as pages: a folder of static pages and data files, and the frame of the explorer's.

``publish`` (the entry point) writes a folder; ``elements`` returns pages from views, dictionaries
made with what ``page`` has for all pages; ``svg`` draws for notebooks. ``page`` also names the
files and fills the templates, the only place where HTML is escaped.
"""
