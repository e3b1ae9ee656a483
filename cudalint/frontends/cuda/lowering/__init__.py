"""Lowers what clang parsed to the program model, in parts that only call downwards."""
