"""The language server: what editors speak to (LSP, by pygls)."""
