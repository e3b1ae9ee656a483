/* Read before C sources. */
#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <driver_types.h>

#include <cuda.h>
#include <cuda_runtime_api.h>
#include <cudalint_removed.h>
