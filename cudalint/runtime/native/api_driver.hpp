// The driver API, as far as programs written against the runtime need it beside: devices,
// contexts, memory, streams, modules and launches. Statuses have the same numbers.
#pragma once

#define API_CU(name) extern "C" EXPORT CUresult name

namespace ledger {

inline void* driver_function(const char* name) {
    static void* library = [] {
        void* found = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
        if (!found) die("no CUDA driver: %s", dlerror());
        return found;
    }();
    return dlsym(library, name);
}

inline CUresult given(cudaError_t status) { return CUresult(int(status)); }

// The current contexts of a thread, innermost last.
inline std::vector<Address>& contexts() {
    static thread_local std::vector<Address> stack;
    return stack;
}

struct Primary {
    Address handle = 0;
    int count = 0;
};

inline Primary& primary(int device) {
    static Primary all[16];
    return all[device & 15];
}

inline bool& driver_begun() {
    static bool begun = false;
    return begun;
}

}  // namespace ledger

#define REAL_CU(name)                                                        \
    ([] {                                                                    \
        static auto function = (decltype(&name))ledger::driver_function(#name); \
        if (!function) ledger::die("the CUDA driver has no %s", #name);      \
        return function;                                                     \
    }())

#define CU_ENTRY(name)                                                              \
    ledger::Call call(#name, __builtin_frame_address(0));                           \
    if (call.refused()) return ledger::given(call.refuse())
#define CU_FORWARD(name, ...)                                                       \
    CU_ENTRY(name);                                                                 \
    if (!simulating())                                                              \
        return ledger::given(call.done(cudaError_t(int(REAL_CU(name)(__VA_ARGS__)))))
#define CU_REAL(name, arguments) [&] { return cudaError_t(int(REAL_CU(name) arguments)); }
#define CU_DONE(status) return ledger::given(call.done(status))
#define CU_CHECK(good, status)  \
    if (!(good)) CU_DONE(status)

API_CU(cuInit)(unsigned int flags) {
    CU_FORWARD(cuInit, flags);
    ledger::driver_begun() = true;
    CU_DONE(cudaSuccess);
}

API_CU(cuDriverGetVersion)(int* version) {
    CU_FORWARD(cuDriverGetVersion, version);
    CU_CHECK(version, cudaErrorInvalidValue);
    *version = CUDART_VERSION;
    CU_DONE(cudaSuccess);
}

API_CU(cuGetErrorName)(CUresult error, const char** text) {
    if (!simulating()) return REAL_CU(cuGetErrorName)(error, text);
    // The driver's names differ from the runtime's only in style; the common ones are given.
    struct Name { int status; const char* name; };
    static const Name names[] = {
        {0, "CUDA_SUCCESS"}, {1, "CUDA_ERROR_INVALID_VALUE"}, {2, "CUDA_ERROR_OUT_OF_MEMORY"},
        {3, "CUDA_ERROR_NOT_INITIALIZED"}, {100, "CUDA_ERROR_NO_DEVICE"},
        {101, "CUDA_ERROR_INVALID_DEVICE"}, {201, "CUDA_ERROR_INVALID_CONTEXT"},
        {400, "CUDA_ERROR_INVALID_HANDLE"}, {500, "CUDA_ERROR_NOT_FOUND"},
        {700, "CUDA_ERROR_ILLEGAL_ADDRESS"}, {701, "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES"},
        {719, "CUDA_ERROR_LAUNCH_FAILED"}, {801, "CUDA_ERROR_NOT_SUPPORTED"}};
    for (const Name& n : names)
        if (n.status == int(error)) return *text = n.name, CUDA_SUCCESS;
    *text = "CUDA_ERROR_UNKNOWN";
    return CUDA_SUCCESS;
}

API_CU(cuGetErrorString)(CUresult error, const char** text) {
    if (!simulating()) return REAL_CU(cuGetErrorString)(error, text);
    const ledger::ErrorText* e = ledger::error_text(int(error));
    *text = e ? e->text : "unknown error";
    return CUDA_SUCCESS;
}

API_CU(cuDeviceGet)(CUdevice* device, int ordinal) {
    CU_FORWARD(cuDeviceGet, device, ordinal);
    CU_CHECK(ledger::driver_begun(), cudaErrorInitializationError);
    CU_CHECK(device, cudaErrorInvalidValue);
    CU_CHECK(!ledger::bad_device(ordinal), cudaErrorInvalidDevice);
    *device = ordinal;
    CU_DONE(cudaSuccess);
}

API_CU(cuDeviceGetCount)(int* count) {
    CU_FORWARD(cuDeviceGetCount, count);
    CU_CHECK(ledger::driver_begun(), cudaErrorInitializationError);
    CU_CHECK(count, cudaErrorInvalidValue);
    *count = ledger::configuration().profile.count;
    CU_DONE(cudaSuccess);
}

API_CU(cuDeviceGetName)(char* name, int length, CUdevice device) {
    CU_FORWARD(cuDeviceGetName, name, length, device);
    CU_CHECK(name && length > 0, cudaErrorInvalidValue);
    snprintf(name, size_t(length), "%s", ledger::configuration().profile.name.c_str());
    CU_DONE(cudaSuccess);
}

API_CU(cuDeviceTotalMem_v2)(size_t* bytes, CUdevice device) {
    CU_FORWARD(cuDeviceTotalMem_v2, bytes, device);
    CU_CHECK(bytes, cudaErrorInvalidValue);
    *bytes = ledger::configuration().profile.memory;
    CU_DONE(cudaSuccess);
}

API_CU(cuDeviceGetAttribute)(int* value, CUdevice_attribute which, CUdevice device) {
    CU_FORWARD(cuDeviceGetAttribute, value, which, device);
    CU_CHECK(value, cudaErrorInvalidValue);
    CU_CHECK(!ledger::bad_device(device), cudaErrorInvalidDevice);
    *value = ledger::attribute(cudaDeviceAttr(int(which)), device);
    CU_DONE(cudaSuccess);
}

namespace ledger {

inline CUresult create_context(Call& call, CUcontext* context, CUdevice device,
                               const std::function<cudaError_t()>& real) {
    if (simulating() && bad_device(device)) CU_DONE(cudaErrorInvalidDevice);
    cudaError_t status = create(call, context, "context", real, [&](Handle& h) { h.device = device; });
    if (status == cudaSuccess && simulating()) {
        contexts().push_back(Address(*context));
        thread().device = device;
    }
    return given(status);
}

}  // namespace ledger

API_CU(cuCtxCreate_v2)(CUcontext* context, unsigned int flags, CUdevice device) {
    CU_ENTRY(cuCtxCreate_v2);
    using Function = CUresult (*)(CUcontext*, unsigned int, CUdevice);
    return ledger::create_context(call, context, device, [&] {
        return cudaError_t(int(((Function)ledger::driver_function("cuCtxCreate_v2"))(context, flags, device)));
    });
}

#if CUDA_VERSION >= 12050
API_CU(cuCtxCreate_v4)(CUcontext* context, CUctxCreateParams* parameters, unsigned int flags,
                       CUdevice device) {
    CU_ENTRY(cuCtxCreate_v4);
    using Function = CUresult (*)(CUcontext*, CUctxCreateParams*, unsigned int, CUdevice);
    return ledger::create_context(call, context, device, [&] {
        return cudaError_t(int(((Function)ledger::driver_function("cuCtxCreate_v4"))(
            context, parameters, flags, device)));
    });
}
#endif

API_CU(cuCtxDestroy_v2)(CUcontext context) {
    ledger::Call call("cuCtxDestroy_v2", __builtin_frame_address(0));
    cudaError_t status = ledger::destroy(call, Address(context), "context", CU_REAL(cuCtxDestroy_v2, (context)));
    auto& stack = ledger::contexts();
    if (status == cudaSuccess && !stack.empty() && stack.back() == Address(context)) stack.pop_back();
    return ledger::given(status);
}

API_CU(cuCtxSetCurrent)(CUcontext context) {
    CU_FORWARD(cuCtxSetCurrent, context);
    auto& stack = ledger::contexts();
    CU_CHECK(!context || ledger::usable(call, Address(context), "context"), cudaErrorDeviceUninitialized);
    if (!stack.empty()) stack.pop_back();
    if (context) stack.push_back(Address(context));
    CU_DONE(cudaSuccess);
}

API_CU(cuCtxGetCurrent)(CUcontext* context) {
    CU_FORWARD(cuCtxGetCurrent, context);
    CU_CHECK(context, cudaErrorInvalidValue);
    auto& stack = ledger::contexts();
    *context = stack.empty() ? nullptr : (CUcontext)stack.back();
    CU_DONE(cudaSuccess);
}

API_CU(cuCtxPushCurrent_v2)(CUcontext context) {
    CU_FORWARD(cuCtxPushCurrent_v2, context);
    CU_CHECK(ledger::usable(call, Address(context), "context"), cudaErrorDeviceUninitialized);
    ledger::contexts().push_back(Address(context));
    CU_DONE(cudaSuccess);
}

API_CU(cuCtxPopCurrent_v2)(CUcontext* context) {
    CU_FORWARD(cuCtxPopCurrent_v2, context);
    auto& stack = ledger::contexts();
    CU_CHECK(!stack.empty(), cudaErrorDeviceUninitialized);
    if (context) *context = (CUcontext)stack.back();
    stack.pop_back();
    CU_DONE(cudaSuccess);
}

API_CU(cuCtxGetDevice)(CUdevice* device) {
    CU_FORWARD(cuCtxGetDevice, device);
    CU_CHECK(device, cudaErrorInvalidValue);
    *device = thread().device;
    CU_DONE(cudaSuccess);
}

API_CU(cuCtxSynchronize)(void) {
    CU_FORWARD(cuCtxSynchronize);
    runtime().host_waits_for_all();
    ledger::settle_pools();
    call.synchronized();
    CU_DONE(cudaSuccess);
}

API_CU(cuDevicePrimaryCtxRetain)(CUcontext* context, CUdevice device) {
    CU_ENTRY(cuDevicePrimaryCtxRetain);
    CU_CHECK(context, cudaErrorInvalidValue);
    if (!simulating()) {
        cudaError_t status = cudaError_t(int(REAL_CU(cuDevicePrimaryCtxRetain)(context, device)));
        if (status == cudaSuccess) call.acquired("context", Address(*context), 0);
        CU_DONE(status);
    }
    CU_CHECK(!ledger::bad_device(device), cudaErrorInvalidDevice);
    ledger::Primary& p = ledger::primary(device);
    if (!p.handle) p.handle = ledger::new_handle("context");
    p.count++;
    *context = (CUcontext)p.handle;
    // Every retention is owed a release of its own.
    call.acquired("context", p.handle, 0);
    CU_DONE(cudaSuccess);
}

API_CU(cuDevicePrimaryCtxRelease_v2)(CUdevice device) {
    CU_ENTRY(cuDevicePrimaryCtxRelease_v2);
    ledger::Primary& p = ledger::primary(device);
    if (!simulating()) {
        CUcontext context = nullptr;
        REAL_CU(cuCtxGetCurrent)(&context);
        cudaError_t status = cudaError_t(int(REAL_CU(cuDevicePrimaryCtxRelease_v2)(device)));
        if (status == cudaSuccess) call.released("context", Address(context), 0);
        CU_DONE(status);
    }
    if (p.count <= 0) {
        call.misuse(ledger::DOUBLE_FREE, "context", p.handle, 0, "released more often than retained");
        CU_DONE(cudaErrorDeviceUninitialized);
    }
    p.count--;
    call.released("context", p.handle, 0);
    CU_DONE(cudaSuccess);
}

API_CU(cuMemAlloc_v2)(CUdeviceptr* pointer, size_t bytes) {
    CU_ENTRY(cuMemAlloc_v2);
    CU_CHECK(bytes || !simulating(), cudaErrorInvalidValue);
    return ledger::given(ledger::take_device(call, (void**)pointer, bytes, CU_REAL(cuMemAlloc_v2, (pointer, bytes))));
}

API_CU(cuMemAllocPitch_v2)(CUdeviceptr* pointer, size_t* pitch, size_t width, size_t height,
                           unsigned int element) {
    CU_ENTRY(cuMemAllocPitch_v2);
    CU_CHECK(pitch, cudaErrorInvalidValue);
    size_t rounded = (width + 511) / 512 * 512;
    if (simulating()) *pitch = rounded;
    return ledger::given(ledger::take_device(call, (void**)pointer, rounded * height,
                                             CU_REAL(cuMemAllocPitch_v2, (pointer, pitch, width, height, element))));
}

API_CU(cuMemFree_v2)(CUdeviceptr pointer) {
    ledger::Call call("cuMemFree_v2", __builtin_frame_address(0));
    return ledger::given(ledger::release(call, (void*)pointer, ledger::fits_free, "device",
                                         CU_REAL(cuMemFree_v2, (pointer))));
}

API_CU(cuMemAllocHost_v2)(void** pointer, size_t bytes) {
    CU_ENTRY(cuMemAllocHost_v2);
    return ledger::given(ledger::take_host(call, pointer, bytes, "pinned", CU_REAL(cuMemAllocHost_v2, (pointer, bytes))));
}

API_CU(cuMemHostAlloc)(void** pointer, size_t bytes, unsigned int flags) {
    CU_ENTRY(cuMemHostAlloc);
    return ledger::given(ledger::take_host(call, pointer, bytes, "pinned", CU_REAL(cuMemHostAlloc, (pointer, bytes, flags))));
}

API_CU(cuMemFreeHost)(void* pointer) {
    ledger::Call call("cuMemFreeHost", __builtin_frame_address(0));
    call.assume_order();
    return ledger::given(ledger::release(call, pointer, ledger::fits_host, "pinned", CU_REAL(cuMemFreeHost, (pointer))));
}

API_CU(cuMemAllocManaged)(CUdeviceptr* pointer, size_t bytes, unsigned int flags) {
    CU_ENTRY(cuMemAllocManaged);
    return ledger::given(ledger::take_host(call, (void**)pointer, bytes, "managed",
                                           CU_REAL(cuMemAllocManaged, (pointer, bytes, flags))));
}

API_CU(cuMemGetInfo_v2)(size_t* left, size_t* total) {
    CU_FORWARD(cuMemGetInfo_v2, left, total);
    const ledger::Space& space = runtime().memory.devices[size_t(thread().device)];
    if (left) *left = space.left();
    if (total) *total = space.size();
    CU_DONE(cudaSuccess);
}

#define CU_COPY(name, parameters, arguments, to, from, bytes, ...)                       \
    {                                                                                    \
        CU_ENTRY(name);                                                                  \
        return ledger::given(ledger::copy_plain(call, (void*)(to), (const void*)(from), bytes, \
                                                {__VA_ARGS__}, CU_REAL(name, arguments)));  \
    }

API_CU(cuMemcpyHtoD_v2)(CUdeviceptr to, const void* from, size_t bytes)
    CU_COPY(cuMemcpyHtoD_v2, , (to, from, bytes), to, from, bytes, cudaMemcpyHostToDevice)
API_CU(cuMemcpyDtoH_v2)(void* to, CUdeviceptr from, size_t bytes)
    CU_COPY(cuMemcpyDtoH_v2, , (to, from, bytes), to, from, bytes, cudaMemcpyDeviceToHost)
API_CU(cuMemcpyDtoD_v2)(CUdeviceptr to, CUdeviceptr from, size_t bytes)
    CU_COPY(cuMemcpyDtoD_v2, , (to, from, bytes), to, from, bytes, cudaMemcpyDeviceToDevice)
API_CU(cuMemcpy)(CUdeviceptr to, CUdeviceptr from, size_t bytes)
    CU_COPY(cuMemcpy, , (to, from, bytes), to, from, bytes, cudaMemcpyDefault)
API_CU(cuMemcpyHtoDAsync_v2)(CUdeviceptr to, const void* from, size_t bytes, CUstream stream)
    CU_COPY(cuMemcpyHtoDAsync_v2, , (to, from, bytes, stream), to, from, bytes, cudaMemcpyHostToDevice, stream, true)
API_CU(cuMemcpyDtoHAsync_v2)(void* to, CUdeviceptr from, size_t bytes, CUstream stream)
    CU_COPY(cuMemcpyDtoHAsync_v2, , (to, from, bytes, stream), to, from, bytes, cudaMemcpyDeviceToHost, stream, true)
API_CU(cuMemcpyDtoDAsync_v2)(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream)
    CU_COPY(cuMemcpyDtoDAsync_v2, , (to, from, bytes, stream), to, from, bytes, cudaMemcpyDeviceToDevice, stream, true)

#define CU_FILL(name, arguments, value, element, count, stream, asynchronous)               \
    {                                                                                       \
        CU_ENTRY(name);                                                                     \
        size_t bytes = (count) * (element);                                                 \
        return ledger::given(ledger::fill(call, {Address(to), bytes, bytes}, value, element, \
                                          {bytes, 1, 1}, stream, asynchronous, CU_REAL(name, arguments))); \
    }

API_CU(cuMemsetD8_v2)(CUdeviceptr to, unsigned char value, size_t count)
    CU_FILL(cuMemsetD8_v2, (to, value, count), value, 1, count, nullptr, false)
API_CU(cuMemsetD16_v2)(CUdeviceptr to, unsigned short value, size_t count)
    CU_FILL(cuMemsetD16_v2, (to, value, count), value, 2, count, nullptr, false)
API_CU(cuMemsetD32_v2)(CUdeviceptr to, unsigned int value, size_t count)
    CU_FILL(cuMemsetD32_v2, (to, value, count), value, 4, count, nullptr, false)
API_CU(cuMemsetD8Async)(CUdeviceptr to, unsigned char value, size_t count, CUstream stream)
    CU_FILL(cuMemsetD8Async, (to, value, count, stream), value, 1, count, stream, true)
API_CU(cuMemsetD32Async)(CUdeviceptr to, unsigned int value, size_t count, CUstream stream)
    CU_FILL(cuMemsetD32Async, (to, value, count, stream), value, 4, count, stream, true)

API_CU(cuStreamCreate)(CUstream* stream, unsigned int flags) {
    CU_ENTRY(cuStreamCreate);
    return ledger::given(ledger::create(call, stream, "stream", CU_REAL(cuStreamCreate, (stream, flags)),
                                        [&](Handle& h) { h.flags = flags; }));
}

API_CU(cuStreamDestroy_v2)(CUstream stream) {
    ledger::Call call("cuStreamDestroy_v2", __builtin_frame_address(0));
    return ledger::given(ledger::destroy(call, Address(stream), "stream", CU_REAL(cuStreamDestroy_v2, (stream))));
}

API_CU(cuStreamSynchronize)(CUstream stream) {
    CU_FORWARD(cuStreamSynchronize, stream);
    CU_CHECK(ledger::usable_stream(call, stream), cudaErrorInvalidResourceHandle);
    ledger::host_waits_for(stream);
    ledger::settle_pools();
    call.synchronized(Address(stream));
    CU_DONE(cudaSuccess);
}

API_CU(cuEventCreate)(CUevent* event, unsigned int flags) {
    CU_ENTRY(cuEventCreate);
    return ledger::given(ledger::create(call, event, "event", CU_REAL(cuEventCreate, (event, flags)),
                                        [&](Handle& h) { h.flags = flags; }));
}

API_CU(cuEventDestroy_v2)(CUevent event) {
    ledger::Call call("cuEventDestroy_v2", __builtin_frame_address(0));
    return ledger::given(ledger::destroy(call, Address(event), "event", CU_REAL(cuEventDestroy_v2, (event))));
}

API_CU(cuEventRecord)(CUevent event, CUstream stream) {
    CU_FORWARD(cuEventRecord, event, stream);
    return ledger::given(ledger::record_event(call, event, stream));
}

API_CU(cuEventSynchronize)(CUevent event) {
    CU_FORWARD(cuEventSynchronize, event);
    CU_CHECK(ledger::usable(call, Address(event), "event"), cudaErrorInvalidResourceHandle);
    ledger::host_waits_for(*ledger::find_handle(Address(event), "event"));
    call.synchronized();
    CU_DONE(cudaSuccess);
}

// Modules: of PTX, the kernels are known; what is compiled is taken as it is.
namespace ledger {

struct ModuleContent {
    std::map<std::string, KernelFacts> facts;
    std::map<std::string, std::unique_ptr<Kernel>> kernels;
    bool text = false;
};

inline CUresult load_module(Call& call, CUmodule* module, const void* image,
                            const std::function<cudaError_t()>& real) {
    if (simulating() && !image) CU_DONE(cudaErrorInvalidValue);
    auto content = std::make_shared<ModuleContent>();
    const char* bytes = (const char*)image;
    if (simulating() && memcmp(bytes, "\x7f" "ELF", 4) && *(uint32_t*)bytes != 0xBA55ED50 &&
        *(uint32_t*)bytes != 0x466243b1) {
        std::string text(bytes);
        if (text.find(".version") == std::string::npos) CU_DONE(cudaErrorInvalidKernelImage);
        PtxReader reader;
        reader.read(text);
        content->facts = reader.kernels();
        content->text = true;
    }
    return given(create(call, module, "module", real, [&](Handle& h) { h.content = content; }));
}

}  // namespace ledger

API_CU(cuModuleLoadData)(CUmodule* module, const void* image) {
    CU_ENTRY(cuModuleLoadData);
    return ledger::load_module(call, module, image, CU_REAL(cuModuleLoadData, (module, image)));
}

API_CU(cuModuleLoad)(CUmodule* module, const char* filename) {
    CU_ENTRY(cuModuleLoad);
    std::string image;
    if (simulating()) {
        CU_CHECK(module && filename, cudaErrorInvalidValue);
        int file = open(filename, O_RDONLY);
        CU_CHECK(file >= 0, cudaErrorFileNotFound);
        char part[4096];
        for (ssize_t count; (count = read(file, part, sizeof part)) > 0;) image.append(part, count);
        close(file);
        CU_CHECK(image.size() >= 4, cudaErrorInvalidKernelImage);
    }
    return ledger::load_module(call, module, image.data(), CU_REAL(cuModuleLoad, (module, filename)));
}

API_CU(cuModuleLoadDataEx)(CUmodule* module, const void* image, unsigned int count,
                           CUjit_option* options, void** values) {
    CU_ENTRY(cuModuleLoadDataEx);
    return ledger::load_module(call, module, image,
                               CU_REAL(cuModuleLoadDataEx, (module, image, count, options, values)));
}

API_CU(cuModuleUnload)(CUmodule module) {
    ledger::Call call("cuModuleUnload", __builtin_frame_address(0));
    return ledger::given(ledger::destroy(call, Address(module), "module", CU_REAL(cuModuleUnload, (module))));
}

API_CU(cuModuleGetFunction)(CUfunction* function, CUmodule module, const char* name) {
    CU_FORWARD(cuModuleGetFunction, function, module, name);
    CU_CHECK(function && name, cudaErrorInvalidValue);
    CU_CHECK(ledger::usable(call, Address(module), "module"), cudaErrorInvalidResourceHandle);
    auto* content = (ledger::ModuleContent*)ledger::find_handle(Address(module), "module")->content.get();
    auto facts = content->facts.find(name);
    CU_CHECK(!content->text || facts != content->facts.end(), cudaErrorSymbolNotFound);
    // It outlives its module here, so that a launch after unloading can be told.
    auto& kernel = runtime().program.kernels[new char];
    kernel.reset(new ledger::Kernel);
    kernel->name = name;
    kernel->known = facts != content->facts.end();
    if (kernel->known) kernel->facts = facts->second;
    *function = (CUfunction)kernel.get();
    CU_DONE(cudaSuccess);
}

API_CU(cuFuncSetAttribute)(CUfunction function, CUfunction_attribute attribute, int value) {
    CU_FORWARD(cuFuncSetAttribute, function, attribute, value);
    ledger::Kernel* kernel = runtime().program.find(function);
    CU_CHECK(kernel, cudaErrorInvalidResourceHandle);
    if (attribute == CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES) {
        bool fits = value >= 0 && kernel->facts.shared + uint64_t(value) <=
                                      ledger::configuration().profile.optin_shared;
        CU_CHECK(fits, cudaErrorInvalidValue);
        kernel->opted_in = value;
    }
    CU_DONE(cudaSuccess);
}

// What older programs tell of a launch before it; nothing that is looked at depends on it.
API_CU(cuFuncSetCacheConfig)(CUfunction function, CUfunc_cache config) {
    CU_FORWARD(cuFuncSetCacheConfig, function, config);
    CU_CHECK(runtime().program.find(function), cudaErrorInvalidResourceHandle);
    CU_DONE(cudaSuccess);
}

API_CU(cuParamSetSize)(CUfunction function, unsigned int bytes) {
    CU_FORWARD(cuParamSetSize, function, bytes);
    CU_CHECK(runtime().program.find(function), cudaErrorInvalidResourceHandle);
    CU_DONE(cudaSuccess);
}

API_CU(cuParamSetv)(CUfunction function, int at, void* value, unsigned int bytes) {
    CU_FORWARD(cuParamSetv, function, at, value, bytes);
    CU_CHECK(runtime().program.find(function), cudaErrorInvalidResourceHandle);
    CU_DONE(cudaSuccess);
}

API_CU(cuFuncSetBlockShape)(CUfunction function, int x, int y, int z) {
    CU_FORWARD(cuFuncSetBlockShape, function, x, y, z);
    CU_CHECK(runtime().program.find(function), cudaErrorInvalidResourceHandle);
    CU_DONE(cudaSuccess);
}

API_CU(cuLaunchKernel)(CUfunction function, unsigned int gx, unsigned int gy, unsigned int gz,
                       unsigned int bx, unsigned int by, unsigned int bz, unsigned int shared,
                       CUstream stream, void** arguments, void** extra) {
    CU_ENTRY(cuLaunchKernel);
    return ledger::given(ledger::launch(
        call, function, {dim3(gx, gy, gz), dim3(bx, by, bz), arguments, shared, stream},
        CU_REAL(cuLaunchKernel, (function, gx, gy, gz, bx, by, bz, shared, stream, arguments, extra))));
}
