// What is allocated, what was, and (simulated) where its bytes are.
//
// Device addresses are only reserved, so that the host crashes on them as on a real device; the
// bytes are in a second mapping, at a fixed distance. Memory that the host may read (pinned,
// managed) lies in its own range, at its own addresses. Behind the devices lie the addresses that are
// handed out apart from memory: reserved, shared with others, of graphs.
#pragma once

namespace ledger {

struct Allocation {
    Address start = 0;
    uint64_t bytes = 0;
    const char* family = "device";
    int device = 0;
    Address pool = 0;      // Of a memory pool, its handle.
    Ranges tainted;        // By offset: what a kernel may have written.
    uint64_t touched = 0;  // How much of it takes host memory, from the start.
    bool unbacked = false; // Too large to keep its bytes.
    const void* symbol = nullptr;
    bool guarded = false;  // Read-protected until the host looks at what a kernel may have written.
    bool ours = true;      // Its bytes are in our mappings (not registered or mapped host memory).
    const char* barred = nullptr;   // Why nothing may use it, although nobody has released it.
    std::shared_ptr<void> backing;  // Whose memory it is, where that is apart from its addresses.
    // Of a memory pool: what its release must come after.
    Work made, used_by_default;  // The default stream's, so that one stream alone needs no list.
    std::vector<Work> used;      // The last of each other timeline.

    void note_use(const Work& use) {
        if (use.timeline == Order::legacy) {
            used_by_default = use;
            return;
        }
        for (Work& one : used)
            if (one.timeline == use.timeline) {
                one = use;
                return;
            }
        used.push_back(use);
    }

    template <class Test>
    const Work* find_use(Test test) const {
        if (test(used_by_default)) return &used_by_default;
        for (const Work& one : used)
            if (test(one)) return &one;
        return nullptr;
    }
};

struct Gone {
    uint64_t bytes;
    const char* family;
};

class Memory {
public:
    std::map<Address, Allocation> live;
    std::map<Address, Gone> gone;
    std::vector<Space> devices;
    Space host, ranges;
    uint64_t touched = 0;
    static constexpr uint64_t large_page = 2 << 20;  // What physical memory is made and mapped by.

    void prepare() {
        const Profile& profile = configuration().profile;
        uint64_t size = (profile.memory + page - 1) / page * page;
        uint64_t devices_end = size * uint64_t(profile.count), all = devices_end + ranges_size;
        void* reserved = mmap(nullptr, all, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        void* bytes = mmap(nullptr, all, PROT_READ | PROT_WRITE,
                           MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        void* seen = mmap(nullptr, host_size, PROT_NONE,
                          MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (reserved == MAP_FAILED || bytes == MAP_FAILED || seen == MAP_FAILED)
            die("cannot reserve address space for a device of %llu bytes: %s",
                (unsigned long long)profile.memory, strerror(errno));
        base_ = Address(reserved), all_ = all;
        distance_ = Address(bytes) - base_;
        for (int i = 0; i < profile.count; i++)
            devices.emplace_back(base_ + size * uint64_t(i), profile.memory / 512 * 512, 512);
        host = Space(Address(seen), host_size, page);
        ranges = Space(base_ + devices_end, ranges_size, large_page);
    }

    bool in_device_range(Address a) const { return a - base_ < all_ && base_; }
    bool in_host_range(Address a) const { return host.contains(a); }

    // Where the host finds the byte of a device address.
    char* bytes_at(Address a) const { return (char*)(in_device_range(a) ? a + distance_ : a); }

    Allocation* find(Address a) {
        auto it = live.upper_bound(a);
        if (it == live.begin()) return nullptr;
        --it;
        Allocation& found = it->second;
        return a - found.start < std::max<uint64_t>(found.bytes, 1) ? &found : nullptr;
    }

    // The allocation that ended at or before this address, for messages.
    Allocation* before(Address a) {
        auto it = live.upper_bound(a);
        return it == live.begin() ? nullptr : &std::prev(it)->second;
    }

    const std::pair<const Address, Gone>* find_gone(Address a) {
        auto it = gone.upper_bound(a);
        if (it == gone.begin()) return nullptr;
        --it;
        return a - it->first < std::max<uint64_t>(it->second.bytes, 1) ? &*it : nullptr;
    }

    Allocation& add(Address start, uint64_t bytes, const char* family, int device) {
        auto it = gone.lower_bound(start);
        if (it != gone.begin() && std::prev(it)->first + std::prev(it)->second.bytes > start) --it;
        while (it != gone.end() && it->first < start + std::max<uint64_t>(bytes, 1))
            it = gone.erase(it);
        Allocation& a = live[start];
        a = Allocation{};
        a.start = start, a.bytes = bytes, a.family = family, a.device = device;
        return a;
    }

    void remove(Address start) {
        auto it = live.find(start);
        if (it == live.end()) return;
        gone[start] = {it->second.bytes, it->second.family};
        live.erase(it);
    }

    // Device memory of the simulated device; 0 when there is none left.
    Address take_device(uint64_t bytes, int device) { return devices[size_t(device)].take(bytes); }

    void give_device(const Allocation& a) {
        forget_bytes(a);
        if (a.backing) return;
        Space& space = ranges.contains(a.start) ? ranges : devices[size_t(a.device)];
        space.give(a.start, a.bytes);
    }

    // The same bytes at another address as well; they must lie at whole pages.
    bool map(Address at, Address from, uint64_t bytes) {
        // A length of 0 copies a shared mapping and leaves the old one.
        return mremap(bytes_at(from), 0, bytes, MREMAP_MAYMOVE | MREMAP_FIXED, bytes_at(at)) !=
               MAP_FAILED;
    }

    void unmap(Address at, uint64_t bytes) {
        mmap(bytes_at(at), bytes, PROT_READ | PROT_WRITE,
             MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
    }

    Address take_host(uint64_t bytes) {
        Address a = host.take(bytes);
        if (a) mprotect((void*)a, host.round(bytes), PROT_READ | PROT_WRITE);
        return a;
    }

    // Makes the host's next look at it a fault, which `on_fault` takes for a tainted read.
    void guard(Allocation& a) {
        if (a.guarded || !in_host_range(a.start)) return;
        a.guarded = mprotect((void*)a.start, host.round(a.bytes), PROT_NONE) == 0;
    }

    void unguard(Allocation& a) {
        if (a.guarded) mprotect((void*)a.start, host.round(a.bytes), PROT_READ | PROT_WRITE);
        a.guarded = false;
    }

    void unguard_page(Address at) {
        mprotect((void*)(at / page * page), page, PROT_READ | PROT_WRITE);
    }

    void protect(Address low, Address high, int access) { mprotect((void*)low, high - low, access); }

    void give_host(const Allocation& a) {
        madvise((void*)a.start, host.round(a.bytes), MADV_REMOVE);
        // Whoever still uses it crashes, as he may on a real machine.
        mprotect((void*)a.start, host.round(a.bytes), PROT_NONE);
        host.give(a.start, a.bytes);
    }

    void forget_bytes(const Allocation& a) {
        touched -= std::min(touched, a.touched);
        if (a.touched >= (1 << 16)) {
            Address low = (Address(bytes_at(a.start)) + page - 1) / page * page;
            Address high = (Address(bytes_at(a.start)) + a.touched) / page * page;
            if (low < high) madvise((void*)low, high - low, MADV_REMOVE);
        }
    }

    // Whether bytes up to `end` of it may be written: host memory is not endless.
    bool back(Allocation& a, uint64_t end) {
        if (!in_device_range(a.start)) return true;
        if (a.unbacked) return false;
        if (end <= a.touched) return true;
        if (touched + (end - a.touched) > configuration().backing) {
            a.unbacked = true;
            return false;
        }
        touched += end - a.touched;
        a.touched = end;
        return true;
    }

private:
    static constexpr uint64_t page = 4096;
    static constexpr uint64_t host_size = 64ull << 30, ranges_size = 1ull << 40;
    Address base_ = 0, distance_ = 0;
    uint64_t all_ = 0;
};

}  // namespace ledger
