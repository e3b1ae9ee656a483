"""A live server for each test, and programs to open in it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pygls", reason="the extra `server` is not installed")

from benchmarks.server.client import Editor

LEAK = """#include <cuda_runtime.h>

bool copy(const float* host, int count)
{
    float* d_in = nullptr;
    if (cudaMalloc(&d_in, count * sizeof(float)) != cudaSuccess)
        return false;
    if (cudaMemcpy(d_in, host, count * sizeof(float), cudaMemcpyHostToDevice) != cudaSuccess)
        return false;
    cudaFree(d_in);
    return true;
}
"""
CLEAN = LEAK.replace(
    "cudaSuccess)\n        return false;\n    cudaFree",
    "cudaSuccess) {\n        cudaFree(d_in);\n        return false;\n    }\n    cudaFree",
)


@pytest.fixture(scope="module", autouse=True)
def one_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Precompiled headers are made once."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CUDALINT_CACHE_DIR", str(tmp_path_factory.mktemp("cache")))
        yield


@pytest.fixture
def launch(tmp_path: Path) -> Iterator[Callable[..., Editor]]:
    """Starts a server in the test's folder; it is shut down at the end."""
    started: list[Editor] = []

    def start(**options: Any) -> Editor:
        editor = Editor(options.pop("folder", tmp_path), **options)
        started.append(editor)
        return editor

    yield start
    for editor in started:
        if editor.process is not None and editor.process.poll() is None:
            editor.process.kill()
            editor.process.wait()


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory, one_cache: None) -> Iterator[Editor]:
    """One session that most tests share, and that ends well."""
    with Editor(tmp_path_factory.mktemp("workspace")) as session:
        yield session
        for uri in list(session.versions):
            session.close(uri)


@pytest.fixture
def editor(session: Editor) -> Iterator[Editor]:
    """The shared session, with nothing open and nothing said."""
    session.settle(0.05)
    session.messages.clear()
    session.diagnostics.clear()
    yield session
    for uri in list(session.versions):
        session.close(uri)
        del session.versions[uri]
