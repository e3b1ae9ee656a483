from __future__ import annotations

from pathlib import Path

import pytest

from cudalint.runtime.toolkit import ToolkitError, find_compiler


@pytest.fixture(scope="session")
def compiler() -> Path:
    try:
        return find_compiler()
    except ToolkitError as error:
        pytest.skip(str(error))
