#include "nppi.h"
