"""cudalint's own rules, one per file, discovered through the entry point ``cudalint.rules``.

A rule asks the facts that the analysis learned and puts what it finds into words. It walks no
tree, opens no file and knows no API by name: names come with the facts. Its class docstring is its
page (``cudalint rule CODE``), in fixed sections.

Modules that start with an underscore hold what several rules share: ``_wording`` for messages,
``_leaks`` for telling the kinds of leaks apart and ``_leak_wording`` for what is said of them,
``_members`` and ``_owners`` for classes and their objects, ``_shared_memory`` for what a block
needs.
"""
