// What the program's own memory still points at when it ends: that is kept, not lost. Conservative,
// as LeakSanitizer is: any word that holds the address, or one inside the block, is a pointer to it.
//
// Roots: the writable data of the executable and of every library but the C library, CUDA's and our
// own, the thread-locals of the thread that ends the program, and (simulated) the variables of the
// device. From there through blocks of the
// host's heap (glibc's) and through what CUDA's own blocks hold.
#pragma once

namespace ledger {

class Reach {
public:
    // The addresses of held resources that can be reached.
    std::set<Address> find() {
        for (const auto& [address, held] : runtime().held) {
            const Allocation* block = runtime().memory.find(address);
            targets_.push_back({address, block && block->start == address ? block->bytes : 1});
        }
        std::sort(targets_.begin(), targets_.end());
        read_maps();
        walk_heap();
        dl_iterate_phdr([](dl_phdr_info* info, size_t, void* data) {
            return ((Reach*)data)->add_roots(info), 0;
        }, this);
        for (const auto& [symbol, variable] : runtime().program.variables)
            if (variable.address) look_into(variable.address);
        while (!pending_.empty() && scanned_ < most_scanned) {
            auto [low, high] = pending_.back();
            pending_.pop_back();
            scanned_ += high - low;
            for (Address at = (low + 7) & ~Address(7); at + 8 <= high; at += 8) look(*(Address*)at);
        }
        return std::move(found_);
    }

private:
    using Range = std::pair<Address, Address>;
    static constexpr uint64_t most_scanned = 512ull << 20;
    static constexpr Address flags = 7, mapped = 2, other_arena = 4, page = 4096;

    void read_maps() {
        FILE* file = fopen("/proc/self/maps", "re");
        if (!file) return;
        char line[4600];
        while (fgets(line, sizeof line, file)) {
            unsigned long long low, high;
            char access[8] = "", name[4200] = "";
            unsigned long long inode;
            if (sscanf(line, "%llx-%llx %7s %*s %*s %llu %4199s", &low, &high, access, &inode, name) < 4)
                continue;
            if (access[0] != 'r' || access[1] != 'w' || access[3] != 'p' || inode) continue;
            if (!strcmp(name, "[heap]")) heap_ = {Address(low), Address(high)};
            else if (!name[0]) anonymous_.push_back({Address(low), Address(high)});
        }
        fclose(file);
    }

    // The chunks of the main heap lie one behind the other, each with its size before it.
    void walk_heap() {
        for (Address at = heap_.first; at + 32 <= heap_.second;) {
            Address size = ((Address*)at)[1] & ~flags;
            if (size < 32 || size % 16 || size > heap_.second - at) break;
            chunks_.push_back(at);
            at += size;
        }
    }

    // The block of the host's heap that an address lies in; empty where none is known.
    Range block_of(Address value) const {
        if (value >= heap_.first && value < heap_.second) {
            auto after = std::upper_bound(chunks_.begin(), chunks_.end(), value - 16);
            if (after == chunks_.begin()) return {0, 0};
            Address at = *std::prev(after), end = at + (((Address*)at)[1] & ~flags);
            return value < end ? Range{at + 16, end} : Range{0, 0};
        }
        auto after = std::upper_bound(anonymous_.begin(), anonymous_.end(), Range{value, ~Address(0)});
        if (after == anonymous_.begin()) return {0, 0};
        Range in = *std::prev(after);
        if (value >= in.second) return {0, 0};
        // A block that has a mapping of its own.
        Address start = value & ~(page - 1), size = start >= in.first ? ((Address*)start)[1] : 0;
        if (value - start >= 16 && (size & flags) == mapped && (size & ~flags) % page == 0 &&
            (size & ~flags) >= page && (size & ~flags) <= in.second - start)
            return {start + 16, start + (size & ~flags)};
        // A block of another thread's arena, by its beginning.
        if (value % 16 || value < in.first + 16) return {0, 0};
        size = ((Address*)value)[-1];
        bool likely = (size & other_arena) && !(size & mapped) && (size & ~flags) % 16 == 0 &&
                      (size & ~flags) >= 32 && (size & ~flags) <= in.second - (value - 16);
        return likely ? Range{value, value - 16 + (size & ~flags)} : Range{0, 0};
    }

    void look(Address value) {
        if (value < page) return;
        auto after = std::upper_bound(targets_.begin(), targets_.end(), Range{value, ~Address(0)});
        if (after != targets_.begin()) {
            auto [start, bytes] = *std::prev(after);
            if (value - start < std::max<uint64_t>(bytes, 1) && found_.insert(start).second)
                look_into(start);
        }
        if (is_handle(value)) return;
        Range block = block_of(value);
        if (block.second && seen_.insert(block.first).second) pending_.push_back(block);
    }

    // What a handle of the real runtime leads to is the runtime's own: its tables hold every pointer
    // that it gave out.
    static bool is_handle(Address value) {
        if (simulating()) return false;
        const Program& program = runtime().program;
        return program.binaries.count((void*)value) || program.handles.count((void*)value) ||
               runtime().held.count(value);
    }

    // Structures of pointers are copied to the device, or lie in pinned memory.
    void look_into(Address start) {
        Memory& memory = runtime().memory;
        Allocation* block = memory.find(start);
        if (!block || !simulating()) return;
        if (memory.in_device_range(start)) {
            Address bytes = Address(memory.bytes_at(start));
            pending_.push_back({bytes, bytes + std::min(block->touched, block->bytes)});
        } else if (memory.in_host_range(start) && block->ours) {
            memory.unguard(*block);
            pending_.push_back({start, start + block->bytes});
        }
    }

    static bool is_root(const dl_phdr_info* info) {
        Address own = Address(&configuration);
        for (int i = 0; i < info->dlpi_phnum; i++) {
            const ElfW(Phdr)& part = info->dlpi_phdr[i];
            if (part.p_type == PT_LOAD && own - (info->dlpi_addr + part.p_vaddr) < part.p_memsz)
                return false;
        }
        const char* slash = strrchr(info->dlpi_name ? info->dlpi_name : "", '/');
        const char* name = slash ? slash + 1 : "";
        // Their tables hold every pointer that was given out, and freed blocks.
        for (const char* other : {"libc.so", "libc-", "ld-linux", "libcuda", "libnvidia", "libcupti"})
            if (!strncmp(name, other, strlen(other))) return false;
        return true;
    }

    void add_roots(const dl_phdr_info* info) {
        if (!is_root(info)) return;
        for (int i = 0; i < info->dlpi_phnum; i++) {
            const ElfW(Phdr)& part = info->dlpi_phdr[i];
            Address start = info->dlpi_addr + part.p_vaddr;
            if (part.p_type == PT_LOAD && (part.p_flags & PF_W))
                pending_.push_back({start, start + part.p_memsz});
            if (part.p_type == PT_TLS && info->dlpi_tls_data)
                pending_.push_back({Address(info->dlpi_tls_data), Address(info->dlpi_tls_data) + part.p_memsz});
        }
    }

    std::vector<Range> targets_;  // Start and length.
    std::vector<Range> pending_, anonymous_;
    Range heap_{0, 0};
    std::vector<Address> chunks_;
    std::set<Address> seen_, found_;
    uint64_t scanned_ = 0;
};

inline void note_kept(Address address, const char* family) {
    std::lock_guard<std::recursive_mutex> writing(writer().mutex);
    Record record{};
    record.kind = KEPT;
    record.thread = thread_number();
    record.address = address;
    record.family = writer().literal(family);
    writer().event(record);
}

// Notes what is kept: before static objects are destroyed, which may be what holds it.
inline void note_kept() {
    static bool done = false;
    if (done || !writer().active() || runtime().held.empty()) return;
    done = true;
    std::lock_guard<std::recursive_mutex> guard(runtime().mutex);
    ThreadState& t = thread();
    std::set<Address> kept;
    t.copying = true;
    // Another thread may give memory back while it is looked at: then nothing counts as kept.
    if (sigsetjmp(t.escape, 1) == 0) kept = Reach().find();
    t.copying = false;
    for (const auto& [address, family] : runtime().held)
        if (kept.count(address)) note_kept(address, family);
}

}  // namespace ledger
