/* Families of kernels: which one an op starts, from the `lower` column of ops.def.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_PASSES_PLACE_FAMILIES_H
#define IG_PASSES_PLACE_FAMILIES_H

#include "ir/ops.h"

/* "gemm", "map", "view" …; "none" when the op never becomes a kernel. */
const char *ig_op_family(ig_opcode code);
/* A kernel of its own, around which elementwise ops may be fused? */
bool ig_family_is_anchor(const char *family);
/* May elementwise ops on its result go into its kernel? */
bool ig_family_has_epilogue(const char *family);
/* Must this operand be contiguous along its last dim? */
bool ig_family_needs_unit_stride(const char *family, uint32_t operand);

/* May it go over its first extent block by block, when nothing in it mixes rows? */
bool ig_family_is_row_local(const char *family);

#endif
