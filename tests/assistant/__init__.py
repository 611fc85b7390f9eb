"""Sixty days of a personal assistant: what it writes, and what it must remember.

``record`` keeps the truth in plain Python, ``commands`` are the texts that a model would write,
``life`` lives the days on both a nexus and a record, ``questions`` asks both, and the tests compare
the answers.
"""
