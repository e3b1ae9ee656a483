// options: --device-memory 24GiB
#include <cstdint>
#include <cuda.h>
#include <cuda_runtime.h>

void run(cudaStream_t stream) {
    const size_t tile_bytes = 8ULL << 30;
    float *d_tile, *d_volume;
    cudaMemPool_t pool;
    cudaDeviceGetDefaultMemPool(&pool, 0);
    // @good
    cuuint64_t keep = UINT64_MAX;
    cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &keep);
    cudaMallocAsync(&d_tile, tile_bytes, stream);
    cudaFreeAsync(d_tile, stream);
    // @end
    // @page
    cudaFree(d_volume);
}
