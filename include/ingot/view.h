/* Tensors in memory that somebody else owns; ingot/runtime.h includes this.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef INGOT_VIEW_H
#define INGOT_VIEW_H

#include <stddef.h>
#include <stdint.h>

#include <ingot/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Element types; the numbers are ONNX's. */
typedef enum ig_dtype_code {
    IG_F32 = 1,
    IG_U8 = 2,
    IG_I8 = 3,
    IG_U16 = 4,
    IG_I16 = 5,
    IG_I32 = 6,
    IG_I64 = 7,
    IG_STR8 = 8, /* const char *: bytes that end in 0, NULL is the empty text */
    IG_BOOL8 = 9,
    IG_F16 = 10,
    IG_F64 = 11,
    IG_U32 = 12,
    IG_U64 = 13,
    IG_BF16 = 16,
    IG_F8E4M3FN = 17,
    IG_F8E4M3FNUZ = 18,
    IG_F8E5M2 = 19,
    IG_F8E5M2FNUZ = 20,
    IG_U4 = 21,
    IG_I4 = 22,
    IG_F4E2M1 = 23,
    IG_F8E8M0 = 24,
    IG_U2 = 25,
    IG_I2 = 26
} ig_dtype_code;

enum { IG_MAX_RANK = 8 };

/* Where a tensor's memory is. */
typedef enum ig_memory_kind {
    IG_MEMORY_HOST,
    IG_MEMORY_CUDA, /* of the GPU number `device` */
} ig_memory_kind;

/* A row-major tensor in memory that somebody else owns. */
typedef struct ig_view {
    void *data;
    size_t capacity; /* input: bytes at data, or 0 for "as many as the shape needs";
                        * output: bytes that may be written, or 0: session's memory */
    int32_t dtype;   /* ig_dtype_code; outputs: set by the run */
    uint32_t rank;   /* outputs: set by the run, and dims */
    int64_t dims[IG_MAX_RANK];
    int32_t memory; /* ig_memory_kind */
    int32_t device; /* its number among those of the kind */
} ig_view;

/* Bytes that the elements take; -1 when an extent is negative, the type is unknown, or
 * there are more than fit. */
IG_API int64_t ig_view_bytes(const ig_view *view);

#ifdef __cplusplus
}
#endif
#endif
