"""The domains that hear of events, in their order."""

from __future__ import annotations

from cudalint.analysis.domains.dangling import Dangling
from cudalint.analysis.domains.device_errors import DeviceErrors
from cudalint.analysis.domains.idle import Idle
from cudalint.analysis.domains.launches import Launches
from cudalint.analysis.domains.native_peak import NativePeaks
from cudalint.analysis.domains.ordering.effects import Ordering
from cudalint.analysis.domains.ownership.adoption import Followed
from cudalint.analysis.domains.transfers import Transfers
from cudalint.analysis.engine.domain import Domain

DOMAINS: tuple[Domain, ...] = (
    Idle(), Ordering(), Transfers(), Launches(), Dangling(), NativePeaks(),
    Followed(), DeviceErrors(),
)  # fmt: skip
