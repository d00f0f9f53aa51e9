/* What infer hooks share, beside the checks of semantics/check.h.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_IR_INFER_INFER_H
#define IG_IR_INFER_INFER_H

#include "ir/semantics/check.h"

/* From here on texts between the ends of the module are addresses, of i64. */
void ig_infer_take_addresses(ig_module *module);

/* numpy's product of operands 0 and 1, which are tensors: its type, in the dtype of
 * operand 0. */
ig_status ig_check_product(const ig_op *op, bool transpose_a, bool transpose_b,
                           const ig_type **out_type);

/* The type of a conv or conv_integer whose operands have fitting ranks, in the dtype of
 * operand 0. */
ig_status ig_check_conv(const ig_op *op, const ig_type **out_type);

/* Two elements of a list of dims as one (fold_arith.c); false where a sum or a product
 * may leave i64, in which those of the run wrap. */
bool ig_dims_join_add(ig_module *module, ig_dim a, ig_dim b, ig_dim *out);
bool ig_dims_join_mul(ig_module *module, ig_dim a, ig_dim b, ig_dim *out);
bool ig_dims_join_min(ig_module *module, ig_dim a, ig_dim b, ig_dim *out);
bool ig_dims_join_max(ig_module *module, ig_dim a, ig_dim b, ig_dim *out);

#endif
