// also: GPU105
#include <cuda_runtime.h>

struct Solver {
    float* residual;
};

// @page
