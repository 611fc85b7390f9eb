"""SHACL shapes that the writes of a nexus must satisfy (docs/decisions/204).

``Shapes`` are read from Turtle, ``violations`` are where a dataset does not fit them. ``reads``
says which elements a change concerns, ``checker`` checks them in a ``view`` of the dataset,
``demands`` words the shapes for models. The validator is pySHACL, of the extra ``shapes``; it is
loaded only where a nexus has shapes.
"""

from kiprdf.shapes.shapes import Shapes, Violation, require_validator, violations

__all__ = ["Shapes", "Violation", "require_validator", "violations"]
