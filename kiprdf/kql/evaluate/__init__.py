"""Evaluates the algebra in Python, over any store, where that is faster or the engine must not.

``steps`` makes a pattern a list of steps, ``reads`` has what they read; ``by_value`` begins at
elements in the order of a value.
"""
