"""Where a target runs: on a real GPU, or on a simulated device. One interface."""

from cudalint.runtime.devices.device import Device
from cudalint.runtime.devices.gpu import Gpu
from cudalint.runtime.devices.simulated import Simulated

__all__ = ["Device", "Gpu", "Simulated"]
