#include "grid.h"

#include <string.h>

int probe_open(probe_t *probe, const int *cells, int count)
{
    int status = -1;

    memset(probe, 0, sizeof *probe);
    probe->count = count;
    if (cudaMalloc((void **)&probe->cells, count * sizeof(int)) != cudaSuccess)
        goto done;
    if (cudaMalloc((void **)&probe->samples, count * sizeof(float)) != cudaSuccess)
        goto done;
    if (cudaMallocHost((void **)&probe->readings, count * sizeof(float)) != cudaSuccess)
        goto done;
    if (cudaMemcpy(probe->cells, cells, count * sizeof(int), cudaMemcpyHostToDevice) != cudaSuccess)
        goto done;
    status = 0;
done:
    if (status != 0)
        probe_close(probe);
    return status;
}

void probe_close(probe_t *probe)
{
    if (probe->cells)
        cudaFree(probe->cells);
    if (probe->samples)
        cudaFree(probe->samples);
    if (probe->readings)
        cudaFreeHost(probe->readings);
    memset(probe, 0, sizeof *probe);
}

int probe_read(probe_t *probe, const grid_t *grid)
{
    cudaEvent_t done = NULL;
    int status = -1;
    int i;

    if (cudaEventCreate(&done) != cudaSuccess)
        return -1;
    for (i = 0; i < probe->count; ++i) {
        if (cudaMemcpyAsync(probe->samples + i, grid->now + i, sizeof(float),
                            cudaMemcpyDeviceToDevice, grid->stream) != cudaSuccess)
            goto finish;
    }
    if (cudaMemcpyAsync(probe->readings, probe->samples, probe->count * sizeof(float),
                        cudaMemcpyDeviceToHost, grid->stream) != cudaSuccess)
        goto finish;
    if (cudaEventRecord(done, grid->stream) != cudaSuccess)
        goto finish;
    if (cudaEventSynchronize(done) != cudaSuccess)
        goto finish;
    status = 0;
finish:
    cudaEventDestroy(done);
    return status;
}
