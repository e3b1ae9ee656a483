"""Pins a whole data set where the process may not have so much address space."""

import resource
import sys
from pathlib import Path

from cuda.bindings import runtime

runtime.cudaFree(0)
_, features = runtime.cudaMalloc(256 << 20)
pages = int(Path("/proc/self/statm").read_text().split()[0])
limit = pages * resource.getpagesize() + (4 << 30)
resource.setrlimit(resource.RLIMIT_AS, (limit, resource.RLIM_INFINITY))
status, dataset = runtime.cudaHostAlloc(100 << 30, 0)
runtime.cudaFree(features)
if int(status):
    sys.exit("cudaHostAlloc: out of memory")
runtime.cudaFreeHost(dataset)
