// Copies into pinned memory that the host has not waited for. Until it does, their pages cannot be
// read: the host's first look is a fault, which `on_fault` takes for a read that comes too early.
#pragma once

namespace ledger {

class Pending {
public:
    struct Copy {
        Address low, high;    // What it writes.
        Address first, last;  // The pages that nothing else lies in.
        Work work;
    };

    void add(Memory& memory, const Allocation& a, Address at, uint64_t bytes, const Work& work) {
        if (copies_.size() >= most || !memory.in_host_range(a.start) || !a.ours) return;
        Copy copy{at, at + bytes, memory.host.up(at), memory.host.down(at + bytes), work};
        // Behind an allocation there is nothing up to the next page.
        if (copy.high == a.start + a.bytes) copy.last = memory.host.up(copy.high);
        if (copy.first >= copy.last) return;
        if (++added_ > all_of && added_ % one_of) return;
        copies_.push_back(copy);
        if (!a.guarded) memory.protect(copy.first, copy.last, PROT_NONE);
    }

    // Lets go of what the host has waited for.
    void settle(const Order& order, Memory& memory) {
        if (copies_.empty()) return;
        size_t kept = 0;
        Address first = ~Address(0), last = 0;  // What is open now.
        for (const Copy& copy : copies_) {
            if (!order.before_host(copy.work)) {
                copies_[kept++] = copy;
                continue;
            }
            open(memory, copy);
            first = std::min(first, copy.first), last = std::max(last, copy.last);
        }
        copies_.resize(kept);
        // A page may be another copy's as well.
        for (const Copy& copy : copies_) {
            if (copy.first >= last || copy.last <= first) continue;
            Allocation* a = memory.find(copy.low);
            if (a && !a->guarded) memory.protect(copy.first, copy.last, PROT_NONE);
        }
    }

    // The copy whose pages an address is in, which it lets go of; false where there is none.
    bool take(Address at, Memory& memory, Copy& taken) {
        for (size_t i = copies_.size(); i-- > 0;) {
            if (at < copies_[i].first || at >= copies_[i].last) continue;
            taken = copies_[i];
            copies_.erase(copies_.begin() + long(i));
            open(memory, taken);
            return true;
        }
        return false;
    }

private:
    static constexpr size_t most = 1024;
    // To protect pages costs more than the copy of a few: of very many copies some are enough.
    static constexpr uint64_t all_of = 4096, one_of = 16;

    void open(Memory& memory, const Copy& copy) {
        Allocation* a = memory.find(copy.low);
        if (a && !a->guarded) memory.protect(copy.first, copy.last, PROT_READ | PROT_WRITE);
    }

    std::vector<Copy> copies_;
    uint64_t added_ = 0;
};

}  // namespace ledger
