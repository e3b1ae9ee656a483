"""Measurements of cudalint itself; see README.md."""
