"""The keys of forms, which pages of others cannot know."""

from __future__ import annotations

import hashlib
import hmac
import json
from typing import NamedTuple

from kiprdf.actors import Actor


class Forms(NamedTuple):
    """Makes the keys of the forms that are shown to one actor."""

    secret: bytes
    actor: Actor

    def key(self, form: str) -> str:
        """What a form must send: it is that of this actor, and of what the form is about."""
        text = json.dumps([self.actor.label, form])
        return hmac.new(self.secret, text.encode(), hashlib.sha256).hexdigest()

    def is_key(self, key: str, form: str) -> bool:
        """Whether a form was made for this actor."""
        return hmac.compare_digest(self.key(form).encode(), key.encode())
