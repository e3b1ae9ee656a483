/* hipRAND, whose types are those of cuRAND under other names. What is not declared here is made up. */
#ifndef CUDALINT_HIPRAND_H
#define CUDALINT_HIPRAND_H
#include "../hip/hip_runtime_api.h"
#include "../curand.h"

#define HIPRAND_STATUS_SUCCESS CURAND_STATUS_SUCCESS
#define HIPRAND_STATUS_ALLOCATION_FAILED CURAND_STATUS_ALLOCATION_FAILED
#define HIPRAND_RNG_PSEUDO_DEFAULT CURAND_RNG_PSEUDO_DEFAULT
#define HIPRAND_RNG_PSEUDO_XORWOW CURAND_RNG_PSEUDO_XORWOW
#define HIPRAND_RNG_PSEUDO_MRG32K3A CURAND_RNG_PSEUDO_MRG32K3A
#define HIPRAND_RNG_PSEUDO_MTGP32 CURAND_RNG_PSEUDO_MTGP32
#define HIPRAND_RNG_PSEUDO_MT19937 CURAND_RNG_PSEUDO_MT19937
#define HIPRAND_RNG_PSEUDO_PHILOX4_32_10 CURAND_RNG_PSEUDO_PHILOX4_32_10
#define HIPRAND_RNG_QUASI_DEFAULT CURAND_RNG_QUASI_DEFAULT
#define HIPRAND_RNG_QUASI_SOBOL32 CURAND_RNG_QUASI_SOBOL32

typedef curandStatus_t hiprandStatus_t;
typedef curandRngType_t hiprandRngType_t;
typedef curandGenerator_t hiprandGenerator_t;
typedef curandDiscreteDistribution_t hiprandDiscreteDistribution_t;

CUDALINT_BEGIN
hiprandStatus_t hiprandCreateGenerator(hiprandGenerator_t *generator, hiprandRngType_t type);
hiprandStatus_t hiprandCreateGeneratorHost(hiprandGenerator_t *generator, hiprandRngType_t type);
hiprandStatus_t hiprandDestroyGenerator(hiprandGenerator_t generator);
hiprandStatus_t hiprandCreatePoissonDistribution(double lambda, hiprandDiscreteDistribution_t *distribution);
hiprandStatus_t hiprandDestroyDistribution(hiprandDiscreteDistribution_t distribution);
hiprandStatus_t hiprandGenerateUniform(hiprandGenerator_t generator, float *out, size_t n);
hiprandStatus_t hiprandGenerateUniformDouble(hiprandGenerator_t generator, double *out, size_t n);
hiprandStatus_t hiprandGenerateNormal(hiprandGenerator_t generator, float *out, size_t n, float mean, float deviation);
hiprandStatus_t hiprandGenerate(hiprandGenerator_t generator, unsigned *out, size_t n);
hiprandStatus_t hiprandSetStream(hiprandGenerator_t generator, hipStream_t stream);
#define F(name) CUDALINT_FUNCTION(hiprandStatus_t, hiprand##name)
F(SetPseudoRandomGeneratorSeed) F(SetGeneratorOffset) F(GenerateNormalDouble) F(GenerateLogNormal)
F(GeneratePoisson)
#undef F
CUDALINT_END
#endif
