/* Read after the C++ library's others before sources that include it. */
#if __has_include(<optional>)
#include <optional>
#endif
