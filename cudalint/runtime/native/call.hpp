// One call of an entry point: its number, its stack, its fault, its event.
#pragma once

namespace ledger {

// The status with which a function usually fails.
inline cudaError_t usual_failure(const char* api) {
    auto has = [&](const char* part) { return strstr(api, part) != nullptr; };
    if (has("Launch")) return cudaErrorLaunchOutOfResources;
    if (has("Get") || has("Retain")) return cudaErrorInvalidValue;
    if (has("Synchronize")) return cudaErrorLaunchFailure;
    if (has("Malloc") || has("Alloc") || has("Create") || has("Instantiate") ||
        has("Reserve"))
        return cudaErrorMemoryAllocation;
    if (has("HostRegister")) return cudaErrorMemoryAllocation;
    return cudaErrorInvalidValue;
}

enum class Needs { Device, Nothing };

class Call {
public:
    // Out of line: there are hundreds of entry points.
    __attribute__((noinline)) Call(const char* api, void* frame, Needs needs = Needs::Device)
        : api_(api), frame_(frame), lock_(runtime().mutex, std::defer_lock) {
        outer_ = thread().depth++ == 0;
        if (simulating()) lock_.lock();
        if (!outer_) return;
        ThreadState& t = thread();
        if (t.launch_pending && strstr(api, "Launch")) {
            stack_ = t.launch_stack;
            captured_ = true;
        }
        number_ = __atomic_add_fetch(&runtime().calls, 1, __ATOMIC_RELAXED);
        if (needs == Needs::Device) runtime().used = true;
        if (runtime().inherited && needs == Needs::Device)
            refusal_ = cudaErrorInitializationError;
        else if (runtime().sticky != cudaSuccess && needs == Needs::Device)
            refusal_ = runtime().sticky;
        else
            inject();
        // A wait that failed has waited for nothing, but what then comes too early is no proof.
        if (refused() && simulating()) runtime().host_waits_for_all();
    }

    __attribute__((noinline)) ~Call() { thread().depth--; }

    Call(const Call&) = delete;

    // A fault, or a context that an earlier error ended: the call is not made.
    bool refused() const { return refusal_ != cudaSuccess; }
    bool injected() const { return injected_; }
    cudaError_t refusal() const { return refusal_; }
    cudaError_t refuse() { return done(refusal_); }
    bool outer() const { return outer_; }
    const char* api() const { return api_; }

    __attribute__((noinline)) cudaError_t done(cudaError_t status) {
        ThreadState& t = thread();
        if (outer_ && (simulating() || injected_)) {
            if (status != cudaSuccess && status != cudaErrorNotReady) t.last = status;
            if (is_sticky(status)) runtime().sticky = status;
        }
        if (outer_ && (!told_ || status != cudaSuccess)) {
            Record record = make(CALL);
            record.status = int(status);
            if (status == cudaErrorMemoryAllocation) tell_asked(record);
            write(record, "", asked_for_);
        }
        return status;
    }

    // More is taken to be in order by it than CUDA promises.
    void assume_order() { order_assumed_ = simulating(); }

    // What it is to acquire, for the event of its failure.
    void asks(uint64_t bytes, const char* family) { asked_ = bytes, asked_for_ = family; }

    Record make(Kind kind) {
        Record record{};
        record.kind = kind;
        record.thread = thread_number();
        record.call = kind == VIOLATION || kind == NOTE || kind == TAINTED_READ ? 0 : uint32_t(number_);
        record.device = uint32_t(thread().device);
        if (injected_) record.flags |= INJECTED;
        if (order_assumed_) record.flags |= ORDER_ASSUMED;
        if (kind != VIOLATION && kind != NOTE && kind != TAINTED_READ) told_ = true;
        return record;
    }

    __attribute__((noinline)) void write(Record record, const std::string& text = "", const char* family = nullptr,
               const LaunchRecord* launch = nullptr) {
        if (!outer_ || !writer().active()) return;
        capture_once();
        std::lock_guard<std::recursive_mutex> guard(writer().mutex);
        note_modules();
        record.stack = writer().stack(stack_.frames, stack_.count);
        record.api = writer().literal(api_);
        record.family = writer().literal(family);
        if (!text.empty()) record.text = writer().string(text);
        writer().event(record, launch);
    }

    void acquired(const char* family, Address address, uint64_t bytes, Address stream = 0,
                  bool asynchronous = false) {
        {
            std::lock_guard<std::recursive_mutex> guard(runtime().mutex);
            if (!simulating()) runtime().destroyed.erase(address);
            if (outer_) runtime().held.emplace(address, family);
        }
        Record record = make(ACQUIRE);
        record.address = address, record.bytes = bytes, record.stream = stream;
        if (asynchronous) record.flags |= ASYNCHRONOUS;
        write(record, "", family);
    }

    void released(const char* family, Address address, uint64_t bytes, Address stream = 0,
                  bool asynchronous = false, cudaError_t status = cudaSuccess) {
        {
            std::lock_guard<std::recursive_mutex> guard(runtime().mutex);
            auto [first, last] = runtime().held.equal_range(address);
            while (first != last && strcmp(first->second, family)) ++first;
            if (first != last) runtime().held.erase(first);
        }
        Record record = make(RELEASE);
        record.address = address, record.bytes = bytes, record.stream = stream;
        record.status = int(status);
        if (asynchronous) record.flags |= ASYNCHRONOUS;
        write(record, "", family);
    }

    void synchronized(Address stream = 0) {
        Record record = make(SYNC);
        record.stream = stream;
        write(record);
    }

    void misuse(Misuse kind, const char* family, Address address, uint64_t bytes,
                const std::string& text) {
        Record record = make(VIOLATION);
        record.detail = kind;
        record.address = address, record.bytes = bytes;
        write(record, text, family);
    }

    // Something to tell, the first time only.
    __attribute__((noinline)) void note(const std::string& text) {
        if (!outer_ || !runtime().noted.insert(text).second) return;
        write(make(NOTE), text);
    }

private:
    // How much was asked for, and what there was: free in all, and the longest free range.
    void tell_asked(Record& record) {
        record.bytes = asked_;
        if (!simulating() || !asked_for_ || strcmp(asked_for_, "device")) return;
        const Space& space = runtime().memory.devices[size_t(thread().device)];
        record.source = space.left(), record.address = space.longest();
    }

    void capture_once() {
        if (captured_) return;
        captured_ = true;
        capture(stack_, frame_);
    }

    void inject() {
        Fault& f = configuration().fault;
        if (!f.set) return;
        if (f.call && f.call != number_ && !(f.always && number_ > f.call)) return;
        if (!f.api.empty() && f.api != api_) return;
        if (f.site) {
            capture_once();
            std::lock_guard<std::recursive_mutex> guard(writer().mutex);
            note_modules();
            bool matches = false;
            for (size_t i = 0; i < stack_.count && !matches; i++) {
                const LoadedModule* m = module_of(stack_.frames[i]);
                if (!m || stack_.frames[i] - m->bias != f.site) continue;
                size_t slash = m->path.rfind('/');
                std::string name = slash == std::string::npos ? m->path : m->path.substr(slash + 1);
                matches = f.module.empty() || f.module == name;
            }
            if (!matches) return;
        }
        uint64_t seen = __atomic_add_fetch(&f.seen, 1, __ATOMIC_RELAXED);
        if (seen != f.nth && !(f.always && seen > f.nth)) return;
        injected_ = true;
        refusal_ = f.status ? cudaError_t(f.status) : usual_failure(api_);
    }

    const char* api_;
    void* frame_;
    std::unique_lock<std::recursive_mutex> lock_;
    Stack stack_;
    uint64_t number_ = 0, asked_ = 0;
    const char* asked_for_ = nullptr;
    cudaError_t refusal_ = cudaSuccess;
    bool outer_ = false, captured_ = false, injected_ = false, told_ = false, order_assumed_ = false;
};

// Begins an entry point: notes the call, and leaves when it is refused.
#define CALL_ENTRY(name)                                   \
    ledger::Call call(#name, __builtin_frame_address(0));  \
    if (call.refused()) return call.refuse()

// The same for what forwards as it is over a real runtime.
#define CALL_FORWARD(name, ...)                            \
    CALL_ENTRY(name);                                      \
    if (!ledger::simulating()) return call.done(REAL(name)(__VA_ARGS__))

template <class T>
Address address_of(T value) {
    return Address(value);
}

inline std::string size_text(uint64_t bytes) {
    return std::to_string(bytes) + (bytes == 1 ? " byte" : " bytes");
}

}  // namespace ledger

using ledger::Address;
using ledger::Call;
using ledger::Handle;
using ledger::runtime;
using ledger::simulating;
using ledger::thread;
