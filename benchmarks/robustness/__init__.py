"""Damaged files: no crash, no hang, each linted or named."""
