"""The pages for people: ``explorer.py`` has what they share, and a module makes each kind.

The pages of elements are those of ``kiprdf.pages``, in another frame and with a drawing.
"""
