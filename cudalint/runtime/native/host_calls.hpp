// Calls of the host's own (host.cpp), where a fault may be meant for one of them: a way out may
// depend on these. Only what the program's own code asks for counts.
#pragma once

namespace ledger {

bool watching_host = false;  // Set when the ledger has begun.
__attribute__((tls_model("initial-exec"))) static thread_local bool in_host_call = false;

// Whether an address lies in the program's own code: neither in the system's libraries nor in ours.
inline bool is_own_code(Address address) {
    std::lock_guard<std::recursive_mutex> guard(writer().mutex);
    note_modules();
    const LoadedModule* module = module_of(address);
    if (!module || module->path.find("libcudalint_") != std::string::npos) return false;
    const std::string& path = module->path;
    bool system = path.compare(0, 5, "/usr/") == 0 || path.compare(0, 4, "/lib") == 0;
    return !system || path.find(".so") == std::string::npos;
}

// Notes the call, and whether it is to fail.
__attribute__((noinline)) inline bool host_call_fails(const char* name, void* frame) {
    if (in_host_call || !writer().active()) return false;
    in_host_call = true;
    bool fails = false;
    if (thread().depth == 0 && is_own_code(((Address*)frame)[1])) {
        Call call(name, frame, Needs::Nothing);
        fails = call.injected();
        Record record = call.make(CALL);
        record.status = fails ? int(cudaErrorMemoryAllocation) : 0;
        call.write(record);
    }
    in_host_call = false;
    return fails;
}

}  // namespace ledger

extern "C" EXPORT bool cudalint_host_call_fails(const char* name, void* frame) {
    return ledger::watching_host && ledger::host_call_fails(name, frame);
}
