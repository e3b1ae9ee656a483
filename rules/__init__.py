"""cudalint's own rules, one per file."""
