"""cudalint's own rules, one per file, discovered through the entry point ``cudalint.rules``."""
