/* The second factor of matmul_bits: a row of bytes for each column of the product, in
 * blocks that have a scale and a zero point each.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_IR_SEMANTICS_BITS_H
#define IG_IR_SEMANTICS_BITS_H

#include "ir/ops.h"

/* Kernels load so many bytes of a block at once, at least. */
enum { IG_BITS_LANES = 4 };

typedef struct ig_bits {
    int64_t bits;  /* of a number: 2, 4 or 8 */
    int64_t parts; /* numbers of a byte */
    int64_t bytes; /* of a row, or 0: not known */
    int64_t block; /* bytes of a block, or 0: not known, or no blocks of one size */
} ig_bits;

/* What the attribute and the types of a matmul_bits say. */
ig_bits ig_bits_of(const ig_op *op);

#endif
