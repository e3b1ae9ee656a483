"""Python frameworks on a GPU, real or pretended: hooks that see their memory, and verdicts by
measures.

What lies in ``modules`` is put on a program's path and runs in the program; the rest reads what it
wrote.
"""
