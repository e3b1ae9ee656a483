"""What editors may ask, and what they are told."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import os
import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from lsprotocol import types
from pygls.exceptions import JsonRpcException
from pygls.lsp.server import LanguageServer
from pygls.protocol import LanguageServerProtocol, lsp_method

from cudalint import __version__, registry
from cudalint.commands.rule import markdown
from cudalint.project.compile_commands import DATABASE, forget_databases
from cudalint.project.config import CONFIG_NAMES
from cudalint.project.paths import display_name
from cudalint.server import notebooks
from cudalint.server.actions import KINDS, Actions, overlap
from cudalint.server.diagnostics import Client, Shown, Texts, shown
from cudalint.server.documents import opened, path_of
from cudalint.server.notebooks import Notebook
from cudalint.server.projects import Projects
from cudalint.server.session import Linted, Session

SECTION = "cudalint"
_WATCHED = (*CONFIG_NAMES, DATABASE, "*.{cu,cuh,c,cc,cpp,cxx,h,hh,hpp,hxx,inl,py}")


class _Protocol(LanguageServerProtocol):
    """pygls's, but that documents are kept by us (``documents.py`` says why)."""

    _server: Server

    def structure_message(self, data: dict[str, Any]) -> Any:
        """A request that makes no sense is answered too: whoever asked may be waiting."""
        try:
            return super().structure_message(data)
        except JsonRpcException as error:
            if "id" in data and "method" in data:
                self._send_response(data["id"], error=error.to_response_error())
            raise

    @lsp_method(types.TEXT_DOCUMENT_DID_OPEN)
    def lsp_text_document__did_open(self, params: types.DidOpenTextDocumentParams) -> None:
        self._server.opened(params)

    @lsp_method(types.TEXT_DOCUMENT_DID_CHANGE)
    def lsp_text_document__did_change(self, params: types.DidChangeTextDocumentParams) -> None:
        self._server.changed(params)

    @lsp_method(types.TEXT_DOCUMENT_DID_CLOSE)
    def lsp_text_document__did_close(self, params: types.DidCloseTextDocumentParams) -> None:
        self._server.closed(params.text_document.uri)

    @lsp_method(types.NOTEBOOK_DOCUMENT_DID_OPEN)
    def lsp_notebook_document__did_open(self, params: types.DidOpenNotebookDocumentParams) -> None:
        self._server.notebook_opened(params)

    @lsp_method(types.NOTEBOOK_DOCUMENT_DID_CHANGE)
    def lsp_notebook_document__did_change(
        self, params: types.DidChangeNotebookDocumentParams
    ) -> None:
        self._server.notebook_changed(params)

    @lsp_method(types.NOTEBOOK_DOCUMENT_DID_CLOSE)
    def lsp_notebook_document__did_close(
        self, params: types.DidCloseNotebookDocumentParams
    ) -> None:
        self._server.closed(params.notebook_document.uri)


class Server(LanguageServer):
    """One editor's session."""

    def __init__(self) -> None:
        super().__init__(
            "cudalint", __version__, protocol_cls=_Protocol, notebook_document_sync=notebooks.SYNC
        )
        self.client = Client()
        self.projects = Projects(self._complain)
        self.session = Session(self.projects, self._publish, self._log)
        self._notebooks: dict[str, Notebook] = {}
        self._actions: dict[str, Actions] = {}
        """What was last published, by address of the document."""
        self.is_shut = False
        """Whether the editor has said that it is about to leave."""
        self._running: asyncio.Task[None] | None = None
        self._register()

    # The life of a session ----------------------------------------------------------------------

    def _register(self) -> None:
        handlers: dict[str, Callable[..., Any]] = {
            types.INITIALIZE: self._initialize,
            types.INITIALIZED: self._initialized,
            types.SHUTDOWN: self._shut,
            types.TEXT_DOCUMENT_DID_SAVE: self._saved,
            types.NOTEBOOK_DOCUMENT_DID_SAVE: self._saved,
            types.TEXT_DOCUMENT_CODE_ACTION: self._code_actions,
            types.TEXT_DOCUMENT_HOVER: self._hover,
            types.WORKSPACE_DID_CHANGE_CONFIGURATION: self._configured,
            types.WORKSPACE_DID_CHANGE_WATCHED_FILES: self._watched,
            types.WORKSPACE_DID_CHANGE_WORKSPACE_FOLDERS: self._folders_changed,
        }
        options = {
            types.TEXT_DOCUMENT_CODE_ACTION: types.CodeActionOptions(code_action_kinds=list(KINDS))
        }
        for method, handler in handlers.items():
            # pygls marks what it registers, and a bound method cannot be marked.
            self.feature(method, options.get(method))(functools.partial(handler))

    def _initialize(self, params: types.InitializeParams) -> None:
        self.client = _client(params.capabilities, self.workspace.position_encoding)
        self._take_folders(params)
        # As on the command line: names and the keys of the cache are relative to this folder.
        for folder in self.projects.folders[:1]:
            with contextlib.suppress(OSError):
                os.chdir(folder)
        options = params.initialization_options
        given = options.get("settings", options) if isinstance(options, dict) else None
        self.projects.configure(given)

    def _take_folders(self, params: types.InitializeParams) -> None:
        uris = [folder.uri for folder in params.workspace_folders or ()]
        if not uris and params.root_uri:
            uris = [params.root_uri]
        folders = [path_of(uri) for uri in uris]
        if not folders and params.root_path:
            folders = [Path(params.root_path)]
        self.projects.folders = tuple(path for path in folders if path is not None)

    async def _initialized(self, params: types.InitializedParams) -> None:
        if self._running is None:
            self._running = asyncio.ensure_future(self.session.run())
        capabilities = self.client_capabilities.workspace
        if capabilities is None:
            return
        watching = capabilities.did_change_watched_files
        registrations = []
        if watching and watching.dynamic_registration:
            watchers = [types.FileSystemWatcher(f"**/{pattern}") for pattern in _WATCHED]
            options: Any = types.DidChangeWatchedFilesRegistrationOptions(watchers)
            method = types.WORKSPACE_DID_CHANGE_WATCHED_FILES
            registrations.append(types.Registration("cudalint-files", method, options))
        configuring = capabilities.did_change_configuration
        if configuring and configuring.dynamic_registration:
            options = types.DidChangeConfigurationRegistrationOptions(SECTION)
            method = types.WORKSPACE_DID_CHANGE_CONFIGURATION
            registrations.append(types.Registration("cudalint-settings", method, options))
        if registrations:
            with contextlib.suppress(Exception):  # a client may refuse: then we look ourselves
                parameters = types.RegistrationParams(registrations)
                await self.client_register_capability_async(parameters)
        if capabilities.configuration:
            await self._ask_settings()

    def _shut(self, params: object) -> None:
        self.is_shut = True
        if self._running is not None:
            self._running.cancel()

    # Documents ----------------------------------------------------------------------------------

    def opened(self, params: types.DidOpenTextDocumentParams) -> None:
        """A document was opened."""
        self.session.open(opened(params.text_document, self._folder()))

    def _folder(self) -> Path:
        """Where what was never saved belongs."""
        folders = self.projects.folders
        return folders[0] if folders else Path.cwd()

    def changed(self, params: types.DidChangeTextDocumentParams) -> None:
        """A document was changed."""
        identifier = params.text_document
        document = self.session.documents.get(identifier.uri)
        if document is None:
            self._log(f"a change of {identifier.uri}, which is not open")
            return
        changes, encoding = params.content_changes, self.client.encoding
        self.session.change(document.changed(identifier.version, changes, encoding))

    def closed(self, uri: str) -> None:
        """A document was closed: what is said of it goes."""
        self._notebooks.pop(uri, None)
        document = self.session.remove(uri)
        if document is not None:
            self._clear(part.uri for part in document.shown)

    def notebook_opened(self, params: types.DidOpenNotebookDocumentParams) -> None:
        """A notebook was opened."""
        given, texts = params.notebook_document, params.cell_text_documents
        notebook = notebooks.opened(given, _plain(given.metadata), texts, self._folder())
        self._notebooks[notebook.uri] = notebook
        self.session.open(notebook.document())

    def notebook_changed(self, params: types.DidChangeNotebookDocumentParams) -> None:
        """A notebook was changed."""
        identifier, change = params.notebook_document, params.change
        before = self._notebooks.get(identifier.uri)
        if before is None:
            self._log(f"a change of {identifier.uri}, which is not open")
            return
        metadata = _plain(change.metadata)
        after = before.changed(identifier.version, change, metadata, self.client.encoding)
        self._notebooks[after.uri] = after
        document = after.document()
        left = {part.uri for part in document.cells}
        self._clear(cell.text.uri for cell in before.cells if cell.text.uri not in left)
        self.session.change(document)

    def _clear(self, uris: Iterable[str]) -> None:
        """Take back what was said of some texts."""
        for uri in uris:
            self._actions.pop(uri, None)
            self.text_document_publish_diagnostics(types.PublishDiagnosticsParams(uri, []))

    def _saved(self, params: object) -> None:
        self.session.refresh()

    def _publish(self, linted: Linted) -> None:
        plan, documents = linted.project.plan, linted.documents
        texts = Texts(documents, linted.report.sources, self.client.encoding)
        found = shown(linted.report, texts, self.client, plan.settings.documentation)
        for document in documents:
            name = display_name(document.path)
            for part in document.shown:
                listed = found.get(part.uri, [])
                self._actions[part.uri] = Actions(document, name, listed, texts, self.client)
                diagnostics = [one.diagnostic for one in listed]
                self.text_document_publish_diagnostics(
                    types.PublishDiagnosticsParams(part.uri, diagnostics, part.version)
                )

    def _current(self, uri: str) -> Actions | None:
        """What is known of a document, if it is of the text that stands there now."""
        known = self._actions.get(uri)
        current = known and self.session.documents.get(known.document.uri) is known.document
        return known if current else None

    # Questions ----------------------------------------------------------------------------------

    def _code_actions(self, params: types.CodeActionParams) -> list[types.CodeAction]:
        known = self._current(params.text_document.uri)
        return list(known.within(params.range, params.context.only)) if known else []

    def _hover(self, params: types.HoverParams) -> types.Hover | None:
        known = self._current(params.text_document.uri)
        here = types.Range(params.position, params.position)
        found = [one for one in known.shown if overlap(one.diagnostic.range, here)] if known else []
        pages = _pages(found)
        if not pages:
            return None
        kind = types.MarkupKind.Markdown if self.client.markdown else types.MarkupKind.PlainText
        return types.Hover(types.MarkupContent(kind, pages), found[0].diagnostic.range)

    # Settings -----------------------------------------------------------------------------------

    async def _configured(self, params: types.DidChangeConfigurationParams) -> None:
        workspace = self.client_capabilities.workspace
        if workspace is not None and workspace.configuration:
            await self._ask_settings()
        else:
            given = _plain(params.settings)
            self._configure(given.get(SECTION, given) if isinstance(given, dict) else None)

    async def _ask_settings(self) -> None:
        items = [types.ConfigurationItem(section=SECTION)]
        with contextlib.suppress(Exception):  # a client that does not answer has no settings
            answer = await self.workspace_configuration_async(types.ConfigurationParams(items))
            if answer and answer[0] is not None:
                self._configure(_plain(answer[0]))

    def _configure(self, section: object) -> None:
        self.projects.configure(section)
        self.session.refresh()

    def _watched(self, params: types.DidChangeWatchedFilesParams) -> None:
        forget_databases()
        self.session.refresh()

    def _folders_changed(self, params: types.DidChangeWorkspaceFoldersParams) -> None:
        paths = [path_of(folder.uri) for folder in self.workspace.folders.values()]
        self.projects.folders = tuple(path for path in paths if path is not None)
        self.projects.forget()
        self.session.refresh()

    # Telling ------------------------------------------------------------------------------------

    def report_server_error(self, error: Exception, source: Any) -> None:
        """What goes wrong is logged: no editor wants a window for each odd message."""
        self._log(f"{type(error).__name__}: {error}")

    def _complain(self, message: str) -> None:
        kind = types.MessageType.Error
        self.window_show_message(types.ShowMessageParams(kind, f"cudalint: {message}"))

    def _log(self, message: str) -> None:
        print(f"cudalint: {message}", file=sys.stderr, flush=True)


def _pages(found: Sequence[Shown]) -> str:
    """The pages of the rules whose findings these are, each once."""
    known = registry.all_rules()
    codes = dict.fromkeys(one.finding.code for one in found if one.finding)
    return "\n\n".join(markdown(known[code]) for code in codes if code in known)


def _plain(value: Any) -> Any:
    """What pygls makes of JSON, as plain data again."""
    if hasattr(value, "_asdict"):
        return {key: _plain(one) for key, one in value._asdict().items()}
    if isinstance(value, dict):
        return {key: _plain(one) for key, one in value.items()}
    return [_plain(one) for one in value] if isinstance(value, list | tuple) else value


def _client(capabilities: types.ClientCapabilities, encoding: Any) -> Client:
    document, workspace = capabilities.text_document, capabilities.workspace
    published = document and document.publish_diagnostics
    edits = workspace and workspace.workspace_edit
    hover = document and document.hover
    return Client(
        encoding=encoding or types.PositionEncodingKind.Utf16,
        related=bool(published and published.related_information),
        links=bool(published and published.code_description_support),
        tags=bool(published and published.tag_support),
        data=bool(published and published.data_support),
        versions=bool(edits and edits.document_changes),
        markdown=bool(hover and types.MarkupKind.Markdown in (hover.content_format or ())),
    )
