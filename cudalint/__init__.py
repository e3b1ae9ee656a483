"""cudalint finds CUDA memory misuse in CUDA C++ and Python."""

__version__ = "0.1.0"
