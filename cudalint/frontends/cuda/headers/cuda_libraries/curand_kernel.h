/* cuRAND, the device's part: states of their true size, and the functions that use them. */
#ifndef CURAND_KERNEL_H_
#define CURAND_KERNEL_H_
#include "curand.h"
#include <vector_types.h>

#ifdef __cplusplus
struct curandStateXORWOW {
  unsigned d, v[5];
  int boxmuller_flag, boxmuller_flag_double;
  float boxmuller_extra;
  double boxmuller_extra_double;
};
struct curandStatePhilox4_32_10 {
  uint4 ctr, output;
  uint2 key;
  unsigned STATE;
  int boxmuller_flag, boxmuller_flag_double;
  float boxmuller_extra;
  double boxmuller_extra_double;
};
struct curandStateMRG32k3a {
  unsigned s1[3], s2[3];
  int boxmuller_flag, boxmuller_flag_double;
  float boxmuller_extra;
  double boxmuller_extra_double;
};
struct curandStateSobol32 { unsigned i, x, c, direction_vectors[32]; };
struct curandStateScrambledSobol32 { unsigned i, x, c, direction_vectors[32]; };
struct curandStateSobol64 { unsigned long long i, x, c, direction_vectors[64]; };
struct curandStateScrambledSobol64 { unsigned long long i, x, c, direction_vectors[64]; };
struct mtgp32_kernel_params;
struct mtgp32_params_fast;
struct curandStateMtgp32 { unsigned s[1024]; int offset, pIdx; mtgp32_kernel_params *k; };
typedef curandStateXORWOW curandStateXORWOW_t;
typedef curandStateXORWOW curandState_t;
typedef curandStateXORWOW curandState;
typedef curandStatePhilox4_32_10 curandStatePhilox4_32_10_t;
typedef curandStateMRG32k3a curandStateMRG32k3a_t;
typedef curandStateSobol32 curandStateSobol32_t;
typedef curandStateScrambledSobol32 curandStateScrambledSobol32_t;
typedef curandStateSobol64 curandStateSobol64_t;
typedef curandStateScrambledSobol64 curandStateScrambledSobol64_t;
typedef curandStateMtgp32 curandStateMtgp32_t;
typedef mtgp32_kernel_params mtgp32_kernel_params_t;
typedef mtgp32_params_fast mtgp32_params_fast_t;
extern mtgp32_params_fast_t mtgp32dc_params_fast_11213[];

#define CUDALINT_DRAW(type, name) template <class State> __device__ type name(State *state);
template <class Seed, class Sequence, class Offset, class State>
__device__ void curand_init(Seed seed, Sequence sequence, Offset offset, State *state);
template <class Vectors, class Offset, class State>
__device__ void curand_init(Vectors *vectors, Offset offset, State *state);
template <class State> __device__ void skipahead(unsigned long long n, State *state);
template <class State> __device__ void skipahead_sequence(unsigned long long n, State *state);
template <class State> __device__ void skipahead_subsequence(unsigned long long n, State *state);
CUDALINT_DRAW(unsigned, curand)
CUDALINT_DRAW(uint4, curand4)
CUDALINT_DRAW(float, curand_uniform)
CUDALINT_DRAW(double, curand_uniform_double)
CUDALINT_DRAW(float4, curand_uniform4)
CUDALINT_DRAW(double2, curand_uniform2_double)
CUDALINT_DRAW(double4, curand_uniform4_double)
CUDALINT_DRAW(float, curand_normal)
CUDALINT_DRAW(double, curand_normal_double)
CUDALINT_DRAW(float2, curand_normal2)
CUDALINT_DRAW(float4, curand_normal4)
CUDALINT_DRAW(double2, curand_normal2_double)
CUDALINT_DRAW(double4, curand_normal4_double)
#undef CUDALINT_DRAW
template <class State> __device__ float curand_log_normal(State *state, float mean, float deviation);
template <class State> __device__ double curand_log_normal_double(State *state, double mean, double deviation);
template <class State> __device__ unsigned curand_poisson(State *state, double lambda);
template <class State> __device__ uint4 curand_poisson4(State *state, double lambda);
template <class State> __device__ unsigned curand_discrete(State *state, curandDiscreteDistribution_t distribution);
curandStatus_t curandMakeMTGP32Constants(const mtgp32_params_fast_t params[], mtgp32_kernel_params_t *p);
curandStatus_t curandMakeMTGP32KernelState(curandStateMtgp32_t *states, mtgp32_params_fast_t params[],
                                           mtgp32_kernel_params_t *k, int n, unsigned long long seed);
#endif
#endif
