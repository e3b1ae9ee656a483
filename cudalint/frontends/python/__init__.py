"""The Python frontend: libcst."""
