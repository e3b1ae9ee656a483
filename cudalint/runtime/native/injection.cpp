// The injection: sees what a program asks of CUDA through CUPTI, for programs that the ledger cannot
// stand before, because a CUDA runtime is linked into them or their libraries. The driver loads it
// (CUDA_INJECTION64_PATH); it only watches, and writes the ledger's trace.
#include "base.hpp"
#include "trace.hpp"
#include "stack.hpp"

#include <cupti.h>
#include <cxxabi.h>

#include <atomic>

namespace injection {

using namespace ledger;

enum class Action : uint8_t {
    Unknown, Nothing, Other,
    Take, TakeOrdered, TakeFromPool, TakePitched, Take3D, TakeArray, Take3DArray, TakeDriverArray,
    TakeDriver3DArray, Register, Make,
    Give, Destroy,
    Copy, Copy2D, CopyDriver, Fill, Fill2D, FillDriver,
    Launch, LaunchEx, LaunchDriver, LaunchDriverEx,
    Sync, Reset
};

struct Known {
    const char* name;
    Action action;
    const char* family;
    int detail;  // The direction of a copy, the bytes of an element.
};

// Names as CUPTI gives them, without `_ptsz` and `_ptds`. Modules and libraries are left out: the
// runtime loads its own with the same calls as a program does.
const Known known[] = {
    {"cudaMalloc", Action::Take, "device", 0},
    {"cuMemAlloc_v2", Action::Take, "device", 0},
    {"cudaMallocHost", Action::Take, "pinned", 0},
    {"cudaHostAlloc", Action::Take, "pinned", 0},
    {"cuMemAllocHost_v2", Action::Take, "pinned", 0},
    {"cuMemHostAlloc", Action::Take, "pinned", 0},
    {"cuMemHostAlloc_v2", Action::Take, "pinned", 0},
    {"cudaMallocManaged", Action::Take, "managed", 0},
    {"cuMemAllocManaged", Action::Take, "managed", 0},
    {"cudaMallocAsync", Action::TakeOrdered, "device", 0},
    {"cuMemAllocAsync", Action::TakeOrdered, "device", 0},
    {"cudaMallocFromPoolAsync", Action::TakeFromPool, "device", 0},
    {"cuMemAllocFromPoolAsync", Action::TakeFromPool, "device", 0},
    {"cudaMallocPitch", Action::TakePitched, "device", 0},
    {"cuMemAllocPitch_v2", Action::TakePitched, "device", 0},
    {"cudaMalloc3D", Action::Take3D, "device", 0},
    {"cudaMallocArray", Action::TakeArray, "array", 0},
    {"cudaMalloc3DArray", Action::Take3DArray, "array", 0},
    {"cudaMallocMipmappedArray", Action::Take3DArray, "mipmapped-array", 0},
    {"cuArrayCreate_v2", Action::TakeDriverArray, "array", 0},
    {"cuArray3DCreate_v2", Action::TakeDriver3DArray, "array", 0},
    {"cudaHostRegister", Action::Register, "host-registered", 0},
    {"cuMemHostRegister", Action::Register, "host-registered", 0},
    {"cuMemHostRegister_v2", Action::Register, "host-registered", 0},
    {"cudaStreamCreate", Action::Make, "stream", 0},
    {"cudaStreamCreateWithFlags", Action::Make, "stream", 0},
    {"cudaStreamCreateWithPriority", Action::Make, "stream", 0},
    {"cuStreamCreate", Action::Make, "stream", 0},
    {"cuStreamCreateWithPriority", Action::Make, "stream", 0},
    {"cudaEventCreate", Action::Make, "event", 0},
    {"cudaEventCreateWithFlags", Action::Make, "event", 0},
    {"cuEventCreate", Action::Make, "event", 0},
    {"cuCtxCreate_v2", Action::Make, "context", 0},
    {"cuCtxCreate_v3", Action::Make, "context", 0},
    {"cuCtxCreate_v4", Action::Make, "context", 0},
    {"cudaMemPoolCreate", Action::Make, "mempool", 0},
    {"cuMemPoolCreate", Action::Make, "mempool", 0},
    {"cudaGraphCreate", Action::Make, "graph", 0},
    {"cudaGraphClone", Action::Make, "graph", 0},
    {"cuGraphCreate", Action::Make, "graph", 0},
    {"cudaGraphInstantiate", Action::Make, "graph-exec", 0},
    {"cudaGraphInstantiateWithFlags", Action::Make, "graph-exec", 0},
    {"cudaGraphInstantiateWithParams", Action::Make, "graph-exec", 0},
    {"cuGraphInstantiateWithFlags", Action::Make, "graph-exec", 0},
    {"cuGraphInstantiateWithParams", Action::Make, "graph-exec", 0},
    {"cudaCreateTextureObject", Action::Make, "texture", 0},
    {"cuTexObjectCreate", Action::Make, "texture", 0},
    {"cudaCreateSurfaceObject", Action::Make, "surface", 0},
    {"cuSurfObjectCreate", Action::Make, "surface", 0},

    {"cudaFree", Action::Give, "device", 0},
    {"cuMemFree_v2", Action::Give, "device", 0},
    {"cudaFreeAsync", Action::Give, "device", 1},
    {"cuMemFreeAsync", Action::Give, "device", 1},
    {"cudaFreeHost", Action::Give, "pinned", 0},
    {"cuMemFreeHost", Action::Give, "pinned", 0},
    {"cudaHostUnregister", Action::Give, "host-registered", 0},
    {"cuMemHostUnregister", Action::Give, "host-registered", 0},
    {"cudaFreeArray", Action::Destroy, "array", 0},
    {"cuArrayDestroy", Action::Destroy, "array", 0},
    {"cudaFreeMipmappedArray", Action::Destroy, "mipmapped-array", 0},
    {"cudaStreamDestroy", Action::Destroy, "stream", 0},
    {"cuStreamDestroy_v2", Action::Destroy, "stream", 0},
    {"cudaEventDestroy", Action::Destroy, "event", 0},
    {"cuEventDestroy_v2", Action::Destroy, "event", 0},
    {"cuCtxDestroy_v2", Action::Destroy, "context", 0},
    {"cudaMemPoolDestroy", Action::Destroy, "mempool", 0},
    {"cuMemPoolDestroy", Action::Destroy, "mempool", 0},
    {"cudaGraphDestroy", Action::Destroy, "graph", 0},
    {"cuGraphDestroy", Action::Destroy, "graph", 0},
    {"cudaGraphExecDestroy", Action::Destroy, "graph-exec", 0},
    {"cuGraphExecDestroy", Action::Destroy, "graph-exec", 0},
    {"cudaDestroyTextureObject", Action::Destroy, "texture", 0},
    {"cuTexObjectDestroy", Action::Destroy, "texture", 0},
    {"cudaDestroySurfaceObject", Action::Destroy, "surface", 0},
    {"cuSurfObjectDestroy", Action::Destroy, "surface", 0},

    {"cudaMemcpy", Action::Copy, "", 0},
    {"cudaMemcpyAsync", Action::Copy, "", 1},
    {"cudaMemcpy2D", Action::Copy2D, "", 0},
    {"cudaMemcpy2DAsync", Action::Copy2D, "", 1},
    {"cuMemcpyHtoD_v2", Action::CopyDriver, "", 1},
    {"cuMemcpyHtoDAsync_v2", Action::CopyDriver, "", 1},
    {"cuMemcpyDtoH_v2", Action::CopyDriver, "", 2},
    {"cuMemcpyDtoHAsync_v2", Action::CopyDriver, "", 2},
    {"cuMemcpyDtoD_v2", Action::CopyDriver, "", 3},
    {"cuMemcpyDtoDAsync_v2", Action::CopyDriver, "", 3},
    {"cuMemcpy", Action::CopyDriver, "", 4},
    {"cuMemcpyAsync", Action::CopyDriver, "", 4},
    {"cudaMemset", Action::Fill, "", 0},
    {"cudaMemsetAsync", Action::Fill, "", 0},
    {"cudaMemset2D", Action::Fill2D, "", 0},
    {"cudaMemset2DAsync", Action::Fill2D, "", 0},
    {"cuMemsetD8_v2", Action::FillDriver, "", 1},
    {"cuMemsetD8Async", Action::FillDriver, "", 1},
    {"cuMemsetD16_v2", Action::FillDriver, "", 2},
    {"cuMemsetD16Async", Action::FillDriver, "", 2},
    {"cuMemsetD32_v2", Action::FillDriver, "", 4},
    {"cuMemsetD32Async", Action::FillDriver, "", 4},
    {"cudaLaunchKernel", Action::Launch, "", 0},
    {"cudaLaunchCooperativeKernel", Action::Launch, "", 0},
    {"cudaLaunchKernelExC", Action::LaunchEx, "", 0},
    {"cuLaunchKernel", Action::LaunchDriver, "", 0},
    {"cuLaunchCooperativeKernel", Action::LaunchDriver, "", 0},
    {"cuLaunchKernelEx", Action::LaunchDriverEx, "", 0},
    {"cudaDeviceSynchronize", Action::Sync, "", 0},
    {"cudaStreamSynchronize", Action::Sync, "", 1},
    {"cudaEventSynchronize", Action::Sync, "", 0},
    {"cuCtxSynchronize", Action::Sync, "", 0},
    {"cuCtxSynchronize_v2", Action::Sync, "", 0},
    {"cuStreamSynchronize", Action::Sync, "", 1},
    {"cudaDeviceReset", Action::Reset, "", 0},
    {"cudaThreadExit", Action::Reset, "", 0},
    {"cuDevicePrimaryCtxReset_v2", Action::Reset, "", 0},
    // They only repeat what an earlier call said.
    {"cudaGetLastError", Action::Nothing, "", 0},
    {"cudaPeekAtLastError", Action::Nothing, "", 0},
};
const Known other{"", Action::Other, "", 0}, nothing{"", Action::Nothing, "", 0};

std::string plain_name(const char* name) {
    std::string text = name ? name : "";
    for (const char* suffix : {"_ptsz", "_ptds"}) {
        size_t length = strlen(suffix);
        if (text.size() > length && !text.compare(text.size() - length, length, suffix))
            text.resize(text.size() - length);
    }
    return text;
}

// What is known of a function, looked up by its name once.
struct Function {
    std::atomic<const Known*> entry{nullptr};
    const char* name = "";
};

constexpr uint32_t most_functions = 2048;
Function functions[2][most_functions];

const Function& function_of(bool driver, uint32_t id, const char* given) {
    Function& f = functions[driver][id % most_functions];
    if (f.entry.load(std::memory_order_acquire)) return f;
    std::lock_guard<std::recursive_mutex> guard(writer().mutex);
    if (f.entry.load(std::memory_order_relaxed)) return f;
    std::string name = plain_name(given);
    f.name = strdup(name.c_str());
    // What the driver is asked that we do not know may be the runtime's own business.
    const Known* found = driver ? &nothing : &other;
    for (const Known& k : known)
        if (name == k.name) found = &k;
    f.entry.store(found, std::memory_order_release);
    return f;
}

struct Owned {
    const char* family;
    uint64_t bytes;
};

// By address; handles of one family may have the same address as those of another.
std::map<Address, Owned> live, gone;
std::map<std::pair<std::string, Address>, bool> handles;  // Whether it lives.
thread_local int depth = 0;

bool is_tool(const LoadedModule& m) {
    size_t slash = m.path.rfind('/');
    std::string name = slash == std::string::npos ? m.path : m.path.substr(slash + 1);
    for (const char* tool : {"libcudalint_", "libcupti.", "libcuda.", "libcudart."})
        if (!name.compare(0, strlen(tool), tool)) return true;
    return false;
}

_Unwind_Reason_Code unwind_outside(_Unwind_Context* context, void* data) {
    Unwinding* u = (Unwinding*)data;
    Address address = _Unwind_GetIP(context);
    if (!address) return _URC_END_OF_STACK;
    if (!u->begun) {
        const LoadedModule* m = module_of(address);
        u->begun = m && !is_tool(*m);
    }
    if (!u->begun) return _URC_NO_REASON;
    if (u->stack->count == Stack::most) return _URC_END_OF_STACK;
    u->stack->frames[u->stack->count++] = address;
    return _URC_NO_REASON;
}

class Event {
public:
    Event(const char* api, Kind kind) : api_(api) {
        record.kind = kind;
        record.thread = thread_number();
    }

    void write(const char* family = nullptr, const std::string& text = "",
               const LaunchRecord* launch = nullptr) {
        if (!writer().active()) return;
        std::lock_guard<std::recursive_mutex> guard(writer().mutex);
        note_modules();
        Stack stack;
        Unwinding u{&stack, 0, false};
        _Unwind_Backtrace(unwind_outside, &u);
        record.stack = writer().stack(stack.frames, stack.count);
        record.api = writer().literal(api_);
        record.family = writer().literal(family);
        if (!text.empty()) record.text = writer().string(text);
        writer().event(record, launch);
    }

    Record record{};

private:
    const char* api_;
};

void misuse(const char* api, Misuse kind, const char* family, Address address, uint64_t bytes,
            const std::string& text) {
    Event event(api, VIOLATION);
    event.record.detail = kind, event.record.address = address, event.record.bytes = bytes;
    event.write(family, text);
}

// Each parameter of these functions takes a word of eight bytes, whatever the version of its struct.
struct Parameters {
    const uint64_t* words;
    uint64_t operator[](int i) const { return words[i]; }
    Address out(int i = 0) const { return words[i] ? *(Address*)words[i] : 0; }
};

std::map<Address, Owned>::iterator holding(std::map<Address, Owned>& all, Address address) {
    auto it = all.upper_bound(address);
    if (it == all.begin()) return all.end();
    --it;
    return address - it->first < std::max<uint64_t>(it->second.bytes, 1) ? it : all.end();
}

void take(const Function& f, Address address, uint64_t bytes, Address stream = 0,
          bool asynchronous = false) {
    if (!address) return;
    const char* family = f.entry.load()->family;
    {
        std::lock_guard<std::recursive_mutex> guard(writer().mutex);
        live[address] = {family, bytes};
        gone.erase(address);
    }
    Event event(f.name, ACQUIRE);
    event.record.address = address, event.record.bytes = bytes, event.record.stream = stream;
    if (asynchronous) event.record.flags |= ASYNCHRONOUS;
    event.write(family);
}

bool fits(const char* wanted, const char* family) {
    return !strcmp(wanted, family) || (!strcmp(wanted, "device") && !strcmp(family, "managed"));
}

// Before the call: once the real release is done, another thread may get the same address.
void give(const Function& f, Address address, Address stream, bool asynchronous) {
    if (!address) return;
    const char* wanted = f.entry.load()->family;
    std::unique_lock<std::recursive_mutex> guard(writer().mutex);
    auto it = live.find(address);
    if (it != live.end() && fits(wanted, it->second.family)) {
        Owned owned = it->second;
        live.erase(it);
        gone[address] = owned;
        Event event(f.name, RELEASE);
        event.record.address = address, event.record.bytes = owned.bytes;
        event.record.stream = stream;
        if (asynchronous) event.record.flags |= ASYNCHRONOUS;
        event.write(owned.family);
        return;
    }
    auto inside = holding(live, address);
    if (inside != live.end()) {
        const Owned owned = inside->second;
        if (inside->first == address)
            misuse(f.name, WRONG_DEALLOCATOR, owned.family, address, owned.bytes,
                   std::string(owned.family) + " memory is released by " + f.name);
        else
            misuse(f.name, INVALID_POINTER, owned.family, address, owned.bytes,
                   "released " + std::to_string(address - inside->first) +
                       " bytes into an allocation of " + std::to_string(owned.bytes) + " bytes");
        return;
    }
    auto was = gone.find(address);
    if (was != gone.end())
        misuse(f.name, DOUBLE_FREE, was->second.family, address, was->second.bytes,
               "released a second time");
}

void make(const Function& f, Address handle, uint64_t bytes = 0) {
    if (!handle) return;
    const char* family = f.entry.load()->family;
    {
        std::lock_guard<std::recursive_mutex> guard(writer().mutex);
        handles[{family, handle}] = true;
    }
    Event event(f.name, ACQUIRE);
    event.record.address = handle, event.record.bytes = bytes;
    event.write(family);
}

void destroy(const Function& f, Address handle) {
    const char* family = f.entry.load()->family;
    std::unique_lock<std::recursive_mutex> guard(writer().mutex);
    auto it = handles.find({family, handle});
    if (it == handles.end()) return;
    if (!it->second) {
        misuse(f.name, DOUBLE_FREE, family, handle, 0, "destroyed a second time");
        return;
    }
    it->second = false;
    Event event(f.name, RELEASE);
    event.record.address = handle;
    event.write(family);
}

uint64_t element_bytes(const cudaChannelFormatDesc* d) {
    return d ? uint64_t(d->x + d->y + d->z + d->w) / 8 : 0;
}

uint64_t format_bytes(CUarray_format format, unsigned channels) {
    switch (format) {
        case CU_AD_FORMAT_UNSIGNED_INT16: case CU_AD_FORMAT_SIGNED_INT16: case CU_AD_FORMAT_HALF:
            return 2 * channels;
        case CU_AD_FORMAT_UNSIGNED_INT32: case CU_AD_FORMAT_SIGNED_INT32: case CU_AD_FORMAT_FLOAT:
            return 4 * channels;
        default: return channels;
    }
}

uint64_t at_least_one(uint64_t extent) { return std::max<uint64_t>(extent, 1); }

void launched(const char* api, const char* symbol, LaunchRecord shape, Address stream) {
    int status = -1;
    char* text = symbol ? abi::__cxa_demangle(symbol, nullptr, nullptr, &status) : nullptr;
    Event event(api, LAUNCH);
    event.record.stream = stream;
    event.write(nullptr, status == 0 && text ? text : symbol ? symbol : "", &shape);
    free(text);
}

void copied(const char* api, int direction, Address to, Address from, uint64_t bytes) {
    Event event(api, COPY);
    event.record.detail = uint16_t(direction), event.record.address = to;
    event.record.source = from, event.record.bytes = bytes;
    event.write();
}

void filled(const char* api, Address at, uint64_t value, uint64_t bytes) {
    Event event(api, FILL);
    event.record.address = at, event.record.bytes = bytes, event.record.source = value;
    event.write();
}

void entered(const Function& f, Parameters p) {
    const Known& k = *f.entry.load();
    if (k.action == Action::Give) give(f, p[0], k.detail ? p[1] : 0, k.detail);
    if (k.action == Action::Destroy) destroy(f, p[0]);
}

void succeeded(const Function& f, const CUpti_CallbackData* data, Parameters p) {
    const Known& k = *f.entry.load();
    switch (k.action) {
        case Action::Take: return take(f, p.out(), p[1]);
        case Action::TakeOrdered: return take(f, p.out(), p[1], p[2], true);
        case Action::TakeFromPool: return take(f, p.out(), p[1], p[3], true);
        case Action::TakePitched: return take(f, p.out(), p.out(1) * p[3]);
        case Action::Take3D: {
            auto* made = (const cudaPitchedPtr*)p[0];
            return made ? take(f, Address(made->ptr), made->pitch * p[2] * p[3]) : void();
        }
        case Action::TakeArray:
            return make(f, p.out(), element_bytes((const cudaChannelFormatDesc*)p[1]) * p[2] *
                                        at_least_one(p[3]));
        case Action::Take3DArray:
            return make(f, p.out(), element_bytes((const cudaChannelFormatDesc*)p[1]) * p[2] *
                                        at_least_one(p[3]) * at_least_one(p[4]));
        case Action::TakeDriverArray: {
            auto* d = (const CUDA_ARRAY_DESCRIPTOR*)p[1];
            return make(f, p.out(), format_bytes(d->Format, d->NumChannels) * d->Width *
                                        at_least_one(d->Height));
        }
        case Action::TakeDriver3DArray: {
            auto* d = (const CUDA_ARRAY3D_DESCRIPTOR*)p[1];
            return make(f, p.out(), format_bytes(d->Format, d->NumChannels) * d->Width *
                                        at_least_one(d->Height) * at_least_one(d->Depth));
        }
        case Action::Register: return take(f, p[0], p[1]);
        case Action::Make: return make(f, p.out());
        case Action::Copy: return copied(f.name, int(uint32_t(p[3])), p[0], p[1], p[2]);
        case Action::Copy2D: return copied(f.name, int(uint32_t(p[6])), p[0], p[2], p[4] * p[5]);
        case Action::CopyDriver: return copied(f.name, k.detail, p[0], p[1], p[2]);
        case Action::Fill: return filled(f.name, p[0], uint32_t(p[1]), p[2]);
        case Action::Fill2D: return filled(f.name, p[0], uint32_t(p[2]), p[3] * p[4]);
        case Action::FillDriver: {
            uint64_t mask = (1ull << (8 * k.detail)) - 1;
            return filled(f.name, p[0], p[1] & mask, p[2] * uint64_t(k.detail));
        }
        case Action::Launch: {
            auto* l = (const cudaLaunchKernel_v7000_params*)p.words;
            return launched(f.name, data->symbolName,
                            {{l->gridDim.x, l->gridDim.y, l->gridDim.z},
                             {l->blockDim.x, l->blockDim.y, l->blockDim.z}, -1,
                             uint32_t(l->sharedMem)},
                            Address(l->stream));
        }
        case Action::LaunchEx: {
            auto* l = (const cudaLaunchConfig_t*)p[0];
            return launched(f.name, data->symbolName,
                            {{l->gridDim.x, l->gridDim.y, l->gridDim.z},
                             {l->blockDim.x, l->blockDim.y, l->blockDim.z}, -1,
                             uint32_t(l->dynamicSmemBytes)},
                            Address(l->stream));
        }
        case Action::LaunchDriver: {
            auto* l = (const cuLaunchKernel_params*)p.words;
            return launched(f.name, data->symbolName,
                            {{l->gridDimX, l->gridDimY, l->gridDimZ},
                             {l->blockDimX, l->blockDimY, l->blockDimZ}, -1, l->sharedMemBytes},
                            Address(l->hStream));
        }
        case Action::LaunchDriverEx: {
            auto* l = (const CUlaunchConfig*)p[0];
            return launched(f.name, data->symbolName,
                            {{l->gridDimX, l->gridDimY, l->gridDimZ},
                             {l->blockDimX, l->blockDimY, l->blockDimZ}, -1, l->sharedMemBytes},
                            Address(l->hStream));
        }
        case Action::Sync: {
            Event event(f.name, SYNC);
            if (k.detail) event.record.stream = p[0];
            return event.write();
        }
        case Action::Reset: {
            std::lock_guard<std::recursive_mutex> guard(writer().mutex);
            gone.insert(live.begin(), live.end());
            live.clear(), handles.clear();
            return Event(f.name, RESET).write();
        }
        default: return;
    }
}

// How many bytes a call that failed was to acquire; 0 where its parameters do not say.
uint64_t asked(Action action, Parameters p) {
    switch (action) {
        case Action::Take:
        case Action::TakeOrdered:
        case Action::TakeFromPool:
        case Action::Register: return p[1];
        default: return 0;
    }
}

void CUPTIAPI on_call(void*, CUpti_CallbackDomain domain, CUpti_CallbackId id, const void* given) {
    bool driver = domain == CUPTI_CB_DOMAIN_DRIVER_API;
    if (!driver && domain != CUPTI_CB_DOMAIN_RUNTIME_API) return;
    const auto* data = (const CUpti_CallbackData*)given;
    // Inside a call of the runtime are the driver's: one call of the program is one event.
    bool entering = data->callbackSite == CUPTI_API_ENTER;
    if (entering ? depth++ > 0 : --depth > 0) return;
    depth = std::max(depth, 0);
    const Function& f = function_of(driver, id, data->functionName);
    const Known& k = *f.entry.load(std::memory_order_acquire);
    if (k.action == Action::Nothing || !data->functionParams) return;
    Parameters parameters{(const uint64_t*)data->functionParams};
    if (entering) return entered(f, parameters);
    int status = data->functionReturnValue ? *(const int*)data->functionReturnValue : 0;
    if (!status) return succeeded(f, data, parameters);
    if (status == cudaErrorNotReady) return;
    Event event(f.name, CALL);
    event.record.status = status;
    if (status != cudaErrorMemoryAllocation) return event.write();
    event.record.bytes = asked(k.action, parameters);
    event.write(k.family);
}

void note(const std::string& text) {
    dprintf(2, "cudalint injection: %s\n", text.c_str());
    Record record{};
    record.kind = NOTE;
    record.thread = thread_number();
    std::lock_guard<std::recursive_mutex> guard(writer().mutex);
    record.text = writer().string(text);
    writer().event(record);
}

void subscribe() {
    const char* chosen = getenv("CUDALINT_CUPTI");
    char versioned[64];
    snprintf(versioned, sizeof versioned, "libcupti.so.%d", CUDART_VERSION / 1000);
    void* library = nullptr;
    for (const char* name : {chosen, (const char*)versioned, "libcupti.so"})
        if (name && *name && !library) library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (!library) return note(std::string("no CUPTI: ") + dlerror());
    auto subscribe = (decltype(&cuptiSubscribe))dlsym(library, "cuptiSubscribe");
    auto enable = (decltype(&cuptiEnableDomain))dlsym(library, "cuptiEnableDomain");
    auto explain = (decltype(&cuptiGetResultString))dlsym(library, "cuptiGetResultString");
    if (!subscribe || !enable) return note("this CUPTI has no callbacks");
    CUpti_SubscriberHandle handle;
    CUptiResult result = subscribe(&handle, on_call, nullptr);
    if (result == CUPTI_SUCCESS) result = enable(1, handle, CUPTI_CB_DOMAIN_RUNTIME_API);
    if (result == CUPTI_SUCCESS) result = enable(1, handle, CUPTI_CB_DOMAIN_DRIVER_API);
    if (result == CUPTI_SUCCESS) return;
    const char* reason = nullptr;
    if (explain) explain(result, &reason);
    note(std::string("CUPTI refuses: ") + (reason ? reason : "for an unknown reason") +
         " (does another profiler or debugger watch this program?)");
}

void before_fork() { writer().mutex.lock(); }
void after_fork_parent() { writer().mutex.unlock(); }
void after_fork_child() {
    new (&writer().mutex) std::recursive_mutex;
    writer().open(true);
}

bool begun = false;

__attribute__((destructor)) void finish() {
    if (!begun) return;
    Record record{};
    record.kind = END;
    record.thread = thread_number();
    {
        std::lock_guard<std::recursive_mutex> guard(writer().mutex);
        writer().event(record);
    }
    writer().close();
}

}  // namespace injection

// The driver calls it when a program begins to use it.
extern "C" EXPORT int InitializeInjection() {
    using namespace injection;
    if (begun) return 1;
    // What goes through the ledger is in its trace already.
    auto calls = (unsigned long long (*)())dlsym(RTLD_DEFAULT, "cudalint_calls");
    if (calls && calls()) return 1;
    begun = true;
    configuration().simulate = false;
    writer().open(false);
    pthread_atfork(before_fork, after_fork_parent, after_fork_child);
    subscribe();
    return 1;
}
