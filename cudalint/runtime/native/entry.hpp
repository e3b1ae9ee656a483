// The program's `main`, called by us: an exception that nobody catches is caught here, so that the
// stack is unwound and destructors run, as they need not where the library ends the process.
#pragma once

#include <cxxabi.h>
#include <exception>

namespace ledger {

using Main = int (*)(int, char**, char**);
using StartMain = int (*)(Main, int, char**, void (*)(), void (*)(), void (*)(), void*);

Main program_main;
bool uncaught = false;  // Whether an exception left `main`: the process ends by SIGABRT after all.

inline void end_uncaught(const char* what) {
    const std::type_info* type = abi::__cxa_current_exception_type();
    int status = 0;
    char* name = type ? abi::__cxa_demangle(type->name(), nullptr, nullptr, &status) : nullptr;
    std::string text = name ? name : type ? type->name() : "something";
    dprintf(2, "terminate called after throwing an instance of '%s'\n", text.c_str());
    if (what) dprintf(2, "  what():  %s\n", what);
    Record record{};
    record.kind = NOTE;
    record.thread = thread_number();
    {
        std::lock_guard<std::recursive_mutex> guard(writer().mutex);
        record.api = writer().literal("uncaught");
        record.text = writer().string(text);
        writer().event(record);
    }
    uncaught = true;
    note_kept();
    ((void (*)(int))dlsym(RTLD_NEXT, "exit"))(128 + SIGABRT);
}

inline int guarded_main(int count, char** arguments, char** environment) {
    std::terminate_handler usual = std::get_terminate();
    try {
        int status = program_main(count, arguments, environment);
        note_kept();
        return status;
    } catch (abi::__forced_unwind&) {
        throw;  // pthread_exit
    } catch (const std::exception& error) {
        if (std::get_terminate() != usual) std::terminate();
        end_uncaught(error.what());
    } catch (...) {
        if (std::get_terminate() != usual) std::terminate();
        end_uncaught(nullptr);
    }
    return 128 + SIGABRT;
}

}  // namespace ledger

#if defined(__GLIBC__)
extern "C" EXPORT int __libc_start_main(ledger::Main main, int count, char** arguments,
                                        void (*begin)(), void (*end)(), void (*loader)(), void* stack) {
    ledger::program_main = main;
    auto real = (ledger::StartMain)dlsym(RTLD_NEXT, "__libc_start_main");
    return real(ledger::guarded_main, count, arguments, begin, end, loader, stack);
}
#endif
