// The ledger: what a program asks of the CUDA runtime, with the stack of each request.
//
// Two modes, chosen by CUDALINT_MODE: `observe` forwards to the real runtime; `simulate` is the
// runtime, on a machine with no GPU. One translation unit, made of the parts below, and compiled
// on demand (cudalint/runtime/ledger.py).
#include "base.hpp"
#include "trace.hpp"
#include "stack.hpp"
#include "space.hpp"
#include "memory.hpp"
#include "kernels.hpp"
#include "device.hpp"
#include "call.hpp"
#include "reach.hpp"
#include "entry.hpp"
#include "process.hpp"
#include "api_errors.hpp"
#include "api_device.hpp"
#include "api_memory.hpp"
#include "copying.hpp"
#include "api_copy.hpp"
#include "api_pool.hpp"
#include "api_stream.hpp"
#include "api_array.hpp"
#include "api_launch.hpp"
#include "api_graph.hpp"
#include "api_library.hpp"
#include "api_driver.hpp"
#include "api_generated.hpp"
