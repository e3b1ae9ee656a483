"""Findings, suppressions and severities."""
