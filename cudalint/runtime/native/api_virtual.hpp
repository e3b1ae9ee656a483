// Virtual memory management (CUDA Driver API, "Virtual Memory Management"): physical memory behind
// handles, addresses that are reserved apart from it, and what of it is mapped where.
#pragma once

namespace ledger {

// "The memory allocation will be freed when all outstanding mappings to the memory are unmapped and
// when all outstanding references to the handle are also released" (cuMemRelease).
struct Physical {
    Address start;
    uint64_t bytes;
    CUmemAllocationProp properties;
    bool tainted = false;

    ~Physical() {
        Memory& memory = runtime().memory;
        madvise(memory.bytes_at(start), bytes, MADV_REMOVE);
        memory.devices[size_t(properties.location.id)].give(start, bytes);
    }
};

struct PhysicalHandle {
    std::shared_ptr<Physical> memory;
    int references = 1;  // By cuMemCreate or an import, and by cuMemRetainAllocationHandle.
};

struct Mapping {
    uint64_t bytes;
    Address handle;
    std::shared_ptr<Physical> memory;
    std::map<int, CUmemAccess_flags> access;  // By device.
    bool refused = false;                     // A call that was to unmap it was made to fail.

    bool usable() const {
        return std::any_of(access.begin(), access.end(), [](auto& one) { return one.second != 0; });
    }
};

using Mappings = std::map<Address, Mapping>;

struct Reservation {
    uint64_t bytes;
    Mappings mappings;
};

inline bool whole_pages(uint64_t value) { return value && value % Memory::large_page == 0; }

// The reservation that a range lies in: "cuMemMap can only create mappings on VA range reservations".
inline Reservation* reservation_of(Address at, uint64_t bytes, Address* start) {
    auto after = runtime().handles.upper_bound(at);
    if (after == runtime().handles.begin()) return nullptr;
    auto& [address, handle] = *std::prev(after);
    if (strcmp(handle.family, "address-range")) return nullptr;
    auto* reserved = (Reservation*)handle.content.get();
    uint64_t offset = at - address;
    if (offset > reserved->bytes || bytes > reserved->bytes - offset) return nullptr;
    *start = address;
    return reserved;
}

// The mappings that fill a range, from end to end; nothing where it has gaps or cuts one.
inline std::pair<Mappings::iterator, Mappings::iterator> mapped(Reservation& r, Address at, uint64_t bytes) {
    auto first = r.mappings.find(at), last = first;
    Address end = at;
    while (last != r.mappings.end() && last->first == end && end < at + bytes)
        end += last++->second.bytes;
    if (end != at + bytes) last = first;
    return {first, last};
}

// What a program can use of a reservation: mappings side by side are one piece.
inline void show(Address start, const Reservation& r) {
    Memory& memory = runtime().memory;
    std::vector<Allocation> before;
    auto old = memory.live.lower_bound(start);
    while (old != memory.live.end() && old->first < start + r.bytes) {
        memory.touched -= std::min(memory.touched, old->second.touched);
        before.push_back(std::move(old->second));
        old = memory.live.erase(old);
    }
    Allocation* piece = nullptr;
    for (const auto& [at, mapping] : r.mappings) {
        bool usable = mapping.usable();
        if (piece && piece->start + piece->bytes == at && !piece->barred == usable) {
            piece->bytes += mapping.bytes;
        } else {
            piece = &memory.add(at, mapping.bytes, "physical-memory", mapping.memory->properties.location.id);
            piece->backing = mapping.memory;
            if (!usable) piece->barred = "is mapped, and cuMemSetAccess gave no access to it";
        }
        if (mapping.memory->tainted) piece->tainted.add(at - piece->start, at - piece->start + mapping.bytes);
    }
    // What was known of the bytes at these addresses.
    for (const Allocation& was : before)
        for (auto now = memory.live.lower_bound(start); now != memory.live.end() && now->first < start + r.bytes; ++now) {
            Allocation& a = now->second;
            Address low = std::max(a.start, was.start), high = std::min(a.start + a.bytes, was.start + was.bytes);
            if (low >= high) continue;
            for (auto [first, last] : was.tainted.parts())
                a.tainted.add(std::max(low, was.start + first) - a.start, std::min(high, was.start + last) - a.start);
            Address touched = std::min(high, was.start + was.touched);
            if (touched <= a.start + a.touched) continue;
            memory.touched += touched - a.start - a.touched;
            a.touched = touched - a.start;
        }
}

inline void unmap(Mappings& mappings, Mappings::iterator at) {
    Memory& memory = runtime().memory;
    auto& [address, mapping] = *at;
    Allocation* piece = memory.find(address);
    uint64_t offset = piece ? address - piece->start : 0;
    mapping.memory->tainted |= piece && piece->tainted.overlaps(offset, offset + mapping.bytes);
    memory.unmap(address, mapping.bytes);
    mappings.erase(at);
}

inline PhysicalHandle* physical_handle(Call& call, CUmemGenericAllocationHandle handle) {
    if (!usable(call, handle, "physical-memory")) return nullptr;
    return (PhysicalHandle*)find_handle(handle, "physical-memory")->content.get();
}

// Memory that is shared with other processes goes by a file; its number on the file system is known.
inline std::map<ino_t, std::weak_ptr<Physical>>& exported() {
    static auto* all = new std::map<ino_t, std::weak_ptr<Physical>>;
    return *all;
}

inline Address new_physical_handle(std::shared_ptr<Physical> memory) {
    Address made = new_handle("physical-memory");
    runtime().handles[made].device = memory->properties.location.id;
    runtime().handles[made].content = std::make_shared<PhysicalHandle>(PhysicalHandle{std::move(memory)});
    return made;
}

inline bool on_device(const CUmemAllocationProp* p) {
    return p && p->type == CU_MEM_ALLOCATION_TYPE_PINNED && p->location.type == CU_MEM_LOCATION_TYPE_DEVICE;
}

}  // namespace ledger

API_CU(cuMemGetAllocationGranularity)(size_t* granularity, const CUmemAllocationProp* properties,
                                      CUmemAllocationGranularity_flags option) {
    CU_FORWARD(cuMemGetAllocationGranularity, granularity, properties, option);
    CU_CHECK(granularity && ledger::on_device(properties), cudaErrorInvalidValue);
    CU_CHECK(!ledger::bad_device(properties->location.id), cudaErrorInvalidDevice);
    *granularity = ledger::Memory::large_page;
    CU_DONE(cudaSuccess);
}

API_CU(cuMemCreate)(CUmemGenericAllocationHandle* handle, size_t bytes,
                    const CUmemAllocationProp* properties, unsigned long long flags) {
    CU_ENTRY(cuMemCreate);
    CU_CHECK(handle && properties, cudaErrorInvalidValue);
    call.asks(bytes, "device");
    if (!simulating()) {
        cudaError_t status = CU_REAL(cuMemCreate, (handle, bytes, properties, flags))();
        if (status == cudaSuccess) call.acquired("physical-memory", *handle, bytes);
        CU_DONE(status);
    }
    if (!ledger::on_device(properties)) call.note("unsupported: cuMemCreate of memory of the host");
    CU_CHECK(ledger::on_device(properties), cudaErrorNotSupported);
    CU_CHECK(!flags && ledger::whole_pages(bytes), cudaErrorInvalidValue);
    CU_CHECK(!ledger::bad_device(properties->location.id), cudaErrorInvalidDevice);
    ledger::Space& space = runtime().memory.devices[size_t(properties->location.id)];
    Address start = space.take(bytes, ledger::Memory::large_page);
    if (!start && ledger::trim_pools(properties->location.id))
        start = space.take(bytes, ledger::Memory::large_page);
    CU_CHECK(start, cudaErrorMemoryAllocation);
    std::shared_ptr<ledger::Physical> memory(new ledger::Physical{start, bytes, *properties});
    *handle = ledger::new_physical_handle(std::move(memory));
    call.acquired("physical-memory", *handle, bytes);
    CU_DONE(cudaSuccess);
}

API_CU(cuMemRetainAllocationHandle)(CUmemGenericAllocationHandle* handle, void* pointer) {
    CU_ENTRY(cuMemRetainAllocationHandle);
    CU_CHECK(handle, cudaErrorInvalidValue);
    if (!simulating()) {
        cudaError_t status = CU_REAL(cuMemRetainAllocationHandle, (handle, pointer))();
        if (status == cudaSuccess) call.acquired("physical-memory", *handle, 0);
        CU_DONE(status);
    }
    Address start = 0;
    ledger::Reservation* reserved = ledger::reservation_of(Address(pointer), 1, &start);
    CU_CHECK(reserved, cudaErrorInvalidValue);
    auto after = reserved->mappings.upper_bound(Address(pointer));
    CU_CHECK(after != reserved->mappings.begin(), cudaErrorInvalidValue);
    auto& [at, mapping] = *std::prev(after);
    CU_CHECK(Address(pointer) - at < mapping.bytes, cudaErrorInvalidValue);
    if (Handle* known = ledger::find_handle(mapping.handle, "physical-memory")) {
        ((ledger::PhysicalHandle*)known->content.get())->references++;
    } else {
        // "Guaranteed to be the same handle value used to map the memory", released or not.
        auto again = runtime().handles.extract(ledger::new_physical_handle(mapping.memory));
        again.key() = mapping.handle;
        runtime().handles.insert(std::move(again));
        runtime().destroyed.erase(mapping.handle);
    }
    *handle = mapping.handle;
    call.acquired("physical-memory", *handle, 0);
    CU_DONE(cudaSuccess);
}

API_CU(cuMemRelease)(CUmemGenericAllocationHandle handle) {
    ledger::Call call("cuMemRelease", __builtin_frame_address(0));
    Handle* known = simulating() && !call.refused() ? ledger::find_handle(handle, "physical-memory") : nullptr;
    if (known && --((ledger::PhysicalHandle*)known->content.get())->references > 0) {
        call.released("physical-memory", handle, 0);
        CU_DONE(cudaSuccess);
    }
    return ledger::given(ledger::destroy(call, handle, "physical-memory", CU_REAL(cuMemRelease, (handle))));
}

API_CU(cuMemGetAllocationPropertiesFromHandle)(CUmemAllocationProp* properties,
                                               CUmemGenericAllocationHandle handle) {
    CU_FORWARD(cuMemGetAllocationPropertiesFromHandle, properties, handle);
    ledger::PhysicalHandle* known = ledger::physical_handle(call, handle);
    CU_CHECK(properties && known, cudaErrorInvalidValue);
    *properties = known->memory->properties;
    CU_DONE(cudaSuccess);
}

API_CU(cuMemExportToShareableHandle)(void* shared, CUmemGenericAllocationHandle handle,
                                     CUmemAllocationHandleType type, unsigned long long flags) {
    CU_FORWARD(cuMemExportToShareableHandle, shared, handle, type, flags);
    ledger::PhysicalHandle* known = ledger::physical_handle(call, handle);
    CU_CHECK(shared && known && !flags, cudaErrorInvalidValue);
    // Only of what was made for it (CUmemAllocationProp::requestedHandleTypes).
    CU_CHECK(known->memory->properties.requestedHandleTypes & type, cudaErrorInvalidValue);
    if (type != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR) {
        call.note("unsupported: cuMemExportToShareableHandle but to a file descriptor");
        CU_DONE(cudaErrorNotSupported);
    }
    struct stat about{};
    int file = memfd_create("cuda memory", MFD_CLOEXEC);
    CU_CHECK(file >= 0 && fstat(file, &about) == 0, cudaErrorMemoryAllocation);
    ledger::exported()[about.st_ino] = known->memory;
    *(int*)shared = file;
    CU_DONE(cudaSuccess);
}

API_CU(cuMemImportFromShareableHandle)(CUmemGenericAllocationHandle* handle, void* shared,
                                       CUmemAllocationHandleType type) {
    CU_ENTRY(cuMemImportFromShareableHandle);
    CU_CHECK(handle, cudaErrorInvalidValue);
    if (!simulating()) {
        cudaError_t status = CU_REAL(cuMemImportFromShareableHandle, (handle, shared, type))();
        if (status == cudaSuccess) call.acquired("physical-memory", *handle, 0);
        CU_DONE(status);
    }
    struct stat about{};
    CU_CHECK(type == CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, cudaErrorNotSupported);
    CU_CHECK(fstat(int(Address(shared)), &about) == 0, cudaErrorInvalidValue);
    auto found = ledger::exported().find(about.st_ino);
    auto memory = found == ledger::exported().end() ? nullptr : found->second.lock();
    if (!memory) call.note("unsupported: cuMemImportFromShareableHandle from another process");
    CU_CHECK(memory, cudaErrorNotSupported);
    *handle = ledger::new_physical_handle(std::move(memory));
    call.acquired("physical-memory", *handle, 0);
    CU_DONE(cudaSuccess);
}

API_CU(cuMemAddressReserve)(CUdeviceptr* pointer, size_t bytes, size_t alignment, CUdeviceptr hint,
                            unsigned long long flags) {
    CU_ENTRY(cuMemAddressReserve);
    CU_CHECK(pointer, cudaErrorInvalidValue);
    if (!simulating()) {
        cudaError_t status = CU_REAL(cuMemAddressReserve, (pointer, bytes, alignment, hint, flags))();
        if (status == cudaSuccess) call.acquired("address-range", *pointer, 0);
        CU_DONE(status);
    }
    // "A multiple of the host page size and the alignment must be a power of two or zero."
    CU_CHECK(bytes && bytes % 4096 == 0 && hint % 4096 == 0 && !(alignment & (alignment - 1)) && !flags,
             cudaErrorInvalidValue);
    Address start = runtime().memory.ranges.take(bytes, alignment);
    CU_CHECK(start, cudaErrorMemoryAllocation);
    Handle& made = runtime().handles[start];
    made = Handle{"address-range", thread().device};
    made.content = std::make_shared<ledger::Reservation>(ledger::Reservation{bytes, {}});
    runtime().destroyed.erase(start);
    *pointer = start;
    call.acquired("address-range", start, 0);
    CU_DONE(cudaSuccess);
}

API_CU(cuMemAddressFree)(CUdeviceptr pointer, size_t bytes) {
    ledger::Call call("cuMemAddressFree", __builtin_frame_address(0));
    Handle* known = simulating() ? ledger::find_handle(pointer, "address-range") : nullptr;
    if (known && !call.refused()) {
        auto* reserved = (ledger::Reservation*)known->content.get();
        auto& mappings = reserved->mappings;
        bool tried = std::all_of(mappings.begin(), mappings.end(), [](auto& one) { return one.second.refused; });
        // "The size must match what was given to memAddressReserve"; what is mapped cannot be freed.
        CU_CHECK(bytes == reserved->bytes && tried, cudaErrorInvalidValue);
        if (!mappings.empty()) {
            // The program has done what it could.
            call.released("address-range", pointer, 0, 0, false, cudaErrorInvalidValue);
            CU_DONE(cudaErrorInvalidValue);
        }
        runtime().memory.ranges.give(pointer, bytes);
    }
    return ledger::given(ledger::destroy(call, pointer, "address-range", CU_REAL(cuMemAddressFree, (pointer, bytes))));
}

API_CU(cuMemMap)(CUdeviceptr pointer, size_t bytes, size_t offset, CUmemGenericAllocationHandle handle,
                 unsigned long long flags) {
    CU_FORWARD(cuMemMap, pointer, bytes, offset, handle, flags);
    ledger::PhysicalHandle* known = ledger::physical_handle(call, handle);
    CU_CHECK(known && !offset && !flags, cudaErrorInvalidValue);  // "Currently must be zero."
    CU_CHECK(ledger::whole_pages(pointer) && ledger::whole_pages(bytes) && bytes <= known->memory->bytes,
             cudaErrorInvalidValue);
    Address start = 0;
    ledger::Reservation* reserved = ledger::reservation_of(pointer, bytes, &start);
    CU_CHECK(reserved, cudaErrorInvalidValue);
    // "Not currently mapped."
    auto next = reserved->mappings.lower_bound(pointer);
    CU_CHECK(next == reserved->mappings.end() || next->first >= pointer + bytes, cudaErrorInvalidValue);
    if (next != reserved->mappings.begin()) {
        auto& [at, mapping] = *std::prev(next);
        CU_CHECK(at + mapping.bytes <= pointer, cudaErrorInvalidValue);
    }
    CU_CHECK(runtime().memory.map(pointer, known->memory->start, bytes), cudaErrorMemoryAllocation);
    reserved->mappings[pointer] = {bytes, handle, known->memory, {}};
    ledger::show(start, *reserved);
    CU_DONE(cudaSuccess);
}

API_CU(cuMemUnmap)(CUdeviceptr pointer, size_t bytes) {
    ledger::Call call("cuMemUnmap", __builtin_frame_address(0));
    if (!simulating())
        CU_DONE(call.refused() ? call.refusal() : CU_REAL(cuMemUnmap, (pointer, bytes))());
    Address start = 0;
    ledger::Reservation* reserved = ledger::reservation_of(pointer, bytes, &start);
    CU_CHECK(reserved, cudaErrorInvalidValue);
    // "cuMemUnmap cannot unmap a sub-range of an address range mapped by cuMemCreate / cuMemMap."
    auto [first, last] = ledger::mapped(*reserved, pointer, bytes);
    CU_CHECK(first != last, cudaErrorInvalidValue);
    if (call.refused()) {
        for (; first != last; ++first) first->second.refused = true;
        CU_DONE(call.refusal());
    }
    while (first != last) ledger::unmap(reserved->mappings, first++);
    ledger::show(start, *reserved);
    runtime().memory.gone[pointer] = {bytes, "physical-memory"};
    CU_DONE(cudaSuccess);
}

API_CU(cuMemSetAccess)(CUdeviceptr pointer, size_t bytes, const CUmemAccessDesc* wanted, size_t count) {
    CU_FORWARD(cuMemSetAccess, pointer, bytes, wanted, count);
    Address start = 0;
    ledger::Reservation* reserved = ledger::reservation_of(pointer, bytes, &start);
    CU_CHECK(reserved && wanted && count, cudaErrorInvalidValue);
    // "The range must be a fully mapped address range."
    auto [first, last] = ledger::mapped(*reserved, pointer, bytes);
    CU_CHECK(first != last, cudaErrorInvalidValue);
    for (size_t i = 0; i < count; i++)
        if (wanted[i].location.type == CU_MEM_LOCATION_TYPE_DEVICE)
            CU_CHECK(!ledger::bad_device(wanted[i].location.id), cudaErrorInvalidDevice);
    for (; first != last; ++first)
        for (size_t i = 0; i < count; i++)
            if (wanted[i].location.type == CU_MEM_LOCATION_TYPE_DEVICE)
                first->second.access[wanted[i].location.id] = wanted[i].flags;
    ledger::show(start, *reserved);
    CU_DONE(cudaSuccess);
}

API_CU(cuMemGetAccess)(unsigned long long* flags, const CUmemLocation* location, CUdeviceptr pointer) {
    CU_FORWARD(cuMemGetAccess, flags, location, pointer);
    Address start = 0;
    ledger::Reservation* reserved = ledger::reservation_of(pointer, 1, &start);
    CU_CHECK(flags && location && reserved, cudaErrorInvalidValue);
    auto after = reserved->mappings.upper_bound(pointer);
    CU_CHECK(after != reserved->mappings.begin(), cudaErrorInvalidValue);
    auto& [at, mapping] = *std::prev(after);
    CU_CHECK(pointer - at < mapping.bytes, cudaErrorInvalidValue);
    auto known = mapping.access.find(location->id);
    *flags = known == mapping.access.end() ? CU_MEM_ACCESS_FLAGS_PROT_NONE : known->second;
    CU_DONE(cudaSuccess);
}
