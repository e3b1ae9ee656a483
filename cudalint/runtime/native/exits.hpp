// Where the program ended itself by exit(): its stack says which functions were never left.
#pragma once

namespace ledger {

__attribute__((noinline)) inline void note_exit(void* frame) {
    if (!writer().active()) return;
    std::lock_guard<std::recursive_mutex> guard(writer().mutex);
    Stack stack;
    capture(stack, frame);
    note_modules();
    Record record{};
    record.kind = NOTE;
    record.thread = thread_number();
    record.stack = writer().stack(stack.frames, stack.count);
    record.api = writer().literal("exit");
    record.text = writer().string("the program calls exit");
    writer().event(record);
}

}  // namespace ledger

// `return` from main does not come by here.
extern "C" EXPORT __attribute__((noreturn)) void exit(int status) {
    ledger::note_exit(__builtin_frame_address(0));
    auto real = (void (*)(int))dlsym(RTLD_NEXT, "exit");
    real(status);
    __builtin_unreachable();
}
