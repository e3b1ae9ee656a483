// Where the program ended itself by exit(): its stack says which functions were never left.
#pragma once

namespace ledger {

inline void note_ending(const char* how, const Stack& stack) {
    if (!writer().active()) return;
    std::lock_guard<std::recursive_mutex> guard(writer().mutex);
    note_modules();
    Record record{};
    record.kind = NOTE;
    record.thread = thread_number();
    record.stack = writer().stack(stack.frames, stack.count);
    record.api = writer().literal(how);
    record.text = writer().string(std::string("the program calls ") + how);
    writer().event(record);
}

struct sigaction previous_abort;

// Also what a failed assertion comes to, and an exception that cannot be caught.
inline void on_abort(int signal, siginfo_t*, void*) {
    Stack stack;
    Unwinding all{&stack, 0, true};
    _Unwind_Backtrace(unwind_one, &all);
    note_ending("abort", stack);
    sigaction(signal, &previous_abort, nullptr);
    raise(signal);
}

__attribute__((constructor(102))) void watch_aborts() {
    if (!simulating()) return;
    struct sigaction action{};
    action.sa_sigaction = on_abort;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    sigemptyset(&action.sa_mask);
    sigaction(SIGABRT, &action, &previous_abort);
}

}  // namespace ledger

// `return` from main does not come by here.
extern "C" EXPORT __attribute__((noreturn)) void exit(int status) {
    ledger::Stack stack;
    ledger::capture(stack, __builtin_frame_address(0));
    ledger::note_ending("exit", stack);
    ledger::note_kept();
    auto real = (void (*)(int))dlsym(RTLD_NEXT, "exit");
    real(status);
    __builtin_unreachable();
}

// How many events there are: a caller that knows its own stack (Python) says which are its own.
extern "C" EXPORT unsigned long long cudalint_sequence() { return ledger::writer().count(); }

// Another program's memory (a script's) leads to this address at the end.
extern "C" EXPORT void cudalint_keep(uintptr_t address) {
    std::lock_guard<std::recursive_mutex> guard(runtime().mutex);
    auto [first, last] = runtime().held.equal_range(address);
    for (; first != last; ++first) ledger::note_kept(address, first->second);
}

// How many calls came through here: the injection is silent where the ledger sees them.
extern "C" EXPORT unsigned long long cudalint_calls() { return ledger::runtime().calls; }
