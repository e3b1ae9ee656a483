"""Lowers the syntax tree of one file: each part knows the context, and parts below itself."""
