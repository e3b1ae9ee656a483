"""CUDA's Python bindings, simulated by cudalint."""

__version__ = "13.0.0+cudalint"
