/* A rectangular grid on the device: two fields, a mask, and a stream to work in. */
#ifndef GRID_H
#define GRID_H

#include <cuda_runtime_api.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct grid {
    int width;
    int height;
    float *now;
    float *next;
    unsigned char *mask;
    cudaStream_t stream;
} grid_t;

typedef struct probe {
    int count;
    int *cells;       /* on the device */
    float *samples;   /* on the device */
    float *readings;  /* pinned */
} probe_t;

int grid_create(grid_t **out, int width, int height);
void grid_destroy(grid_t *grid);
int grid_set(grid_t *grid, const float *field, const unsigned char *mask);
int grid_get(const grid_t *grid, float *field);
void grid_swap(grid_t *grid);

int probe_open(probe_t *probe, const int *cells, int count);
void probe_close(probe_t *probe);
int probe_read(probe_t *probe, const grid_t *grid);

#ifdef __cplusplus
}
#endif

#endif
