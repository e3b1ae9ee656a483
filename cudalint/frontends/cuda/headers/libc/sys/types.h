#include <cudalint_types.h>
