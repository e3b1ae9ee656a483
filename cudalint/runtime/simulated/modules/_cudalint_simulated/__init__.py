"""What stands behind the simulated ``cuda.bindings``: the ledger, called through ctypes."""
