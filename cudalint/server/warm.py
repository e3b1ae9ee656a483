"""What the process that workers are forked from knows before the first job: importing this reads
code, libclang and API models. A worker that starts from there is ready within 10 ms, and takes with
it what it remembered of the disk when it ends."""

import contextlib

from clang import cindex

import cudalint.analysis  # noqa: F401
from cudalint import jobs, registry
from cudalint.apis.loader import load
from cudalint.frontends.cuda.toolchain import find_toolchain

jobs.preload({"cuda", "python"})
load("cuda")
load("python")
with contextlib.suppress(registry.RegistryError):  # told by whoever makes the plan
    registry.all_rules()
find_toolchain()
_ = cindex.conf.lib
