#ifndef STEP_H
#define STEP_H

#include "grid.h"

#ifdef __cplusplus
extern "C" {
#endif

int grid_step(grid_t *grid, float rate);
int grid_change(const grid_t *grid, float *change);

#ifdef __cplusplus
}
#endif

#endif
