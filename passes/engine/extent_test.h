/* A test of an extent on which an `if` chooses.  SPDX-License-Identifier: Apache-2.0
 *
 *     %0 = dims {values = [L], scalar}        L == number, L != number, L > 0
 *     %1 = ne %0, %number
 *     if %1 { … } else { … }
 */
#ifndef IG_PASSES_ENGINE_EXTENT_TEST_H
#define IG_PASSES_ENGINE_EXTENT_TEST_H

#include "ir/ops.h"

typedef struct ig_extent_test {
    ig_module *module;
    ig_block *special; /* the body that runs where the extent is the number */
    ig_block *other;
    ig_dim *by_symbol; /* the number for the extent, of ig_dim_substitute */
} ig_extent_test;

/* Tables are of `arena`.  False: the `if` chooses by something else. */
bool ig_extent_test_read(const ig_op *op, ig_arena *arena, ig_extent_test *out);
/* `dim` where the extent is the number. */
ig_dim ig_extent_test_apply(const ig_extent_test *test, ig_dim dim);

#endif
