"""Stream ordering: what is still under way on which stream, and who looks at memory meanwhile.

``order`` is the part of a path's state: the operations that the host has not waited for.
``streams`` tells streams apart, ``buffers`` memory. ``effects`` says what a call does to the order,
``accesses`` what the host reads and writes, ``log`` keeps what was seen, and ``observe`` is the
door for the path engine. ``checks`` asks, across the functions of a run, whether anybody looks at
the errors of a launch.
"""
