// One step of heat conduction; the stencil works in bands, each with a halo of its own.
#include "step.h"

__global__ void relax(const float* now, float* next, const unsigned char* mask, int width, int height,
                      float rate) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x <= 0 || y <= 0 || x >= width - 1 || y >= height - 1) return;
    int at = y * width + x;
    if (mask[at]) return;
    float around = now[at - 1] + now[at + 1] + now[at - width] + now[at + width];
    next[at] = now[at] + rate * (around - 4.0f * now[at]);
}

__global__ void difference(const float* now, const float* next, int cells, float* largest) {
    int at = blockIdx.x * blockDim.x + threadIdx.x;
    if (at < cells) atomicMax((int*)largest, __float_as_int(fabsf(now[at] - next[at])));
}

extern "C" int grid_step(grid_t* grid, float rate) {
    dim3 block(16, 16);
    dim3 blocks((grid->width + 15) / 16, (grid->height + 15) / 16);
    relax<<<blocks, block, 0, grid->stream>>>(grid->now, grid->next, grid->mask, grid->width,
                                              grid->height, rate);
    if (cudaGetLastError() != cudaSuccess) return -1;
    grid_swap(grid);
    return 0;
}

extern "C" int grid_change(const grid_t* grid, float* change) {
    float* largest = nullptr;
    int cells = grid->width * grid->height;
    if (cudaMalloc(&largest, sizeof(float)) != cudaSuccess) return -1;
    if (cudaMemsetAsync(largest, 0, sizeof(float), grid->stream) != cudaSuccess) {
        cudaFree(largest);
        return -1;
    }
    difference<<<(cells + 255) / 256, 256, 0, grid->stream>>>(grid->now, grid->next, cells, largest);
    int status = 0;
    if (cudaGetLastError() != cudaSuccess) status = -1;
    if (cudaStreamSynchronize(grid->stream) != cudaSuccess) status = -1;
    if (cudaMemcpy(change, largest, sizeof(float), cudaMemcpyDeviceToHost) != cudaSuccess) status = -1;
    cudaFree(largest);
    return status;
}
