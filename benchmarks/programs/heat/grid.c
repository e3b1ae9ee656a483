#include "grid.h"

#include <stdlib.h>
#include <string.h>

static size_t cells_of(const grid_t *grid)
{
    return (size_t)grid->width * (size_t)grid->height;
}

int grid_create(grid_t **out, int width, int height)
{
    grid_t *grid = NULL;
    size_t cells;

    *out = NULL;
    if (width <= 0 || height <= 0)
        return -1;
    grid = calloc(1, sizeof *grid);
    if (grid == NULL)
        return -1;
    grid->width = width;
    grid->height = height;
    cells = cells_of(grid);
    if (cudaMalloc((void **)&grid->now, cells * sizeof(float)) != cudaSuccess)
        goto fail;
    if (cudaMalloc((void **)&grid->next, cells * sizeof(float)) != cudaSuccess)
        goto fail;
    if (cudaMalloc((void **)&grid->mask, cells) != cudaSuccess)
        goto fail;
    if (cudaStreamCreate(&grid->stream) != cudaSuccess)
        goto fail;
    *out = grid;
    return 0;

fail:
    grid_destroy(grid);
    return -1;
}

void grid_destroy(grid_t *grid)
{
    if (grid == NULL)
        return;
    if (grid->stream != NULL)
        cudaStreamDestroy(grid->stream);
    if (grid->mask != NULL)
        cudaFree(grid->mask);
    if (grid->next != NULL)
        cudaFree(grid->next);
    if (grid->now != NULL)
        cudaFree(grid->now);
    free(grid);
}

int grid_set(grid_t *grid, const float *field, const unsigned char *mask)
{
    size_t cells = cells_of(grid);

    if (cudaMemcpy(grid->now, field, cells * sizeof(float), cudaMemcpyHostToDevice) != cudaSuccess)
        return -1;
    if (cudaMemcpy(grid->next, field, cells * sizeof(float), cudaMemcpyHostToDevice) != cudaSuccess)
        return -1;
    if (cudaMemcpy(grid->mask, mask, cells, cudaMemcpyHostToDevice) != cudaSuccess)
        return -1;
    return 0;
}

int grid_get(const grid_t *grid, float *field)
{
    size_t bytes = cells_of(grid) * sizeof(float);

    if (cudaStreamSynchronize(grid->stream) != cudaSuccess)
        return -1;
    return cudaMemcpy(field, grid->now, bytes, cudaMemcpyDeviceToHost) == cudaSuccess ? 0 : -1;
}

void grid_swap(grid_t *grid)
{
    float *kept = grid->now;

    grid->now = grid->next;
    grid->next = kept;
}
