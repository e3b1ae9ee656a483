"""``cuda.bindings`` for programs that run under the ledger: modules of the same names that call it.

What lies in ``modules`` is put first on a program's path. It needs nothing but Python.
"""
