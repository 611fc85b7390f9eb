"""The path of the public address, where a proxy serves the application below one."""

from __future__ import annotations

from starlette.types import ASGIApp, Receive, Scope, Send


class PublicPath:
    """An application below a path, such as ``/memory``, whether or not a proxy removes it."""

    def __init__(self, app: ASGIApp, path: str) -> None:
        self._app = app
        self._path = path

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and not scope.get("root_path"):
            path, raw_path = scope["path"], scope.get("raw_path", b"")
            if not path.startswith(self._path + "/"):
                path, raw_path = self._path + path, self._path.encode() + raw_path
            scope = {**scope, "root_path": self._path, "path": path, "raw_path": raw_path}
        await self._app(scope, receive, send)
