/* Heat conduction in a plate; all that is acquired has a create and a destroy function. */
#include "grid.h"
#include "step.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct options {
    int width;
    int height;
    int steps;
    float rate;
} options_t;

static void fill(float *field, unsigned char *mask, const options_t *options)
{
    int x, y;

    for (y = 0; y < options->height; ++y) {
        for (x = 0; x < options->width; ++x) {
            field[y * options->width + x] = y == 0 ? 100.0f : 20.0f;
            mask[y * options->width + x] = (x + y) % 17 == 0;
        }
    }
}

static int simulate(grid_t *grid, probe_t *probe, const options_t *options)
{
    int step;

    for (step = 0; step < options->steps; ++step) {
        float change = 0.0f;

        if (grid_step(grid, options->rate) != 0)
            return -1;
        if (step % 10 != 0)
            continue;
        if (probe_read(probe, grid) != 0 || grid_change(grid, &change) != 0)
            return -1;
        printf("%4d %8.3f %8.5f\n", step, probe->readings[0], change);
        if (change < 1e-5f)
            break;
    }
    return 0;
}

static int run(const options_t *options)
{
    static const int cells[] = {17, 33, 65};
    size_t count = (size_t)options->width * options->height;
    float *field = malloc(count * sizeof *field);
    unsigned char *mask = malloc(count);
    grid_t *grid = NULL;
    probe_t probe;
    int status = -1;

    if (field == NULL || mask == NULL)
        goto host;
    fill(field, mask, options);
    if (grid_create(&grid, options->width, options->height) != 0)
        goto host;
    if (grid_set(grid, field, mask) != 0)
        goto device;
    if (probe_open(&probe, cells, 3) != 0)
        goto device;
    status = simulate(grid, &probe, options);
    if (status == 0)
        status = grid_get(grid, field);
    probe_close(&probe);
device:
    grid_destroy(grid);
host:
    free(mask);
    free(field);
    return status;
}

int main(int argc, char **argv)
{
    options_t options = {64, 64, 100, 0.2f};

    if (argc > 1)
        options.steps = atoi(argv[1]);
    if (run(&options) != 0) {
        fprintf(stderr, "failed\n");
        return 1;
    }
    return 0;
}
