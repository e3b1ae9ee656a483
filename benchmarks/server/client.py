"""A scripted editor: speaks JSON-RPC to a server in a process of its own."""

from __future__ import annotations

import json
import queue
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO

COMMAND = (sys.executable, "-m", "cudalint", "server")
CAPABILITIES: Mapping[str, Any] = {
    "general": {"positionEncodings": ["utf-16"]},
    "textDocument": {
        "publishDiagnostics": {
            "relatedInformation": True,
            "versionSupport": True,
            "codeDescriptionSupport": True,
            "dataSupport": True,
            "tagSupport": {"valueSet": [1, 2]},
        },
        "hover": {"contentFormat": ["markdown", "plaintext"]},
        "codeAction": {"codeActionLiteralSupport": {"codeActionKind": {"valueSet": [""]}}},
    },
    "notebookDocument": {"synchronization": {"executionSummarySupport": False}},
    "workspace": {"workspaceEdit": {"documentChanges": True}},
}


class Editor:
    """One session. Use as a context manager: it shuts the server down at the end."""

    def __init__(
        self,
        folder: Path | None,
        *,
        command: Sequence[str] = COMMAND,
        capabilities: Mapping[str, Any] = CAPABILITIES,
        settings: Mapping[str, Any] | None = None,
        environment: Mapping[str, str] | None = None,
        streams: tuple[BinaryIO, BinaryIO] | None = None,
        errors: BinaryIO | None = None,
    ) -> None:
        self.folder = folder
        self.capabilities = capabilities
        self.settings = settings
        self.process: subprocess.Popen[bytes] | None = None
        self.messages: list[dict[str, Any]] = []
        """What the server said unasked, in order."""
        self.diagnostics: dict[str, dict[str, Any]] = {}
        """The last ones of each document."""
        self.answers: dict[str, Callable[[Any], Any]] = {}
        """How requests of the server are answered, by method; with ``null`` otherwise."""
        self.versions: dict[str, int] = {}
        self._incoming: queue.Queue[dict[str, Any] | None] = queue.Queue()
        self._responses: dict[int, dict[str, Any]] = {}
        self._number = 0
        if streams is None:
            self.process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                env=environment,
            )
            assert self.process.stdin is not None and self.process.stdout is not None
            streams = self.process.stdout, self.process.stdin  # type: ignore[assignment]
        assert streams is not None
        self._reading, self._writing = streams
        threading.Thread(target=self._read, daemon=True).start()

    def __enter__(self) -> Editor:
        self.initialize()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if kind is None:
            self.leave()
        elif self.process is not None:
            self.process.kill()
            self.process.wait()

    # The session ---------------------------------------------------------------------------------

    def initialize(self) -> dict[str, Any]:
        """Say hello; what the server can do."""
        uri = self.folder.as_uri() if self.folder else None
        parameters = {
            "processId": None,
            "rootUri": uri,
            "workspaceFolders": [{"uri": uri, "name": "folder"}] if uri else None,
            "capabilities": self.capabilities,
            "initializationOptions": {"settings": self.settings} if self.settings else None,
        }
        result: dict[str, Any] = self.ask("initialize", parameters)
        self.tell("initialized", {})
        return result

    def leave(self) -> int:
        """Say goodbye; the server's exit status."""
        self.ask("shutdown", None)
        self.tell("exit", None)
        status = 0
        if self.process is not None:
            status = self.process.wait(20)
        self._writing.close()
        return status

    def open(self, path: Path | str, text: str, language: str = "cuda-cpp") -> str:
        """Open a document; its address."""
        uri = path.as_uri() if isinstance(path, Path) else path
        self.versions[uri] = 1
        item = {"uri": uri, "languageId": language, "version": 1, "text": text}
        self.tell("textDocument/didOpen", {"textDocument": item})
        return uri

    def change(self, uri: str, *changes: Mapping[str, Any]) -> int:
        """Change a document; its new version."""
        self.versions[uri] += 1
        identifier = {"uri": uri, "version": self.versions[uri]}
        self.tell(
            "textDocument/didChange",
            {"textDocument": identifier, "contentChanges": list(changes)},
        )
        return self.versions[uri]

    def save(self, uri: str) -> None:
        """Say that a document was saved."""
        self.tell("textDocument/didSave", {"textDocument": {"uri": uri}})

    def close(self, uri: str) -> None:
        """Close a document."""
        self.tell("textDocument/didClose", {"textDocument": {"uri": uri}})

    def shown(self, uri: str, seconds: float = 240) -> list[dict[str, Any]]:
        """The diagnostics of a document's present version, once they are there."""
        self.until(
            lambda: self.diagnostics.get(uri, {}).get("version") == self.versions[uri], seconds
        )
        found: list[dict[str, Any]] = self.diagnostics[uri]["diagnostics"]
        return found

    # The wires -----------------------------------------------------------------------------------

    def ask(self, method: str, parameters: Any, seconds: float = 240) -> Any:
        """A request's result; ``LookupError`` where the server refuses."""
        self._number += 1
        number = self._number
        self.send({"jsonrpc": "2.0", "id": number, "method": method, "params": parameters})
        self.until(lambda: number in self._responses, seconds)
        response = self._responses.pop(number)
        if "error" in response:
            raise LookupError(response["error"]["message"])
        return response["result"]

    def tell(self, method: str, parameters: Any) -> None:
        """A notification."""
        self.send({"jsonrpc": "2.0", "method": method, "params": parameters})

    def send(self, message: Mapping[str, Any]) -> None:
        """Any message."""
        self.send_bytes(json.dumps(message).encode())

    def send_bytes(self, body: bytes) -> None:
        """Anything as a message's body."""
        self.send_raw(b"Content-Length: %d\r\n\r\n" % len(body) + body)

    def send_raw(self, data: bytes) -> None:
        """Anything at all."""
        self._writing.write(data)
        self._writing.flush()

    def until(self, happened: Callable[[], bool], seconds: float = 240) -> None:
        """Take messages until something has happened. Raises ``TimeoutError``."""
        deadline = time.monotonic() + seconds
        while not happened():
            try:
                message = self._incoming.get(timeout=max(deadline - time.monotonic(), 0.001))
            except queue.Empty:
                raise TimeoutError(f"nothing within {seconds:g} s") from None
            if message is None:
                raise ConnectionError("the server is gone")
            self._take(message)

    def settle(self, seconds: float = 1.0) -> None:
        """Take messages until none has come for some time."""
        while True:
            try:
                message = self._incoming.get(timeout=seconds)
            except queue.Empty:
                return
            if message is None:
                raise ConnectionError("the server is gone")
            self._take(message)

    def _take(self, message: dict[str, Any]) -> None:
        if "method" not in message:
            self._responses[message["id"]] = message
            return
        if "id" in message:
            answer = self.answers.get(message["method"])
            result = answer(message.get("params")) if answer else None
            self.send({"jsonrpc": "2.0", "id": message["id"], "result": result})
        self.messages.append(message)
        if message["method"] == "textDocument/publishDiagnostics":
            self.diagnostics[message["params"]["uri"]] = message["params"]

    def _read(self) -> None:
        try:
            while True:
                length = 0
                while line := self._reading.readline().strip():
                    name, _, value = line.partition(b":")
                    if name.lower() != b"content-length" and name.lower() != b"content-type":
                        raise ValueError(f"the server wrote {line!r}")
                    length = int(value) if name.lower() == b"content-length" else length
                if not length:
                    break
                self._incoming.put(json.loads(self._reading.read(length)))
        except (OSError, ValueError) as error:
            self._incoming.put({"method": "broken", "params": str(error)})
        self._incoming.put(None)
