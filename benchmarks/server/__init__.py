"""What the language server takes from a change to its diagnostics, and whether they are right."""
