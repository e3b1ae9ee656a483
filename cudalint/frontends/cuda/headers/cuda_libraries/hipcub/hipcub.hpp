/* hipCUB offers what CUB does. */
#ifndef CUDALINT_HIPCUB_HPP
#define CUDALINT_HIPCUB_HPP
#include "../hip/hip_runtime.h"
#include <cub/cub.cuh>
namespace hipcub = cub;
#endif
