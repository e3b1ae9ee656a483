"""The CUDA C++ frontend: libclang."""
