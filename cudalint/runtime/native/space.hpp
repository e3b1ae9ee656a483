// An address space that is handed out first-fit, so that fragmentation is real.
#pragma once

namespace ledger {

class Space {
public:
    Space() = default;
    Space(Address base, uint64_t size, uint64_t granule) : base_(base), size_(size), granule_(granule) {
        free_[base] = size;
        left_ = size;
    }

    // 0 where no free range is long enough.
    Address take(uint64_t bytes, uint64_t alignment = 0) {
        uint64_t size = round(bytes);
        alignment = std::max(alignment, granule_);
        if (size < bytes) return 0;
        for (auto it = free_.begin(); it != free_.end(); ++it) {
            Address start = (it->first + alignment - 1) / alignment * alignment;
            Address end = it->first + it->second;
            if (start > end || end - start < size) continue;
            Address first = it->first;
            free_.erase(it);
            if (start > first) free_[first] = start - first;
            if (start + size < end) free_[start + size] = end - start - size;
            left_ -= size;
            return start;
        }
        return 0;
    }

    void give(Address start, uint64_t bytes) {
        uint64_t size = round(bytes);
        left_ += size;
        auto next = free_.lower_bound(start);
        if (next != free_.begin()) {
            auto previous = std::prev(next);
            if (previous->first + previous->second == start) {
                start = previous->first;
                size += previous->second;
                free_.erase(previous);
            }
        }
        if (next != free_.end() && start + size == next->first) {
            size += next->second;
            free_.erase(next);
        }
        free_[start] = size;
    }

    uint64_t round(uint64_t bytes) const {
        return (std::max<uint64_t>(bytes, 1) + granule_ - 1) / granule_ * granule_;
    }
    Address up(Address address) const { return (address + granule_ - 1) / granule_ * granule_; }
    Address down(Address address) const { return address / granule_ * granule_; }
    bool contains(Address address) const { return address >= base_ && address - base_ < size_; }
    uint64_t left() const { return left_; }
    uint64_t longest() const {
        uint64_t most = 0;
        for (auto& part : free_) most = std::max(most, part.second);
        return most;
    }
    uint64_t size() const { return size_; }
    Address base() const { return base_; }

private:
    Address base_ = 0;
    uint64_t size_ = 0, granule_ = 512, left_ = 0;
    std::map<Address, uint64_t> free_;
};

// Ranges of bytes, for what a kernel may have written.
class Ranges {
public:
    void add(uint64_t low, uint64_t high) {
        if (low >= high) return;
        remove(low, high);
        parts_[low] = high;
    }
    void remove(uint64_t low, uint64_t high) {
        if (low >= high) return;
        auto it = parts_.upper_bound(low);
        if (it != parts_.begin()) --it;
        while (it != parts_.end() && it->first < high) {
            uint64_t first = it->first, last = it->second;
            if (last <= low) {
                ++it;
                continue;
            }
            it = parts_.erase(it);
            if (first < low) parts_[first] = low;
            if (last > high) it = parts_.emplace(high, last).first;
        }
    }
    bool overlaps(uint64_t low, uint64_t high) const {
        auto it = parts_.upper_bound(low);
        if (it != parts_.begin() && std::prev(it)->second > low) return low < high;
        return it != parts_.end() && it->first < high;
    }
    bool empty() const { return parts_.empty(); }
    const std::map<uint64_t, uint64_t>& parts() const { return parts_; }

private:
    std::map<uint64_t, uint64_t> parts_;
};

}  // namespace ledger
