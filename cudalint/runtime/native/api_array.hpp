// Arrays, textures and surfaces: an array is device memory with a shape, behind a handle.
#pragma once

namespace ledger {

struct ArrayContent {
    Address start = 0;  // Simulated.
    cudaChannelFormatDesc format{};
    cudaExtent extent{};  // In elements, as the program asked.
    unsigned flags = 0;
    uint64_t element = 1, pitch = 0;
    bool level = false;  // A level of a mipmapped array owns nothing.
    std::vector<Address> levels;
    uint64_t rows() const { return std::max<size_t>(extent.height, 1); }
    uint64_t slices() const { return std::max<size_t>(extent.depth, 1); }
    uint64_t bytes() const { return pitch * rows() * slices(); }
};

inline ArrayContent* array_content(Call& call, const void* array, const char* family = "array") {
    if (!usable(call, Address(array), family)) return nullptr;
    return (ArrayContent*)find_handle(Address(array), family)->content.get();
}

inline cudaError_t make_array(Address* out, const cudaChannelFormatDesc* format, cudaExtent extent,
                              unsigned flags, const char* family, uint64_t* bytes) {
    auto content = std::make_shared<ArrayContent>();
    content->format = *format;
    content->extent = extent;
    content->flags = flags;
    content->element = uint64_t(format->x + format->y + format->z + format->w) / 8;
    if (!content->element || !extent.width) return cudaErrorInvalidValue;
    content->pitch = content->element * extent.width;
    *bytes = content->bytes();
    Runtime& r = runtime();
    Address start = r.memory.take_device(*bytes, thread().device);
    if (!start) return cudaErrorMemoryAllocation;
    r.memory.add(start, *bytes, "array", thread().device);
    content->start = start;
    *out = new_handle(family);
    r.handles[*out].content = content;
    return cudaSuccess;
}

template <class Real>
cudaError_t create_array(Call& call, void** out, const cudaChannelFormatDesc* format,
                         cudaExtent extent, unsigned flags, Real real) {
    if (!out || !format) return call.done(cudaErrorInvalidValue);
    uint64_t bytes = 0;
    cudaError_t status;
    if (simulating()) {
        Address made = 0;
        status = make_array(&made, format, extent, flags, "array", &bytes);
        if (status == cudaSuccess) *out = (void*)made;
    } else {
        status = real();
        uint64_t element = uint64_t(format->x + format->y + format->z + format->w) / 8;
        bytes = element * extent.width * std::max<size_t>(extent.height, 1) *
                std::max<size_t>(extent.depth, 1);
    }
    if (status == cudaSuccess) call.acquired("array", Address(*out), bytes);
    return call.done(status);
}

template <class Real>
cudaError_t free_array(Call& call, Address array, const char* family, Real real) {
    if (!array && simulating() && !call.refused()) return call.done(cudaSuccess);
    if (simulating() && !call.refused()) {
        runtime().host_waits_for_all();
        Handle* h = find_handle(array, family);
        Runtime& r = runtime();
        if (!h && r.memory.find(array)) {
            tell_bad_release(call, array, family);
            return call.done(cudaErrorInvalidValue);
        }
        ArrayContent* content = h ? (ArrayContent*)h->content.get() : nullptr;
        if (content && content->level) return call.done(cudaErrorInvalidResourceHandle);
        if (content && content->start) {
            auto it = r.memory.live.find(content->start);
            if (it != r.memory.live.end()) {
                r.memory.give_device(it->second);
                r.memory.live.erase(it);
            }
            for (Address level : content->levels) r.handles.erase(level);
        }
    }
    return destroy(call, array, family, real);
}

}  // namespace ledger

API(cudaMallocArray)(cudaArray_t* array, const struct cudaChannelFormatDesc* format, size_t width,
                     size_t height, unsigned int flags) {
    CALL_ENTRY(cudaMallocArray);
    return ledger::create_array(call, (void**)array, format, {width, height, 0}, flags, [&] {
        return REAL(cudaMallocArray)(array, format, width, height, flags);
    });
}

API(cudaMalloc3DArray)(cudaArray_t* array, const struct cudaChannelFormatDesc* format,
                       struct cudaExtent extent, unsigned int flags) {
    CALL_ENTRY(cudaMalloc3DArray);
    return ledger::create_array(call, (void**)array, format, extent, flags, [&] {
        return REAL(cudaMalloc3DArray)(array, format, extent, flags);
    });
}

API(cudaFreeArray)(cudaArray_t array) {
    CALL_RELEASE(cudaFreeArray);
    return ledger::free_array(call, Address(array), "array", [&] { return REAL(cudaFreeArray)(array); });
}

API(cudaMallocMipmappedArray)(cudaMipmappedArray_t* array, const struct cudaChannelFormatDesc* format,
                              struct cudaExtent extent, unsigned int levels, unsigned int flags) {
    CALL_ENTRY(cudaMallocMipmappedArray);
    if (!array || !format) return call.done(cudaErrorInvalidValue);
    uint64_t bytes = 0;
    if (!simulating()) {
        cudaError_t status = REAL(cudaMallocMipmappedArray)(array, format, extent, levels, flags);
        if (status != cudaSuccess) return call.done(status);
    } else {
        Address made = 0;
        // All levels together are less than twice the first.
        cudaExtent all = extent;
        all.width *= 2;
        cudaError_t status = ledger::make_array(&made, format, all, flags, "mipmapped-array", &bytes);
        if (status != cudaSuccess) return call.done(status);
        auto* whole = (ledger::ArrayContent*)runtime().handles[made].content.get();
        whole->extent = extent;
        Address at = whole->start;
        cudaExtent size = extent;
        for (unsigned i = 0; i < std::max(levels, 1u); i++) {
            auto content = std::make_shared<ledger::ArrayContent>(*whole);
            content->start = at, content->extent = size, content->level = true;
            content->levels.clear();
            content->pitch = content->element * size.width;
            at += content->bytes();
            Address level = ledger::new_handle("array");
            runtime().handles[level].content = content;
            whole->levels.push_back(level);
            size.width = std::max<size_t>(size.width / 2, 1);
            if (size.height) size.height = std::max<size_t>(size.height / 2, 1);
            if (size.depth) size.depth = std::max<size_t>(size.depth / 2, 1);
        }
        *array = (cudaMipmappedArray_t)made;
    }
    call.acquired("mipmapped-array", Address(*array), bytes);
    return call.done(cudaSuccess);
}

API(cudaGetMipmappedArrayLevel)(cudaArray_t* level, cudaMipmappedArray_const_t array, unsigned int index) {
    CALL_FORWARD(cudaGetMipmappedArrayLevel, level, array, index);
    auto* content = ledger::array_content(call, array, "mipmapped-array");
    if (!content || !level || index >= content->levels.size()) return call.done(cudaErrorInvalidValue);
    *level = (cudaArray_t)content->levels[index];
    return call.done(cudaSuccess);
}

API(cudaFreeMipmappedArray)(cudaMipmappedArray_t array) {
    CALL_RELEASE(cudaFreeMipmappedArray);
    return ledger::free_array(call, Address(array), "mipmapped-array",
                              [&] { return REAL(cudaFreeMipmappedArray)(array); });
}

API(cudaArrayGetInfo)(struct cudaChannelFormatDesc* format, struct cudaExtent* extent,
                      unsigned int* flags, cudaArray_t array) {
    CALL_FORWARD(cudaArrayGetInfo, format, extent, flags, array);
    auto* content = ledger::array_content(call, array);
    if (!content) return call.done(cudaErrorInvalidResourceHandle);
    if (format) *format = content->format;
    if (extent) *extent = content->extent;
    if (flags) *flags = content->flags;
    return call.done(cudaSuccess);
}

API(cudaGetChannelDesc)(struct cudaChannelFormatDesc* format, cudaArray_const_t array) {
    CALL_FORWARD(cudaGetChannelDesc, format, array);
    auto* content = ledger::array_content(call, array);
    if (!content || !format) return call.done(cudaErrorInvalidValue);
    *format = content->format;
    return call.done(cudaSuccess);
}

#define API_FORMAT(name) extern "C" EXPORT struct cudaChannelFormatDesc name

API_FORMAT(cudaCreateChannelDesc)(int x, int y, int z, int w, enum cudaChannelFormatKind kind) {
    return {x, y, z, w, kind};
}

namespace ledger {

// The block of an array from (x bytes, y, z) on.
inline bool array_block(Call& call, const void* array, uint64_t x, uint64_t y, uint64_t z, Block& block) {
    ArrayContent* content = array_content(call, array);
    if (!content) return false;
    block.pitch = content->pitch;
    block.slice = content->pitch * content->rows();
    block.at = content->start + x + y * block.pitch + z * block.slice;
    return true;
}

inline cudaError_t copy_array(Call& call, const void* to_array, Block to, const void* from_array,
                              Block from, uint64_t tx, uint64_t ty, uint64_t fx, uint64_t fy,
                              Extent extent, CopyOptions options,
                              const std::function<cudaError_t()>& real) {
    if (!simulating()) {
        cudaError_t status = real();
        if (status == cudaSuccess) {
            Record record = call.make(COPY);
            record.detail = uint16_t(options.kind), record.bytes = extent.bytes();
            record.address = to_array ? Address(to_array) : to.at;
            record.source = from_array ? Address(from_array) : from.at;
            record.stream = Address(options.stream);
            if (options.asynchronous) record.flags |= ASYNCHRONOUS;
            call.write(record);
        }
        return call.done(status);
    }
    if (to_array && !array_block(call, to_array, tx, ty, 0, to))
        return call.done(cudaErrorInvalidResourceHandle);
    if (from_array && !array_block(call, from_array, fx, fy, 0, from))
        return call.done(cudaErrorInvalidResourceHandle);
    return copy(call, to, from, extent, options, real);
}

}  // namespace ledger

API(cudaMemcpy2DToArray)(cudaArray_t to, size_t x, size_t y, const void* from, size_t pitch,
                         size_t width, size_t height, enum cudaMemcpyKind kind) {
    CALL_ENTRY(cudaMemcpy2DToArray);
    return ledger::copy_array(call, to, {}, nullptr, {Address(from), pitch, 0}, x, y, 0, 0,
                              {width, height, 1}, {kind}, [&] {
                                  return REAL(cudaMemcpy2DToArray)(to, x, y, from, pitch, width,
                                                                   height, kind);
                              });
}

API(cudaMemcpy2DToArrayAsync)(cudaArray_t to, size_t x, size_t y, const void* from, size_t pitch,
                              size_t width, size_t height, enum cudaMemcpyKind kind,
                              cudaStream_t stream) {
    CALL_ENTRY(cudaMemcpy2DToArrayAsync);
    return ledger::copy_array(call, to, {}, nullptr, {Address(from), pitch, 0}, x, y, 0, 0,
                              {width, height, 1}, {kind, stream, true}, [&] {
                                  return REAL(cudaMemcpy2DToArrayAsync)(to, x, y, from, pitch, width,
                                                                        height, kind, stream);
                              });
}

API(cudaMemcpy2DFromArray)(void* to, size_t pitch, cudaArray_const_t from, size_t x, size_t y,
                           size_t width, size_t height, enum cudaMemcpyKind kind) {
    CALL_ENTRY(cudaMemcpy2DFromArray);
    return ledger::copy_array(call, nullptr, {Address(to), pitch, 0}, from, {}, 0, 0, x, y,
                              {width, height, 1}, {kind}, [&] {
                                  return REAL(cudaMemcpy2DFromArray)(to, pitch, from, x, y, width,
                                                                     height, kind);
                              });
}

API(cudaMemcpy2DFromArrayAsync)(void* to, size_t pitch, cudaArray_const_t from, size_t x, size_t y,
                                size_t width, size_t height, enum cudaMemcpyKind kind,
                                cudaStream_t stream) {
    CALL_ENTRY(cudaMemcpy2DFromArrayAsync);
    return ledger::copy_array(call, nullptr, {Address(to), pitch, 0}, from, {}, 0, 0, x, y,
                              {width, height, 1}, {kind, stream, true}, [&] {
                                  return REAL(cudaMemcpy2DFromArrayAsync)(to, pitch, from, x, y,
                                                                          width, height, kind, stream);
                              });
}

API(cudaMemcpy2DArrayToArray)(cudaArray_t to, size_t tx, size_t ty, cudaArray_const_t from, size_t fx,
                              size_t fy, size_t width, size_t height, enum cudaMemcpyKind kind) {
    CALL_ENTRY(cudaMemcpy2DArrayToArray);
    return ledger::copy_array(call, to, {}, from, {}, tx, ty, fx, fy, {width, height, 1}, {kind}, [&] {
        return REAL(cudaMemcpy2DArrayToArray)(to, tx, ty, from, fx, fy, width, height, kind);
    });
}

API(cudaMemcpyToArray)(cudaArray_t to, size_t x, size_t y, const void* from, size_t bytes,
                       enum cudaMemcpyKind kind) {
    CALL_ENTRY(cudaMemcpyToArray);
    return ledger::copy_array(call, to, {}, nullptr, {Address(from), bytes, 0}, x, y, 0, 0,
                              {bytes, 1, 1}, {kind},
                              [&] { return REAL(cudaMemcpyToArray)(to, x, y, from, bytes, kind); });
}

API(cudaMemcpyFromArray)(void* to, cudaArray_const_t from, size_t x, size_t y, size_t bytes,
                         enum cudaMemcpyKind kind) {
    CALL_ENTRY(cudaMemcpyFromArray);
    return ledger::copy_array(call, nullptr, {Address(to), bytes, 0}, from, {}, 0, 0, x, y,
                              {bytes, 1, 1}, {kind},
                              [&] { return REAL(cudaMemcpyFromArray)(to, from, x, y, bytes, kind); });
}

namespace ledger {

inline cudaError_t copy_3d(Call& call, const cudaMemcpy3DParms* p, CopyOptions options,
                           const std::function<cudaError_t()>& real) {
    if (!p) return call.done(cudaErrorInvalidValue);
    options.kind = p->kind;
    Extent extent{p->extent.width, p->extent.height, p->extent.depth};
    Block to, from;
    uint64_t element = 1;
    if (simulating()) {
        // With an array, the extent is in its elements.
        for (const void* array : {(const void*)p->srcArray, (const void*)p->dstArray})
            if (array) {
                ArrayContent* content = array_content(call, array);
                if (!content) return call.done(cudaErrorInvalidResourceHandle);
                element = content->element;
            }
        extent.width *= element;
        auto place = [&](const void* array, const cudaPitchedPtr& ptr, const cudaPos& pos, Block& b) {
            if (array) return array_block(call, array, pos.x * element, pos.y, pos.z, b);
            b.pitch = ptr.pitch, b.slice = ptr.pitch * ptr.ysize;
            b.at = Address(ptr.ptr) + pos.x + pos.y * b.pitch + pos.z * b.slice;
            return true;
        };
        if (!place(p->dstArray, p->dstPtr, p->dstPos, to) ||
            !place(p->srcArray, p->srcPtr, p->srcPos, from))
            return call.done(cudaErrorInvalidResourceHandle);
        return copy(call, to, from, extent, options, real);
    }
    return copy_array(call, p->dstArray, {Address(p->dstPtr.ptr)}, p->srcArray,
                      {Address(p->srcPtr.ptr)}, 0, 0, 0, 0, extent, options, real);
}

}  // namespace ledger

API(cudaMemcpy3D)(const struct cudaMemcpy3DParms* p) {
    CALL_ENTRY(cudaMemcpy3D);
    return ledger::copy_3d(call, p, {}, [&] { return REAL(cudaMemcpy3D)(p); });
}

API(cudaMemcpy3DAsync)(const struct cudaMemcpy3DParms* p, cudaStream_t stream) {
    CALL_ENTRY(cudaMemcpy3DAsync);
    return ledger::copy_3d(call, p, {cudaMemcpyDefault, stream, true},
                           [&] { return REAL(cudaMemcpy3DAsync)(p, stream); });
}

namespace ledger {

struct TextureContent {
    cudaResourceDesc resource{};
    cudaTextureDesc texture{};
    cudaResourceViewDesc view{};
};

inline bool usable_resource(Call& call, const cudaResourceDesc* resource) {
    if (!resource) return false;
    Place place;
    switch (resource->resType) {
        case cudaResourceTypeArray:
            return usable(call, Address(resource->res.array.array), "array");
        case cudaResourceTypeMipmappedArray:
            return usable(call, Address(resource->res.mipmap.mipmap), "mipmapped-array");
        case cudaResourceTypeLinear:
            return locate(call, Address(resource->res.linear.devPtr),
                          resource->res.linear.sizeInBytes, "memory of the texture", place) &&
                   place.allocation;
        default:
            return locate(call, Address(resource->res.pitch2D.devPtr),
                          resource->res.pitch2D.pitchInBytes * resource->res.pitch2D.height,
                          "memory of the texture", place) && place.allocation;
    }
}

}  // namespace ledger

API(cudaCreateTextureObject)(cudaTextureObject_t* object, const struct cudaResourceDesc* resource,
                             const struct cudaTextureDesc* texture,
                             const struct cudaResourceViewDesc* view) {
    CALL_ENTRY(cudaCreateTextureObject);
    if (simulating() && !ledger::usable_resource(call, resource)) return call.done(cudaErrorInvalidValue);
    CREATE(cudaCreateTextureObject, object, "texture", (object, resource, texture, view),
           auto content = std::make_shared<ledger::TextureContent>(); content->resource = *resource;
           if (texture) content->texture = *texture; if (view) content->view = *view;
           h.content = content);
}

API(cudaDestroyTextureObject)(cudaTextureObject_t object) {
    CALL_RELEASE(cudaDestroyTextureObject);
    if (!object && simulating() && !call.refused()) return call.done(cudaSuccess);
    return ledger::destroy(call, Address(object), "texture",
                           [&] { return REAL(cudaDestroyTextureObject)(object); });
}

API(cudaCreateSurfaceObject)(cudaSurfaceObject_t* object, const struct cudaResourceDesc* resource) {
    CALL_ENTRY(cudaCreateSurfaceObject);
    if (simulating() && !ledger::usable_resource(call, resource)) return call.done(cudaErrorInvalidValue);
    CREATE(cudaCreateSurfaceObject, object, "surface", (object, resource),
           auto content = std::make_shared<ledger::TextureContent>(); content->resource = *resource;
           h.content = content);
}

API(cudaDestroySurfaceObject)(cudaSurfaceObject_t object) {
    CALL_RELEASE(cudaDestroySurfaceObject);
    if (!object && simulating() && !call.refused()) return call.done(cudaSuccess);
    return ledger::destroy(call, Address(object), "surface",
                           [&] { return REAL(cudaDestroySurfaceObject)(object); });
}

API(cudaGetTextureObjectResourceDesc)(struct cudaResourceDesc* resource, cudaTextureObject_t object) {
    CALL_FORWARD(cudaGetTextureObjectResourceDesc, resource, object);
    Handle* h = ledger::find_handle(Address(object), "texture");
    if (!h || !resource) return call.done(cudaErrorInvalidValue);
    *resource = ((ledger::TextureContent*)h->content.get())->resource;
    return call.done(cudaSuccess);
}

API(cudaGetTextureObjectTextureDesc)(struct cudaTextureDesc* texture, cudaTextureObject_t object) {
    CALL_FORWARD(cudaGetTextureObjectTextureDesc, texture, object);
    Handle* h = ledger::find_handle(Address(object), "texture");
    if (!h || !texture) return call.done(cudaErrorInvalidValue);
    *texture = ((ledger::TextureContent*)h->content.get())->texture;
    return call.done(cudaSuccess);
}
