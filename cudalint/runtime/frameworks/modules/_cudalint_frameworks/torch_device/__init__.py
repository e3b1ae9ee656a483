"""PyTorch's CUDA device, pretended: tensors lie in the host's memory, and a caching allocator says
what they would take of a device.

Runs in the program's interpreter, over any build of PyTorch. What is not pretended raises
``NotSimulatedError``.
"""
