"""Facts: what the analysis tells the rules. Rules query these and nothing else.

All sizes are bytes; ``None`` means unknown. Facts are frozen and hold no engine state.
"""

from __future__ import annotations

from cudalint.analysis.facts.capacity import (
    CacheFlush,
    Capacity,
    Churn,
    HeldPool,
    Holder,
    Peak,
)
from cudalint.analysis.facts.classes import ClassFacts, MemberAcquisition, memory_of, part_of
from cudalint.analysis.facts.functions import FileFacts, FunctionFacts, Unfinished
from cudalint.analysis.facts.launches import (
    LaunchSite,
    RoundedGrid,
    StagedMemory,
    TallGrid,
    UncalledGuard,
)
from cudalint.analysis.facts.lifetimes import (
    CheckpointLoad,
    GraphHook,
    Hook,
    IdleHold,
    LeftBehind,
    Lifetimes,
    Retry,
    SkippedClear,
    TensorCache,
    UnclosedOwner,
)
from cudalint.analysis.facts.loops import LoopFacts, RepeatedTransfer, SlicedDataSet
from cudalint.analysis.facts.ordering import (
    EarlyRead,
    HostAccess,
    OrderingFacts,
    PageableCopy,
    StreamHazard,
)
from cudalint.analysis.facts.resources import (
    Cleanup,
    DanglingPointer,
    Exit,
    Leak,
    LeakExit,
    Misuse,
    MisuseKind,
    OverwrittenMember,
    OwnerCopy,
    Resource,
    Site,
    is_shown,
    readable,
)
from cudalint.analysis.facts.tensors import (
    DeviceListGrowth,
    GraphRetention,
    RecordedInference,
    RetainedGraph,
    TensorFacts,
)
from cudalint.analysis.facts.transfers import (
    Allocation,
    Endpoint,
    Fill,
    NarrowSize,
    Overflow,
    ScaledTwice,
    Transfer,
)

__all__ = [
    "Allocation",
    "CacheFlush",
    "Capacity",
    "CheckpointLoad",
    "Churn",
    "ClassFacts",
    "Cleanup",
    "DanglingPointer",
    "DeviceListGrowth",
    "EarlyRead",
    "Endpoint",
    "Exit",
    "FileFacts",
    "Fill",
    "FunctionFacts",
    "GraphHook",
    "GraphRetention",
    "HeldPool",
    "Holder",
    "Hook",
    "HostAccess",
    "IdleHold",
    "LaunchSite",
    "Leak",
    "LeakExit",
    "LeftBehind",
    "Lifetimes",
    "LoopFacts",
    "MemberAcquisition",
    "Misuse",
    "MisuseKind",
    "NarrowSize",
    "OrderingFacts",
    "Overflow",
    "OverwrittenMember",
    "OwnerCopy",
    "PageableCopy",
    "Peak",
    "RecordedInference",
    "RepeatedTransfer",
    "Resource",
    "RetainedGraph",
    "Retry",
    "RoundedGrid",
    "ScaledTwice",
    "Site",
    "SkippedClear",
    "SlicedDataSet",
    "StagedMemory",
    "StreamHazard",
    "TallGrid",
    "TensorCache",
    "TensorFacts",
    "Transfer",
    "UncalledGuard",
    "UnclosedOwner",
    "Unfinished",
    "is_shown",
    "memory_of",
    "part_of",
    "readable",
]
