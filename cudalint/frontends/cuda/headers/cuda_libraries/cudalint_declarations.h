/* For the headers beside this one: small declarations of libraries whose own headers come with
   hundreds of megabytes. Types and the functions that make and destroy something are exact; others
   are declared without parameters, so that every call is accepted. */
#ifndef CUDALINT_DECLARATIONS_H
#define CUDALINT_DECLARATIONS_H

#ifdef __cplusplus
#define CUDALINT_ANYTHING ...
#define CUDALINT_BEGIN extern "C" {
#define CUDALINT_END }
#else
#define CUDALINT_ANYTHING
#define CUDALINT_BEGIN
#define CUDALINT_END
#endif

/* An opaque handle: struct <tag> *<name>. */
#define CUDALINT_HANDLE(name, tag) typedef struct tag *name;
/* Functions that take anything and give a status. */
#define CUDALINT_FUNCTION(status, name) status name(CUDALINT_ANYTHING);

#include <stddef.h>
#include <stdint.h>
#include <cuda_runtime_api.h>
#include <library_types.h>
#include <cuComplex.h>

#endif
