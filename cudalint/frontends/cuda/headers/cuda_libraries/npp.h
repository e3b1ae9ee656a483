#include "nppi.h"
#include "npps.h"
