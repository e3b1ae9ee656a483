#include "../nvToolsExtSync.h"
