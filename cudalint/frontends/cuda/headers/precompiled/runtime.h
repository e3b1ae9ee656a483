/* Read before every CUDA source: the CUDA runtime as nvcc includes it, and the C library. */
#if __has_include(<crt/host_defines.h>)
#include <__clang_cuda_runtime_wrapper.h>
#else
#include <cuda_runtime.h>
#endif

#include <cudalint_removed.h>

#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <float.h>
#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <time.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>
