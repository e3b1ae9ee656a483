"""Lowers the syntax tree of one file: each part knows the state of a function, and parts below."""
