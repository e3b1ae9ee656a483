"""CUDA C++ inside Python strings: found, read by the CUDA frontend, and put back in its place."""
