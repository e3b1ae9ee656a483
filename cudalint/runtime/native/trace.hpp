// Writes the trace file (its format: cudalint/runtime/trace.py) through shared memory, so that a
// process that is killed leaves what it wrote.
#pragma once

namespace ledger {

enum Kind : uint8_t {
    ACQUIRE = 1, RELEASE, COPY, FILL, LAUNCH, SYNC, CALL, VIOLATION, LIBRARY, NOTE, TAINTED_READ,
    RESET, END, KEPT, STRING = 100, STACK, MODULE
};

enum Misuse : uint16_t {
    DOUBLE_FREE = 1, USE_AFTER_FREE, OUT_OF_BOUNDS, INVALID_POINTER, WRONG_DEALLOCATOR,
    LAUNCH_REFUSED, COPY_DIRECTION, HOST_DEREFERENCE, FILL_VALUE, MISSING_SHARED, INVALID_HANDLE,
    STREAM_ORDER, UNSYNCHRONIZED_READ
};

enum Flags : uint8_t { INJECTED = 1, ASYNCHRONOUS = 2, ORDER_ASSUMED = 4 };

#pragma pack(push, 1)
struct Record {
    uint32_t size;
    uint8_t kind;
    uint8_t flags;
    uint16_t detail;
    uint64_t sequence;
    int64_t time;
    uint64_t address, bytes, source, stream;
    uint32_t thread, stack, api, family, text;
    int32_t status;
    uint32_t call, device;
};

struct LaunchRecord {
    uint32_t grid[3], block[3];
    int32_t static_shared;
    uint32_t dynamic_shared;
};

struct Header {
    char magic[8];
    uint32_t version, process;
    uint64_t memory, used;
    uint32_t mode;
    char rest[28];
};
#pragma pack(pop)

static_assert(sizeof(Record) == 88 && sizeof(LaunchRecord) == 32 && sizeof(Header) == 64, "");

class Writer {
public:
    std::recursive_mutex mutex;

    void open(bool child) {
        const char* path = getenv("CUDALINT_TRACE");
        if (base_) munmap(base_, limit_);
        base_ = nullptr;
        strings_.clear(), literals_.clear(), stacks_.clear();
        sequence_ = 0;
        generation++;
        start_ = nanoseconds();
        if (!path || !*path) return;
        const char* limit = getenv("CUDALINT_TRACE_LIMIT");
        limit_ = limit ? strtoull(limit, nullptr, 0) : 1ull << 30;
        limit_ = std::max<uint64_t>(limit_, 2 * chunk) / chunk * chunk;
        std::string name = std::string(path) + "." + std::to_string(getpid());
        // A process that executes another program keeps its number: the trace goes on in a new file.
        int file = -1;
        for (int attempt = 0; attempt < 1000 && file < 0; attempt++) {
            std::string numbered = attempt ? name + "." + std::to_string(attempt) : name;
            file = ::open(numbered.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
            if (file < 0 && errno != EEXIST) break;
        }
        if (file < 0) {
            if (!child) dprintf(2, "cudalint ledger: cannot write %s: %s\n", path, strerror(errno));
            return;
        }
        reserved_ = 0;
        file_ = file;
        void* base = ftruncate(file, off_t(limit_)) ? MAP_FAILED
                     : mmap(nullptr, limit_, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
        if (base == MAP_FAILED) {
            dprintf(2, "cudalint ledger: cannot map the trace: %s\n", strerror(errno));
            ::close(file);
            return;
        }
        base_ = (char*)base;
        used_ = sizeof(Header);
        if (!reserve(used_)) return;
        Header* header = (Header*)base_;
        memcpy(header->magic, "CUDALTRC", 8);
        header->version = 1;
        header->process = uint32_t(getpid());
        header->memory = simulating() ? configuration().profile.memory : 0;
        header->mode = simulating() ? 2 : 1;
        note_job();
    }

    void close() {
        std::lock_guard<std::recursive_mutex> guard(mutex);
        if (!base_) return;
        ((Header*)base_)->used = used_;
        msync(base_, sizeof(Header), MS_ASYNC);
        if (ftruncate(file_, off_t(used_))) { /* It stays as long as it is. */ }
        base_ = nullptr;  // Still mapped: another thread may be writing.
    }

    bool active() const { return base_ != nullptr; }
    uint64_t count() const { return sequence_; }

    uint32_t string(const std::string& text) {
        if (text.empty()) return 0;
        auto found = strings_.find(text);
        if (found != strings_.end()) return found->second;
        uint32_t number = uint32_t(strings_.size() + 1);
        strings_[text] = number;
        uint32_t length = uint32_t(std::min<size_t>(text.size(), 65536));
        if (char* at = begin(16 + length, STRING)) {
            memcpy(at + 8, &number, 4);
            memcpy(at + 12, &length, 4);
            memcpy(at + 16, text.data(), length);
            commit(at, 16 + length);
        }
        return number;
    }

    // A string that lives as long as the program, found by its address.
    uint32_t literal(const char* text) {
        if (!text) return 0;
        auto found = literals_.find(text);
        if (found != literals_.end()) return found->second;
        return literals_[text] = string(text);
    }

    uint32_t stack(const Address* frames, size_t count) {
        if (!count) return 0;
        std::vector<Address> key(frames, frames + count);
        auto found = stacks_.find(key);
        if (found != stacks_.end()) return found->second;
        uint32_t number = uint32_t(stacks_.size() + 1), length = uint32_t(count);
        if (char* at = begin(16 + 8 * count, STACK)) {
            memcpy(at + 8, &number, 4);
            memcpy(at + 12, &length, 4);
            memcpy(at + 16, frames, 8 * count);
            commit(at, 16 + 8 * count);
        }
        stacks_.emplace(std::move(key), number);
        return number;
    }

    void module(uint64_t bias, uint64_t start, uint64_t end, const std::string& path) {
        uint32_t name = string(path), zero = 0;
        if (char* at = begin(40, MODULE)) {
            memcpy(at + 8, &bias, 8);
            memcpy(at + 16, &start, 8);
            memcpy(at + 24, &end, 8);
            memcpy(at + 32, &name, 4);
            memcpy(at + 36, &zero, 4);
            commit(at, 40);
        }
    }

    void event(Record record, const LaunchRecord* launch = nullptr) {
        record.sequence = ++sequence_;
        record.time = int64_t(nanoseconds() - start_);
        size_t size = sizeof record + (launch ? sizeof *launch : 0);
        if (char* at = begin(size, record.kind)) {
            memcpy(at + 4, (char*)&record + 4, sizeof record - 4);
            if (launch) memcpy(at + sizeof record, launch, sizeof *launch);
            commit(at, size);
        }
    }

    uint32_t generation = 0;  // Another trace began: what was written to the old one is not here.

private:
    static constexpr uint64_t chunk = 1 << 20;

    struct Hash {
        size_t operator()(const std::vector<Address>& frames) const {
            uint64_t hash = 1469598103934665603ull;
            for (Address frame : frames) hash = (hash ^ frame) * 1099511628211ull;
            return hash;
        }
    };

    // Which process of a job this is, as those who started it say.
    void note_job() {
        std::string text;
        for (const char* name : {"RANK", "LOCAL_RANK", "OMPI_COMM_WORLD_RANK",
                                 "OMPI_COMM_WORLD_LOCAL_RANK", "PMI_RANK", "SLURM_PROCID",
                                 "SLURM_LOCALID", "CUDA_VISIBLE_DEVICES"})
            if (const char* value = getenv(name)) text += std::string(name) + "=" + value + ";";
        if (text.empty()) return;
        Record record{};
        record.kind = NOTE;
        record.api = literal("job");
        record.text = string(text);
        event(record);
    }

    // Disk space is taken before it is written to: a full disk would kill the program otherwise.
    bool reserve(uint64_t end) {
        while (reserved_ < end) {
            if (posix_fallocate(file_, off_t(reserved_), off_t(chunk)) != 0) {
                base_ = nullptr;
                return false;
            }
            reserved_ += chunk;
        }
        return true;
    }

    char* begin(size_t size, uint8_t kind) {
        size = (size + 7) & ~size_t(7);
        if (!base_ || used_ + size + 4096 > limit_ || !reserve(used_ + size)) return nullptr;
        char* at = base_ + used_;
        at[4] = char(kind);
        return at;
    }

    void commit(char* at, size_t size) {
        size = (size + 7) & ~size_t(7);
        used_ += size;
        __atomic_store_n((uint32_t*)at, uint32_t(size), __ATOMIC_RELEASE);
    }

    char* base_ = nullptr;
    int file_ = -1;
    uint64_t limit_ = 0, used_ = 0, reserved_ = 0, sequence_ = 0, start_ = 0;
    std::unordered_map<std::string, uint32_t> strings_;
    std::unordered_map<const void*, uint32_t> literals_;
    std::unordered_map<std::vector<Address>, uint32_t, Hash> stacks_;
};

inline Writer& writer() {
    static Writer* w = new Writer;
    return *w;
}

inline uint32_t thread_number() {
    static uint32_t next = 0;
    static thread_local uint32_t number = __atomic_fetch_add(&next, 1, __ATOMIC_RELAXED);
    return number;
}

}  // namespace ledger
