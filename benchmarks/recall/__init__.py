"""Recall on confirmed bugs of public repositories."""
