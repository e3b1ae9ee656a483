"""Shows at run time what a static finding says: builds and runs a target under a ledger."""
