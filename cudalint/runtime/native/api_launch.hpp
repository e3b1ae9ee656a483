// Kernels: how they are registered, asked about, and launched. They are counted, not executed.
#pragma once

namespace ledger {

using Registered = void** (*)(void*);

inline std::mutex& registration() {
    static auto* m = new std::mutex;
    return *m;
}

}  // namespace ledger

#define REAL_AS(type, name)                                                    \
    ([] {                                                                      \
        static auto function = (type)ledger::real_function(name);              \
        if (!function) ledger::die("the CUDA runtime has no %s", name);        \
        return function;                                                       \
    }())

extern "C" EXPORT void** __cudaRegisterFatBinary(void* binary) {
    runtime().program.add_binary(binary);
    if (simulating()) return new void*(binary);
    void** handle = REAL_AS(void** (*)(void*), "__cudaRegisterFatBinary")(binary);
    std::lock_guard<std::mutex> guard(ledger::registration());
    runtime().program.binaries.insert(handle);
    return handle;
}

extern "C" EXPORT void __cudaRegisterFatBinaryEnd(void** handle) {
    if (!simulating()) REAL_AS(void (*)(void**), "__cudaRegisterFatBinaryEnd")(handle);
}

extern "C" EXPORT void __cudaUnregisterFatBinary(void** handle) {
    if (!simulating()) REAL_AS(void (*)(void**), "__cudaUnregisterFatBinary")(handle);
}

extern "C" EXPORT void __cudaRegisterFunction(void** handle, const char* host, char* device,
                                              const char* name, int limit, uint3* tid, uint3* bid,
                                              dim3* block, dim3* grid, int* size) {
    runtime().program.add_kernel(host, name);
    if (!simulating())
        REAL_AS(void (*)(void**, const char*, char*, const char*, int, uint3*, uint3*, dim3*, dim3*, int*),
                "__cudaRegisterFunction")
        (handle, host, device, name, limit, tid, bid, block, grid, size);
}

extern "C" EXPORT void __cudaRegisterVar(void** handle, char* host, char* device, const char* name,
                                         int external, size_t size, int constant, int global) {
    runtime().program.variables[host] = {host, name, size, constant != 0, nullptr};
    if (!simulating())
        REAL_AS(void (*)(void**, char*, char*, const char*, int, size_t, int, int), "__cudaRegisterVar")
        (handle, host, device, name, external, size, constant, global);
}

extern "C" EXPORT void __cudaRegisterManagedVar(void** handle, void** host, char* device,
                                                const char* name, int external, size_t size,
                                                int constant, int global) {
    if (!simulating()) {
        REAL_AS(void (*)(void**, void**, char*, const char*, int, size_t, int, int),
                "__cudaRegisterManagedVar")
        (handle, host, device, name, external, size, constant, global);
        return;
    }
    runtime().program.variables[host] = {host, name, size, constant != 0, host};
    ledger::Variable* v = ledger::variable(host);
    if (v) *host = (void*)v->address;
}

extern "C" EXPORT void __cudaRegisterHostVar(void** handle, const char* name, char* host, size_t size) {
    if (!simulating())
        REAL_AS(void (*)(void**, const char*, char*, size_t), "__cudaRegisterHostVar")
        (handle, name, host, size);
}

extern "C" EXPORT char __cudaInitModule(void** handle) {
    if (!simulating()) return REAL_AS(char (*)(void**), "__cudaInitModule")(handle);
    return 0;
}

extern "C" EXPORT unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared,
                                                       struct CUstream_st* stream) {
    ledger::ThreadState& t = thread();
    // Here the caller is the line of the launch; later it is a stub.
    ledger::capture(t.launch_stack, __builtin_frame_address(0));
    t.launch_pending = true;
    if (!simulating())
        return REAL_AS(unsigned (*)(dim3, dim3, size_t, CUstream_st*), "__cudaPushCallConfiguration")(
            grid, block, shared, stream);
    t.pushed.push_back({grid, block, shared, stream});
    return 0;
}

extern "C" EXPORT cudaError_t __cudaPopCallConfiguration(dim3* grid, dim3* block, size_t* shared,
                                                         void* stream) {
    if (!simulating())
        return REAL_AS(cudaError_t(*)(dim3*, dim3*, size_t*, void*), "__cudaPopCallConfiguration")(
            grid, block, shared, stream);
    ledger::ThreadState& t = thread();
    if (t.pushed.empty()) return cudaErrorMissingConfiguration;
    auto top = t.pushed.back();
    t.pushed.pop_back();
    *grid = top.grid, *block = top.block, *shared = top.shared;
    *(cudaStream_t*)stream = top.stream;
    return cudaSuccess;
}

namespace ledger {

// A kernel that the driver cannot load: the launch that asks for it has no name any more.
__attribute__((noinline)) inline void note_unloadable(const Kernel& kernel, cudaError_t status) {
    Call call("cudaLaunchKernel", __builtin_frame_address(0), Needs::Nothing);
    uint64_t fixed = kernel.known ? kernel.facts.shared : 0, most = configuration().profile.static_shared;
    std::string text = kernel.name + ": the driver cannot load it, status " + std::to_string(int(status));
    if (fixed > most)
        text += ": " + size_text(fixed) + " of static shared memory, at most " + size_text(most) + " compile";
    call.misuse(LAUNCH_REFUSED, "", 0, 0, text);
}

}  // namespace ledger

extern "C" EXPORT cudaError_t __cudaGetKernel(cudaKernel_t* kernel, const void* function) {
    ledger::Program& program = runtime().program;
    if (!simulating()) {
        cudaError_t status =
            REAL_AS(cudaError_t(*)(cudaKernel_t*, const void*), "__cudaGetKernel")(kernel, function);
        std::unique_lock<std::mutex> guard(ledger::registration());
        ledger::Kernel* known = program.find(function);
        if (status == cudaSuccess) program.handles[(void*)*kernel] = known;
        guard.unlock();
        if (status != cudaSuccess && known) ledger::note_unloadable(*known, status);
        return status;
    }
    ledger::Kernel* found = program.find(function);
    if (!found) return cudaErrorInvalidDeviceFunction;
    *kernel = (cudaKernel_t)found;
    return cudaSuccess;
}

namespace ledger {

struct LaunchRequest {
    dim3 grid, block;
    void** arguments;
    uint64_t shared;
    cudaStream_t stream;
    bool cooperative = false;
};

inline std::string dimensions(const dim3& d) {
    return "(" + std::to_string(d.x) + ", " + std::to_string(d.y) + ", " + std::to_string(d.z) + ")";
}

// Why a device would not launch it; the empty text where it would.
inline std::string refusal(const Kernel* kernel, const LaunchRequest& r, cudaError_t* status) {
    const Profile& p = configuration().profile;
    const unsigned* block[3] = {&r.block.x, &r.block.y, &r.block.z};
    const unsigned* grid[3] = {&r.grid.x, &r.grid.y, &r.grid.z};
    *status = cudaErrorInvalidConfiguration;
    for (int i = 0; i < 3; i++) {
        if (!*block[i] || !*grid[i])
            return "a dimension is 0: grid " + dimensions(r.grid) + ", block " + dimensions(r.block);
        if (*block[i] > p.block[i]) return "block " + dimensions(r.block) + " is too large";
        if (*grid[i] > p.grid[i]) return "grid " + dimensions(r.grid) + " is too large";
    }
    uint64_t threads = uint64_t(r.block.x) * r.block.y * r.block.z;
    if (threads > p.threads)
        return "block " + dimensions(r.block) + " has " + std::to_string(threads) + " threads, at most " +
               std::to_string(p.threads) + " are possible";
    *status = cudaErrorInvalidValue;
    if (!kernel) return "";
    if (kernel->known && kernel->facts.most_threads && threads > kernel->facts.most_threads) {
        *status = cudaErrorLaunchOutOfResources;
        return std::to_string(threads) + " threads per block, the kernel's launch bounds allow " +
               std::to_string(kernel->facts.most_threads);
    }
    uint64_t fixed = kernel->known ? kernel->facts.shared : 0;
    if (fixed > p.static_shared) {
        *status = cudaErrorInvalidKernelImage;
        return size_text(fixed) + " of static shared memory, at most " + size_text(p.static_shared) +
               " compile";
    }
    if (fixed + r.shared > p.optin_shared)
        return size_text(fixed + r.shared) + " of shared memory, the device has " +
               size_text(p.optin_shared) + " per block";
    uint64_t allowed = kernel->opted_in >= 0 ? uint64_t(kernel->opted_in) : 0;
    if (fixed + r.shared > p.default_shared && r.shared > allowed)
        return size_text(fixed + r.shared) + " of shared memory without cudaFuncSetAttribute: up to " +
               size_text(p.default_shared) + " need none";
    return "";
}

// What the kernel is given may be written by it; what was released must not be given.
inline void taint_arguments(Call& call, const Kernel* kernel, void** arguments) {
    Memory& memory = runtime().memory;
    runtime().launched = true;
    auto give = [&](Address value, size_t index) {
        if (Allocation* a = memory.find(value)) {
            if (a->barred)
                call.misuse(USE_AFTER_FREE, a->family, value, a->bytes,
                            "argument " + std::to_string(index + 1) + " of kernel " + kernel->name +
                                " " + a->barred);
            use_in_order(call, a);
            a->tainted.add(0, a->bytes);
            if (simulating()) memory.guard(*a);
            return;
        }
        const auto* gone = memory.find_gone(value);
        bool ours = memory.in_device_range(value) || memory.in_host_range(value);
        // A number may look like an address; over a real runtime only its very beginning counts.
        if (!ours && (simulating() || !gone || gone->first != value)) return;
        if (gone)
            call.misuse(USE_AFTER_FREE, gone->second.family, value, gone->second.bytes,
                        "argument " + std::to_string(index + 1) + " of kernel " + kernel->name +
                            " was released before");
    };
    if (kernel && kernel->known && arguments) {
        for (size_t i = 0; i < kernel->facts.parameters.size(); i++) {
            const Parameter& parameter = kernel->facts.parameters[i];
            for (uint32_t at = 0; arguments[i] && at + 8 <= parameter.size; at += 8) {
                Address value;
                memcpy(&value, (char*)arguments[i] + at, 8);
                give(value, i);
            }
        }
    } else if (simulating()) {
        for (auto& part : memory.live) part.second.tainted.add(0, part.second.bytes);
        if (!runtime().order.alone()) {
            call.assume_order();
            call.note("not followed in stream order: what a kernel takes");
        }
    }
    // What it reaches through a pointer that lies in memory is not known.
    for (auto& part : runtime().program.variables)
        if (part.second.address && !part.second.constant)
            if (Allocation* a = memory.find(part.second.address)) a->tainted.add(0, a->bytes);
}

inline cudaError_t launch(Call& call, const void* function, LaunchRequest r,
                          const std::function<cudaError_t()>& real) {
    thread().launch_pending = false;
    std::unique_lock<std::recursive_mutex> guard(runtime().mutex);
    Kernel* kernel = runtime().program.find(function);
    const char* name = kernel ? kernel->name.c_str() : "";
    cudaError_t status = cudaSuccess;
    cudaError_t why = cudaSuccess;
    std::string reason = refusal(kernel, r, &why);
    if (!simulating()) {
        guard.unlock();
        status = real();
        guard.lock();
        if (status == cudaSuccess) reason.clear();
    } else {
        if (!usable_stream(call, r.stream)) return call.done(cudaErrorInvalidResourceHandle);
        if (!kernel) return call.done(cudaErrorInvalidDeviceFunction);
        if (!reason.empty()) status = why;
    }
    LaunchRecord shape{{r.grid.x, r.grid.y, r.grid.z},
                       {r.block.x, r.block.y, r.block.z},
                       kernel && kernel->known ? int32_t(kernel->facts.shared) : -1,
                       uint32_t(r.shared)};
    if (!reason.empty())
        call.misuse(LAUNCH_REFUSED, "", 0, 0, std::string(name) + ": " + reason);
    else if (kernel && kernel->known && kernel->facts.dynamic_shared && !r.shared)
        call.misuse(MISSING_SHARED, "", 0, 0,
                    std::string(name) + " uses dynamic shared memory, and the launch gives none");
    if (status == cudaSuccess && !simulating()) taint_arguments(call, kernel, r.arguments);
    if (status == cudaSuccess && simulating()) {
        if (Graph* graph = capturing(r.stream)) {
            // Arguments are read when the launch is recorded.
            std::vector<std::vector<char>> values;
            if (kernel->known && r.arguments)
                for (size_t i = 0; i < kernel->facts.parameters.size(); i++) {
                    const char* at = (const char*)r.arguments[i];
                    values.emplace_back(at, at + (at ? kernel->facts.parameters[i].size : 0));
                }
            record_node(graph, cudaGraphNodeTypeKernel, [kernel, values](Call& inner) mutable {
                std::vector<void*> arguments;
                for (auto& value : values) arguments.push_back(value.data());
                taint_arguments(inner, kernel, arguments.empty() ? nullptr : arguments.data());
                return cudaSuccess;
            });
        } else {
            begin_work(call, r.stream);
            taint_arguments(call, kernel, r.arguments);
            work_on(r.stream, 10000);
        }
    }
    Record record = call.make(LAUNCH);
    record.stream = Address(r.stream);
    record.address = Address(function);
    record.status = int(status);
    if (status == cudaSuccess) call.write(record, name, nullptr, &shape);
    return call.done(status);
}

}  // namespace ledger

// Not for programs to call: nvcc's stubs do.
API(__cudaLaunchKernel)(cudaKernel_t kernel, dim3 grid, dim3 block, void** arguments, size_t shared,
                        cudaStream_t stream) {
    ledger::Call call("cudaLaunchKernel", __builtin_frame_address(0));
    if (call.refused()) return thread().launch_pending = false, call.refuse();
    return ledger::launch(call, kernel, {grid, block, arguments, shared, stream}, [&] {
        return REAL_AS(cudaError_t(*)(cudaKernel_t, dim3, dim3, void**, size_t, cudaStream_t),
                       "__cudaLaunchKernel")(kernel, grid, block, arguments, shared, stream);
    });
}

extern "C" EXPORT cudaError_t __cudaLaunchKernel_ptsz(cudaKernel_t kernel, dim3 grid, dim3 block,
                                                      void** arguments, size_t shared,
                                                      cudaStream_t stream) {
    return __cudaLaunchKernel(kernel, grid, block, arguments, shared, stream);
}

API(cudaLaunchKernel)(const void* function, dim3 grid, dim3 block, void** arguments, size_t shared,
                      cudaStream_t stream) {
    ledger::Call call("cudaLaunchKernel", __builtin_frame_address(0));
    if (call.refused()) return thread().launch_pending = false, call.refuse();
    return ledger::launch(call, function, {grid, block, arguments, shared, stream}, [&] {
        return REAL(cudaLaunchKernel)(function, grid, block, arguments, shared, stream);
    });
}

API(cudaLaunchCooperativeKernel)(const void* function, dim3 grid, dim3 block, void** arguments,
                                 size_t shared, cudaStream_t stream) {
    CALL_ENTRY(cudaLaunchCooperativeKernel);
    return ledger::launch(call, function, {grid, block, arguments, shared, stream, true}, [&] {
        return REAL(cudaLaunchCooperativeKernel)(function, grid, block, arguments, shared, stream);
    });
}

API(cudaLaunchKernelExC)(const cudaLaunchConfig_t* config, const void* function, void** arguments) {
    CALL_ENTRY(cudaLaunchKernelExC);
    if (!config) return call.done(cudaErrorInvalidValue);
    return ledger::launch(
        call, function,
        {config->gridDim, config->blockDim, arguments, config->dynamicSmemBytes, config->stream},
        [&] { return REAL(cudaLaunchKernelExC)(config, function, arguments); });
}

API(cudaFuncGetAttributes)(struct cudaFuncAttributes* attributes, const void* function) {
    CALL_FORWARD(cudaFuncGetAttributes, attributes, function);
    ledger::Kernel* kernel = runtime().program.find(function);
    if (!attributes) return call.done(cudaErrorInvalidValue);
    if (!kernel) return call.done(cudaErrorInvalidDeviceFunction);
    const ledger::Profile& p = ledger::configuration().profile;
    memset(attributes, 0, sizeof *attributes);
    attributes->sharedSizeBytes = kernel->facts.shared;
    attributes->maxThreadsPerBlock = kernel->facts.most_threads ? int(kernel->facts.most_threads)
                                                                : int(p.threads);
    attributes->numRegs = 32;
    attributes->ptxVersion = attributes->binaryVersion = p.major * 10 + p.minor;
    attributes->maxDynamicSharedSizeBytes =
        kernel->opted_in >= 0 ? int(kernel->opted_in)
                              : int(p.default_shared - std::min(p.default_shared, kernel->facts.shared));
    return call.done(cudaSuccess);
}

API(cudaFuncSetAttribute)(const void* function, enum cudaFuncAttribute attribute, int value) {
    CALL_ENTRY(cudaFuncSetAttribute);
    std::lock_guard<std::recursive_mutex> guard(runtime().mutex);
    ledger::Kernel* kernel = runtime().program.find(function);
    cudaError_t status = cudaSuccess;
    if (!simulating()) {
        status = REAL(cudaFuncSetAttribute)(function, attribute, value);
    } else if (!kernel) {
        status = cudaErrorInvalidDeviceFunction;
    } else if (attribute == cudaFuncAttributeMaxDynamicSharedMemorySize) {
        uint64_t fixed = kernel->facts.shared;
        if (value < 0 || fixed + uint64_t(value) > ledger::configuration().profile.optin_shared)
            status = cudaErrorInvalidValue;
    }
    if (status == cudaSuccess && kernel && attribute == cudaFuncAttributeMaxDynamicSharedMemorySize)
        kernel->opted_in = value;
    return call.done(status);
}

API(cudaFuncSetCacheConfig)(const void* function, enum cudaFuncCache config) {
    CALL_FORWARD(cudaFuncSetCacheConfig, function, config);
    return call.done(runtime().program.find(function) ? cudaSuccess : cudaErrorInvalidDeviceFunction);
}

API(cudaFuncGetName)(const char** name, const void* function) {
    CALL_FORWARD(cudaFuncGetName, name, function);
    ledger::Kernel* kernel = runtime().program.find(function);
    if (!name || !kernel) return call.done(cudaErrorInvalidValue);
    *name = kernel->name.c_str();
    return call.done(cudaSuccess);
}

API(cudaGetFuncBySymbol)(cudaFunction_t* out, const void* symbol) {
    CALL_FORWARD(cudaGetFuncBySymbol, out, symbol);
    ledger::Kernel* kernel = runtime().program.find(symbol);
    if (!out || !kernel) return call.done(cudaErrorInvalidValue);
    *out = (cudaFunction_t)kernel;
    return call.done(cudaSuccess);
}

API(cudaGetKernel)(cudaKernel_t* out, const void* symbol) {
    CALL_FORWARD(cudaGetKernel, out, symbol);
    ledger::Kernel* kernel = runtime().program.find(symbol);
    if (!out || !kernel) return call.done(cudaErrorInvalidValue);
    *out = (cudaKernel_t)kernel;
    return call.done(cudaSuccess);
}

namespace ledger {

inline cudaError_t occupancy(Call& call, int* blocks, const void* function, int threads, size_t shared) {
    Kernel* kernel = runtime().program.find(function);
    if (!blocks || threads <= 0) return call.done(cudaErrorInvalidValue);
    if (!kernel) return call.done(cudaErrorInvalidDeviceFunction);
    const Profile& p = configuration().profile;
    uint64_t used = kernel->facts.shared + shared + 1024;
    uint64_t by_threads = 2048 / uint64_t((threads + 31) / 32 * 32);
    uint64_t by_shared = used > 1024 ? p.sm_shared / used : 32;
    *blocks = uint64_t(threads) > p.threads ? 0 : int(std::min<uint64_t>({by_threads, by_shared, 32}));
    return call.done(cudaSuccess);
}

}  // namespace ledger

API(cudaOccupancyMaxActiveBlocksPerMultiprocessor)(int* blocks, const void* function, int threads,
                                                   size_t shared) {
    CALL_FORWARD(cudaOccupancyMaxActiveBlocksPerMultiprocessor, blocks, function, threads, shared);
    return ledger::occupancy(call, blocks, function, threads, shared);
}

API(cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags)(int* blocks, const void* function,
                                                            int threads, size_t shared,
                                                            unsigned int flags) {
    CALL_FORWARD(cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags, blocks, function, threads,
                 shared, flags);
    return ledger::occupancy(call, blocks, function, threads, shared);
}

API(cudaOccupancyAvailableDynamicSMemPerBlock)(size_t* bytes, const void* function, int blocks,
                                               int threads) {
    CALL_FORWARD(cudaOccupancyAvailableDynamicSMemPerBlock, bytes, function, blocks, threads);
    ledger::Kernel* kernel = runtime().program.find(function);
    if (!bytes || !kernel || blocks <= 0) return call.done(cudaErrorInvalidValue);
    uint64_t each = ledger::configuration().profile.sm_shared / uint64_t(blocks);
    *bytes = each > kernel->facts.shared + 1024 ? each - kernel->facts.shared - 1024 : 0;
    return call.done(cudaSuccess);
}
