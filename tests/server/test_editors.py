"""The set-ups of docs/editors.md: editors as they come drive the server, by a script."""

from __future__ import annotations

import json
import os
import re
import select
import shutil
import subprocess
import sys
import time
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pygls", reason="the extra `server` is not installed")

from benchmarks.server.client import Editor
from cudalint.server.projects import EditorSettings
from tests.server.conftest import LEAK

ROOT = Path(__file__).parent.parent.parent
PAGE = ROOT / "docs" / "editors.md"
EXTENSION = ROOT / "docs" / "editors" / "vscode"
# What vscode-languageclient 9.0.1 sends when it runs the extension in docs/editors/vscode:
HELLO = json.loads((Path(__file__).parent / "vscode_initialize.json").read_text())

NEOVIM = """
vim.g.do_filetype_lua = 1
vim.cmd("filetype on")
if vim.lsp.start == nil then -- 0.7
  vim.fs = { find = function() return { "" } end, dirname = function() return vim.fn.getcwd() end }
  vim.lsp.start = function(options)
    vim.lsp.buf_attach_client(0, vim.lsp.start_client(options))
  end
end
local told = {}
local function shown() return #vim.diagnostic.get(0) end
SNIPPET
local done, problem = pcall(function()
  vim.cmd("edit a.cu")
  vim.wait(60000, function() return shown() > 0 end, 50)
  told.found = vim.diagnostic.get(0)
  local here = told.found[1]
  vim.api.nvim_win_set_cursor(0, { here.lnum + 1, here.col })
  local place = vim.lsp.util.make_position_params(0, "utf-16")
  for _, one in pairs(vim.lsp.buf_request_sync(0, "textDocument/hover", place, 20000)) do
    told.hover = one.result.contents.value
  end
  local question = {
    textDocument = place.textDocument,
    range = { start = place.position, ["end"] = place.position },
    context = { diagnostics = {} },
  }
  for _, one in pairs(vim.lsp.buf_request_sync(0, "textDocument/codeAction", question, 20000)) do
    for _, action in ipairs(one.result) do
      if action.title:find("^Ignore") then
        vim.lsp.util.apply_workspace_edit(action.edit, "utf-16")
      end
    end
  end
  told.text = vim.api.nvim_buf_get_lines(0, 0, -1, true)
  told.silenced = vim.wait(60000, function() return shown() == 0 end, 50)
end)
told.problem = not done and tostring(problem) or nil
for _, one in ipairs(told.found or {}) do one.user_data = nil end
local file = io.open("told.json", "w")
file:write(vim.fn.json_encode(told))
file:close()
vim.cmd("qa!")
"""
EMACS = """
(defun wait-for (happened)
  (let ((turns 0))
    (while (and (not (funcall happened)) (< turns 600))
      (setq turns (1+ turns))
      (accept-process-output nil 0.1))))
(setq eglot-autoshutdown nil eglot-sync-connect 30 eglot-connect-timeout 60)
(find-file "a.cu")
(run-hooks 'post-command-hook)
(wait-for (lambda () (eglot-current-server)))
(flymake-start)
(wait-for (lambda () (flymake-diagnostics)))
(let ((found (mapcar (lambda (one) (list (flymake-diagnostic-text one)
                                         (line-number-at-pos (flymake-diagnostic-beg one))))
                     (flymake-diagnostics)))
      (silenced nil))
  (goto-char (point-min))
  (search-forward "cudaMemcpy")
  (end-of-line)
  (forward-line 1)
  (insert "        cudaFree(d_in), d_in = nullptr;\\n")
  (erase-buffer)
  (insert "#include <cuda_runtime.h>\\n")
  (run-hooks 'post-command-hook)
  (eglot--signal-textDocument/didChange)
  (wait-for (lambda () (not (flymake-diagnostics))))
  (setq silenced (not (flymake-diagnostics)))
  (set-buffer-modified-p nil)
  (with-temp-file "told.json"
    (insert (json-encode (list :found (vconcat (mapcar #'vconcat found))
                               :silenced (if silenced t json-false))))))
"""


def snippets(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", PAGE.read_text("utf-8"), re.DOTALL | re.M)


def project_in(folder: Path) -> dict[str, str]:
    """Writes a project into the folder of a user, whose environment it gives."""
    (folder / "cudalint.toml").write_text("")
    (folder / "a.cu").write_text(LEAK)
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    own = {"HOME": str(folder), "XDG_CONFIG_HOME": str(folder / ".config")}
    return {**os.environ, "PATH": path, "TERM": "xterm", **own}


def driven(command: list[str], folder: Path) -> dict[str, Any]:
    """What an editor told after it ran a script."""
    environment = project_in(folder)
    done = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, timeout=240
    )
    told = folder / "told.json"
    assert told.exists(), done.stderr
    found: dict[str, Any] = json.loads(told.read_text())
    return found


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("nvim") is None, reason="no Neovim here")
def test_neovim(tmp_path: Path) -> None:
    version = subprocess.run(["nvim", "--version"], capture_output=True, text=True).stdout
    major, minor = map(int, re.findall(r"v(\d+)\.(\d+)", version)[0])
    newer, older = snippets("lua")
    snippet = newer if (major, minor) >= (0, 11) else older
    script = tmp_path / "script.lua"
    script.write_text(NEOVIM.replace("SNIPPET", snippet))
    told = driven(["nvim", "--headless", "-u", "NONE", "-i", "NONE", "-S", str(script)], tmp_path)
    assert "problem" not in told
    (found,) = told["found"]
    assert (found["lnum"], found["col"]) == (5, 8) and "`d_in`" in found["message"]
    assert told["hover"].startswith("# early-exit-leak")
    assert told["text"][5].endswith("// cudalint: ignore[GPU102]")
    assert told["silenced"] is True


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("emacs") is None, reason="no Emacs here")
def test_emacs(tmp_path: Path) -> None:
    start = ["emacs", "--batch", "--eval", "(package-initialize)"]
    loads = subprocess.run([*start, "--eval", "(require 'eglot)"], capture_output=True)
    if loads.returncode:
        pytest.skip("this Emacs has no eglot")
    (snippet,) = snippets("elisp")
    setup, script = tmp_path / "init.el", tmp_path / "script.el"
    setup.write_text(snippet)
    script.write_text(EMACS)
    told = driven([*start, "-l", str(setup), "-l", str(script)], tmp_path)
    ((message, line),) = told["found"]
    assert "`d_in`" in message and line == 6
    assert told["silenced"] is True


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("hx") is None, reason="no Helix here")
def test_helix(tmp_path: Path) -> None:
    """It has no scripts: somebody looks at its screen, and types."""
    pty, termios = pytest.importorskip("pty"), pytest.importorskip("termios")
    (languages,) = snippets("toml")
    settings = tmp_path / ".config" / "helix" / "languages.toml"
    settings.parent.mkdir(parents=True)
    settings.write_text(languages)
    environment = project_in(tmp_path)
    screen, terminal = pty.openpty()
    termios.tcsetwinsize(terminal, (40, 200))
    editor = subprocess.Popen(
        ["hx", "a.cu"],
        cwd=tmp_path,
        env=environment,
        stdin=terminal,
        stdout=terminal,
        stderr=terminal,
        start_new_session=True,
    )
    try:
        written, drawn, end = b"", b"", time.monotonic() + 60
        while b"isnotreleased" not in drawn and time.monotonic() < end:
            if select.select([screen], [], [], 0.5)[0]:
                written += os.read(screen, 65536)
                # A blank may be a cursor that moves.
                drawn = re.sub(rb"\x1b\[[0-9;:?]*[a-zA-Z]|\s", b"", written)
        assert b"`d_in`(cudaMalloc)isnotreleased" in drawn
        os.write(screen, b":q!\r")
        assert editor.wait(20) == 0
    finally:
        editor.kill()
        editor.wait()
        os.close(screen)
        os.close(terminal)


def test_vscode(launch: Callable[..., Editor], tmp_path: Path) -> None:
    properties = json.loads((EXTENSION / "package.json").read_text())["contributes"]
    defaults = {
        name.removeprefix("cudalint."): one["default"]
        for name, one in properties["configuration"]["properties"].items()
    }
    section = {**defaults, "ignore": ["GPU506"]}
    editor = launch(capabilities=HELLO["capabilities"])
    editor.answers["workspace/configuration"] = lambda asked: [section for _ in asked["items"]]
    registered: list[str] = []
    editor.answers["client/registerCapability"] = lambda asked: registered.extend(
        one["method"] for one in asked["registrations"]
    )
    folder = {"uri": tmp_path.as_uri(), "name": tmp_path.name}
    hello = {**HELLO, "rootUri": folder["uri"], "workspaceFolders": [folder]}
    answer = editor.ask("initialize", hello)
    assert answer["capabilities"]["positionEncoding"] == "utf-16"
    assert answer["capabilities"]["textDocumentSync"]["change"] == 2
    editor.tell("initialized", {})
    uri = editor.open(tmp_path / "a.cu", LEAK)
    (found,) = editor.shown(uri)
    assert found["code"] == "GPU102" and found["relatedInformation"]
    assert sorted(registered) == [
        "workspace/didChangeConfiguration",
        "workspace/didChangeWatchedFiles",
    ]
    context = {"diagnostics": [found], "triggerKind": 1}
    question = {"textDocument": {"uri": uri}, "range": found["range"], "context": context}
    titles = [one["title"] for one in editor.ask("textDocument/codeAction", question)]
    assert "Ignore this GPU102 (early-exit-leak)" in titles
    section["ignore"] = ["GPU1"]
    editor.tell("workspace/didChangeConfiguration", {"settings": None})
    editor.until(lambda: editor.diagnostics[uri]["diagnostics"] == [])
    on_save = {"diagnostics": [], "only": ["source.fixAll.cudalint"], "triggerKind": 2}
    assert editor.ask("textDocument/codeAction", {**question, "context": on_save}) == []
    # vscode-jsonrpc leaves out what is undefined:
    editor.send({"jsonrpc": "2.0", "id": 4711, "method": "shutdown"})
    editor.send({"jsonrpc": "2.0", "method": "exit"})
    assert editor.process is not None and editor.process.wait(20) == 0


def test_the_settings_of_the_page_are_known() -> None:
    properties = json.loads((EXTENSION / "package.json").read_text())["contributes"]
    names = [name.removeprefix("cudalint.") for name in properties["configuration"]["properties"]]
    assert {"command", "run", "context"} < set(names)
    EditorSettings.of(dict.fromkeys(names))
    (settings,) = snippets("json")
    given = {key.removeprefix("cudalint."): value for key, value in json.loads(settings).items()}
    assert given["run"] == "onType" and given["command"][1:] == ["server"]
    (languages,) = snippets("toml")
    server = tomllib.loads(languages)["language-server"]["cudalint"]
    assert (server["command"], server["args"]) == ("cudalint", ["server"])
