#include "cudnn.h"
