#include "npps.h"
