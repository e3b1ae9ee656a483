// Devices: which there are, what they offer, and their reset.
#pragma once

namespace ledger {

bool trim(Handle& pool, uint64_t keep);

inline bool bad_device(int device) {
    return device < 0 || device >= configuration().profile.count;
}

inline void describe(cudaDeviceProp& p, int device) {
    const Profile& profile = configuration().profile;
    memset((void*)&p, 0, sizeof p);
    snprintf(p.name, sizeof p.name, "%s", profile.name.c_str());
    for (int i = 0; i < 16; i++) p.uuid.bytes[i] = char(i * 7 + device + 1);
    p.totalGlobalMem = profile.memory;
    p.sharedMemPerBlock = profile.default_shared;
    p.sharedMemPerBlockOptin = profile.optin_shared;
    p.sharedMemPerMultiprocessor = profile.sm_shared;
    p.reservedSharedMemPerBlock = 1024;
    p.regsPerBlock = 65536, p.regsPerMultiprocessor = 65536;
    p.warpSize = 32;
    p.memPitch = 2147483647;
    p.maxThreadsPerBlock = int(profile.threads);
    for (int i = 0; i < 3; i++) {
        p.maxThreadsDim[i] = int(profile.block[i]);
        p.maxGridSize[i] = int(profile.grid[i]);
    }
    p.totalConstMem = 65536;
    p.major = profile.major, p.minor = profile.minor;
    p.textureAlignment = 512, p.texturePitchAlignment = 32, p.surfaceAlignment = 512;
    p.multiProcessorCount = profile.multiprocessors;
    p.canMapHostMemory = 1, p.concurrentKernels = 1, p.unifiedAddressing = 1;
    p.managedMemory = 1, p.concurrentManagedAccess = 1, p.pageableMemoryAccess = 0;
    p.memoryPoolsSupported = 1, p.asyncEngineCount = 3;
    p.memoryBusWidth = 5120, p.l2CacheSize = 50 << 20, p.persistingL2CacheMaxSize = 30 << 20;
    p.accessPolicyMaxWindowSize = 128 << 20;
    p.maxThreadsPerMultiProcessor = 2048, p.maxBlocksPerMultiProcessor = 32;
    p.streamPrioritiesSupported = 1, p.globalL1CacheSupported = 1, p.localL1CacheSupported = 1;
    p.cooperativeLaunch = 1, p.computePreemptionSupported = 1;
    p.canUseHostPointerForRegisteredMem = 1, p.hostRegisterSupported = 1;
    p.maxTexture1D = 131072, p.maxTexture1DMipmap = 32768;
    p.maxTexture2D[0] = 131072, p.maxTexture2D[1] = 65536;
    p.maxTexture2DLinear[0] = 131072, p.maxTexture2DLinear[1] = 65000, p.maxTexture2DLinear[2] = 2097120;
    for (int i = 0; i < 3; i++) p.maxTexture3D[i] = 16384, p.maxSurface3D[i] = 16384;
    p.maxTextureCubemap = 32768;
    p.maxTexture1DLayered[0] = 32768, p.maxTexture1DLayered[1] = 2048;
    p.maxTexture2DLayered[0] = 32768, p.maxTexture2DLayered[1] = 32768, p.maxTexture2DLayered[2] = 2048;
    p.maxSurface1D = 32768, p.maxSurface2D[0] = 131072, p.maxSurface2D[1] = 65536;
    p.pciBusID = device + 1, p.pciDeviceID = 0, p.pciDomainID = 0;
    p.clusterLaunch = profile.major >= 9;
}

inline int attribute(cudaDeviceAttr which, int device) {
    const Profile& profile = configuration().profile;
    cudaDeviceProp p;
    describe(p, device);
    switch (int(which)) {
        case cudaDevAttrMaxThreadsPerBlock: return int(profile.threads);
        case cudaDevAttrMaxBlockDimX: return int(profile.block[0]);
        case cudaDevAttrMaxBlockDimY: return int(profile.block[1]);
        case cudaDevAttrMaxBlockDimZ: return int(profile.block[2]);
        case cudaDevAttrMaxGridDimX: return int(profile.grid[0]);
        case cudaDevAttrMaxGridDimY: return int(profile.grid[1]);
        case cudaDevAttrMaxGridDimZ: return int(profile.grid[2]);
        case cudaDevAttrMaxSharedMemoryPerBlock: return int(profile.default_shared);
        case cudaDevAttrMaxSharedMemoryPerBlockOptin: return int(profile.optin_shared);
        case cudaDevAttrMaxSharedMemoryPerMultiprocessor: return int(profile.sm_shared);
        case cudaDevAttrReservedSharedMemoryPerBlock: return 1024;
        case cudaDevAttrTotalConstantMemory: return 65536;
        case cudaDevAttrWarpSize: return 32;
        case cudaDevAttrMaxPitch: return 2147483647;
        case cudaDevAttrMaxRegistersPerBlock: return 65536;
        case cudaDevAttrMaxRegistersPerMultiprocessor: return 65536;
        case cudaDevAttrClockRate: return 1980000;
        case cudaDevAttrMemoryClockRate: return 2619000;
        case cudaDevAttrTextureAlignment: case cudaDevAttrSurfaceAlignment: return 512;
        case cudaDevAttrTexturePitchAlignment: return int(p.texturePitchAlignment);
        case cudaDevAttrMultiProcessorCount: return profile.multiprocessors;
        case cudaDevAttrGlobalMemoryBusWidth: return 5120;
        case cudaDevAttrL2CacheSize: return 50 << 20;
        case cudaDevAttrMaxThreadsPerMultiProcessor: return 2048;
        case cudaDevAttrMaxBlocksPerMultiprocessor: return 32;
        case cudaDevAttrAsyncEngineCount: return 3;
        case cudaDevAttrPciBusId: return device + 1;
        case cudaDevAttrComputeCapabilityMajor: return profile.major;
        case cudaDevAttrComputeCapabilityMinor: return profile.minor;
        case cudaDevAttrMaxTexture1DWidth: case cudaDevAttrMaxTexture2DWidth: return 131072;
        case cudaDevAttrMaxTexture2DHeight: return 65536;
        case cudaDevAttrMaxTexture3DWidth: case cudaDevAttrMaxTexture3DHeight:
        case cudaDevAttrMaxTexture3DDepth: return p.maxTexture3D[0];
        case cudaDevAttrMaxPersistingL2CacheSize: return p.persistingL2CacheMaxSize;
        case cudaDevAttrMaxAccessPolicyWindowSize: return p.accessPolicyMaxWindowSize;
        case cudaDevAttrClusterLaunch: return p.clusterLaunch;
        case cudaDevAttrSingleToDoublePrecisionPerfRatio: return 2;
        case cudaDevAttrGpuOverlap: case cudaDevAttrCanMapHostMemory:
        case cudaDevAttrConcurrentKernels: case cudaDevAttrUnifiedAddressing:
        case cudaDevAttrStreamPrioritiesSupported: case cudaDevAttrGlobalL1CacheSupported:
        case cudaDevAttrLocalL1CacheSupported: case cudaDevAttrManagedMemory:
        case cudaDevAttrConcurrentManagedAccess: case cudaDevAttrComputePreemptionSupported:
        case cudaDevAttrCanUseHostPointerForRegisteredMem: case cudaDevAttrCooperativeLaunch:
        case cudaDevAttrHostRegisterSupported: case cudaDevAttrMemoryPoolsSupported:
        case cudaDevAttrIpcEventSupport:
        case CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED:
        case CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED:
            return 1;
        default: return 0;
    }
}

}  // namespace ledger

API(cudaGetDeviceCount)(int* count) {
    CALL_FORWARD(cudaGetDeviceCount, count);
    if (!count) return call.done(cudaErrorInvalidValue);
    *count = ledger::configuration().profile.count;
    return call.done(cudaSuccess);
}

API(cudaSetDevice)(int device) {
    CALL_ENTRY(cudaSetDevice);
    if (!simulating()) {
        cudaError_t status = REAL(cudaSetDevice)(device);
        if (status == cudaSuccess) thread().device = device;
        return call.done(status);
    }
    if (ledger::bad_device(device)) return call.done(cudaErrorInvalidDevice);
    thread().device = device;
    return call.done(cudaSuccess);
}

API(cudaGetDevice)(int* device) {
    CALL_FORWARD(cudaGetDevice, device);
    if (!device) return call.done(cudaErrorInvalidValue);
    *device = thread().device;
    return call.done(cudaSuccess);
}

API(cudaGetDeviceProperties)(struct cudaDeviceProp* properties, int device) {
    CALL_FORWARD(cudaGetDeviceProperties, properties, device);
    if (!properties) return call.done(cudaErrorInvalidValue);
    if (ledger::bad_device(device)) return call.done(cudaErrorInvalidDevice);
    ledger::describe(*properties, device);
    return call.done(cudaSuccess);
}

API(cudaDeviceGetAttribute)(int* value, enum cudaDeviceAttr which, int device) {
    CALL_FORWARD(cudaDeviceGetAttribute, value, which, device);
    if (!value) return call.done(cudaErrorInvalidValue);
    if (ledger::bad_device(device)) return call.done(cudaErrorInvalidDevice);
    *value = ledger::attribute(which, device);
    return call.done(cudaSuccess);
}

API(cudaChooseDevice)(int* device, const struct cudaDeviceProp* properties) {
    CALL_FORWARD(cudaChooseDevice, device, properties);
    if (!device || !properties) return call.done(cudaErrorInvalidValue);
    *device = 0;
    return call.done(cudaSuccess);
}

API(cudaInitDevice)(int device, unsigned int device_flags, unsigned int flags) {
    CALL_FORWARD(cudaInitDevice, device, device_flags, flags);
    return call.done(ledger::bad_device(device) ? cudaErrorInvalidDevice : cudaSuccess);
}

API(cudaSetValidDevices)(int* devices, int count) {
    CALL_FORWARD(cudaSetValidDevices, devices, count);
    return call.done(devices || !count ? cudaSuccess : cudaErrorInvalidValue);
}

API(cudaSetDeviceFlags)(unsigned int flags) {
    CALL_FORWARD(cudaSetDeviceFlags, flags);
    runtime().device_flags[thread().device] = flags;
    return call.done(cudaSuccess);
}

API(cudaGetDeviceFlags)(unsigned int* flags) {
    CALL_FORWARD(cudaGetDeviceFlags, flags);
    if (!flags) return call.done(cudaErrorInvalidValue);
    *flags = runtime().device_flags[thread().device] | cudaDeviceMapHost;
    return call.done(cudaSuccess);
}

API(cudaDeviceGetPCIBusId)(char* id, int length, int device) {
    CALL_FORWARD(cudaDeviceGetPCIBusId, id, length, device);
    if (!id || length < 13) return call.done(cudaErrorInvalidValue);
    if (ledger::bad_device(device)) return call.done(cudaErrorInvalidDevice);
    snprintf(id, size_t(length), "0000:%02X:00.0", device + 1);
    return call.done(cudaSuccess);
}

API(cudaDeviceGetByPCIBusId)(int* device, const char* id) {
    CALL_FORWARD(cudaDeviceGetByPCIBusId, device, id);
    unsigned domain = 0, bus = 0;
    if (!device || !id) return call.done(cudaErrorInvalidValue);
    bool good = sscanf(id, "%x:%x:", &domain, &bus) == 2 && !ledger::bad_device(int(bus) - 1);
    if (good) *device = int(bus) - 1;
    return call.done(good ? cudaSuccess : cudaErrorInvalidDevice);
}

API(cudaDeviceGetStreamPriorityRange)(int* least, int* greatest) {
    CALL_FORWARD(cudaDeviceGetStreamPriorityRange, least, greatest);
    if (least) *least = 0;
    if (greatest) *greatest = -5;
    return call.done(cudaSuccess);
}

API(cudaDeviceCanAccessPeer)(int* can, int device, int peer) {
    CALL_FORWARD(cudaDeviceCanAccessPeer, can, device, peer);
    if (!can) return call.done(cudaErrorInvalidValue);
    if (ledger::bad_device(device) || ledger::bad_device(peer)) return call.done(cudaErrorInvalidDevice);
    *can = device != peer;
    return call.done(cudaSuccess);
}

API(cudaDeviceEnablePeerAccess)(int peer, unsigned int flags) {
    CALL_FORWARD(cudaDeviceEnablePeerAccess, peer, flags);
    if (ledger::bad_device(peer) || peer == thread().device) return call.done(cudaErrorInvalidDevice);
    bool& on = runtime().peers[{thread().device, peer}];
    if (on) return call.done(cudaErrorPeerAccessAlreadyEnabled);
    on = true;
    return call.done(cudaSuccess);
}

API(cudaDeviceDisablePeerAccess)(int peer) {
    CALL_FORWARD(cudaDeviceDisablePeerAccess, peer);
    bool& on = runtime().peers[{thread().device, peer}];
    if (!on) return call.done(cudaErrorPeerAccessNotEnabled);
    on = false;
    return call.done(cudaSuccess);
}

API(cudaDeviceGetP2PAttribute)(int* value, enum cudaDeviceP2PAttr which, int from, int to) {
    CALL_FORWARD(cudaDeviceGetP2PAttribute, value, which, from, to);
    if (!value) return call.done(cudaErrorInvalidValue);
    if (ledger::bad_device(from) || ledger::bad_device(to) || from == to)
        return call.done(cudaErrorInvalidDevice);
    *value = which == cudaDevP2PAttrAccessSupported;
    return call.done(cudaSuccess);
}

API(cudaDeviceSetLimit)(enum cudaLimit limit, size_t value) {
    CALL_FORWARD(cudaDeviceSetLimit, limit, value);
    runtime().limits[{thread().device, int(limit)}] = value;
    return call.done(cudaSuccess);
}

API(cudaDeviceGetLimit)(size_t* value, enum cudaLimit limit) {
    CALL_FORWARD(cudaDeviceGetLimit, value, limit);
    if (!value) return call.done(cudaErrorInvalidValue);
    auto found = runtime().limits.find({thread().device, int(limit)});
    if (found != runtime().limits.end())
        *value = found->second;
    else
        *value = limit == cudaLimitStackSize ? 1024 : limit == cudaLimitPrintfFifoSize ? 7340032
                 : limit == cudaLimitMallocHeapSize ? 8388608 : 0;
    return call.done(cudaSuccess);
}

API(cudaDeviceSetCacheConfig)(enum cudaFuncCache config) {
    CALL_FORWARD(cudaDeviceSetCacheConfig, config);
    return call.done(cudaSuccess);
}

API(cudaDeviceGetCacheConfig)(enum cudaFuncCache* config) {
    CALL_FORWARD(cudaDeviceGetCacheConfig, config);
    if (!config) return call.done(cudaErrorInvalidValue);
    *config = cudaFuncCachePreferNone;
    return call.done(cudaSuccess);
}

API(cudaCtxResetPersistingL2Cache)(void) {
    CALL_FORWARD(cudaCtxResetPersistingL2Cache);
    return call.done(cudaSuccess);
}

API(cudaThreadExchangeStreamCaptureMode)(enum cudaStreamCaptureMode* mode) {
    CALL_FORWARD(cudaThreadExchangeStreamCaptureMode, mode);
    if (!mode) return call.done(cudaErrorInvalidValue);
    std::swap(*(int*)mode, thread().capture_mode);
    return call.done(cudaSuccess);
}

API(cudaDeviceReset)(void) {
    ledger::Call call("cudaDeviceReset", __builtin_frame_address(0));
    // A reset is what ends a sticky error.
    if (call.refused() && (call.injected() || runtime().inherited)) return call.refuse();
    if (!simulating()) {
        cudaError_t status = REAL(cudaDeviceReset)();
        if (status != cudaSuccess) return call.done(status);
    }
    std::lock_guard<std::recursive_mutex> guard(runtime().mutex);
    ledger::Memory& memory = runtime().memory;
    if (simulating()) runtime().host_waits_for_all();
    int device = thread().device;
    for (auto it = memory.live.begin(); it != memory.live.end();) {
        ledger::Allocation& a = it->second;
        if (a.device != device || a.symbol) {
            ++it;
            continue;
        }
        if (simulating()) {
            if (memory.in_device_range(a.start))
                memory.give_device(a);
            else if (a.ours)
                memory.give_host(a);
        }
        memory.gone[a.start] = {a.bytes, a.family};
        it = memory.live.erase(it);
    }
    for (auto it = runtime().handles.begin(); it != runtime().handles.end();) {
        Handle& h = it->second;
        if (h.device != device || h.builtin) {
            if (h.builtin && h.device == device) h.used = 0, ledger::trim(h, 0);
            ++it;
            continue;
        }
        runtime().order.end(h.timeline);
        runtime().destroyed[it->first] = h.family;
        it = runtime().handles.erase(it);
    }
    runtime().sticky = cudaSuccess;
    thread().last = cudaSuccess;
    call.write(call.make(ledger::RESET));
    return call.done(cudaSuccess);
}
