"""CUDA's Python bindings, simulated by cudalint."""
