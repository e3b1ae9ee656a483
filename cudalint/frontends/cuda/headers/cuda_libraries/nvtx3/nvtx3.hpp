#ifndef CUDALINT_NVTX3_HPP
#define CUDALINT_NVTX3_HPP
#include "nvToolsExt.h"
namespace nvtx3 {
struct domain { struct global {}; };
struct rgb { rgb(int, int, int); };
struct argb { argb(int, int, int, int); };
struct color { template <class... T> color(T...); };
struct payload { template <class T> payload(T); };
struct category { category(uint32_t); };
struct event_attributes { template <class... T> event_attributes(const T &...); };
template <class Domain = domain::global> struct scoped_range_in {
  template <class... T> explicit scoped_range_in(const T &...);
  scoped_range_in();
  ~scoped_range_in();
};
using scoped_range = scoped_range_in<>;
template <class Domain = domain::global> struct unique_range_in {
  template <class... T> explicit unique_range_in(const T &...);
  ~unique_range_in();
};
using unique_range = unique_range_in<>;
template <class... T> void mark(const T &...);
}
#define NVTX3_FUNC_RANGE() ::nvtx3::scoped_range nvtx3_range__ {}
#define NVTX3_FUNC_RANGE_IN(D) ::nvtx3::scoped_range_in<D> nvtx3_range__ {}
#endif
