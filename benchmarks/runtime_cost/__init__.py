"""What watching costs on a GPU: the ledger, the injection, compute-sanitizer."""
