/* Families of kernels: the table of the `lower` column of ops.def.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_IR_FAMILIES_H
#define IG_IR_FAMILIES_H

#include "ir/graph.h"

typedef enum ig_kernel_family {
    IG_FAMILY_none, /* never a kernel */
#define FAMILY(name, traits, unit_strides, whole) IG_FAMILY_##name,
#include "ir/families.def"
#undef FAMILY
    IG_FAMILY_COUNT
} ig_kernel_family;

typedef enum ig_family_trait {
    IG_FAMILY_ANCHOR = 1 << 0,   /* starts a kernel, around which others may be fused */
    IG_FAMILY_EPILOGUE = 1 << 1, /* elementwise ops on its result go into its kernel */
    IG_FAMILY_ROWS = 1 << 2,     /* may go over its first extent block by block */
    IG_FAMILY_STRIDED = 1 << 3,  /* writes results with any strides */
    IG_FAMILY_IMAGES = 1 << 4,   /* the same as ROWS, of rows that are large */
} ig_family_trait;

#define IG_ALL_OPERANDS UINT32_MAX /* of unit_strides: however many there are */

/* Reductions of one tensor that a kernel does together, at most. */
enum { IG_REDUCE_TOGETHER = 4 };

/* Columns of the values of attention that a kernel takes, at most. */
enum { IG_ATTENTION_VALUES = 256 };

typedef struct ig_family_info {
    const char *name;
    uint32_t traits;
    uint32_t unit_strides; /* bit per operand: contiguous along its last dim */
    uint32_t whole;        /* bit per operand: row-major, without gaps */
} ig_family_info;

extern const ig_family_info ig_families[IG_FAMILY_COUNT];

/* "gemm" is IG_FAMILY_gemm; IG_FAMILY_none for a name that no row has. */
ig_kernel_family ig_family_find(const char *name);
/* The family that a region (fused, compute) names, else the one that the op starts. */
ig_kernel_family ig_op_family(const ig_op *op);
bool ig_family_has(ig_kernel_family family, ig_family_trait trait);
/* Must this operand be contiguous along its last dim? */
bool ig_family_needs_unit_stride(ig_kernel_family family, uint32_t operand);
/* Must it be row-major, without gaps? */
bool ig_family_needs_whole(ig_kernel_family family, uint32_t operand);

#endif
