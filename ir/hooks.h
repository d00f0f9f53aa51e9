/* The hooks that the rows of ops.def name: declared here by expanding the table itself.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A name may be in several rows; declaring a function twice is harmless, and a name
 * without a definition is a link error.  `none` is declared like any other but never
 * defined: the table that takes the columns maps ig_infer_none and its sisters to NULL.
 *
 * infer   reads operand types and attributes, writes one type a result, reports errors.
 *         Run again on a typed op it gives the same types: symbols that it made
 *         for extents that depend on data are taken from the results' present types.
 * fold    may take for granted that infer accepted the op; extents and values are
 *         checked here, since only now are they known.  Results are new memory.
 * dims    in[i] is NULL when nothing is known of operand i.
 * check   of kernel form: operands already match the letters of the row.
 * run     of kernel form: one step of a thread; the op has been verified.
 */
#ifndef IG_IR_HOOKS_H
#define IG_IR_HOOKS_H

#include "ir/ops.h"

#define OP(name, min, max, outs, bodies, stages, traits, infer, fold, dims, expand, \
           grad, lower, attrs)                                                      \
    ig_status ig_infer_##infer(ig_op *op, const ig_type **out_types);               \
    ig_status ig_fold_##fold(ig_eval *eval, const ig_op *op,                        \
                             const ig_tensor *const *in, ig_tensor *out);           \
    bool ig_dims_##dims(const ig_op *op, const ig_dims_value *const *in,            \
                        ig_dims_value *out);
#define KERNEL(name, operands, results, check, run)                               \
    void ig_verify_kernel_##check(struct ig_verifier *verifier, const ig_op *op); \
    ig_status ig_kernel_run_##run(struct ig_kernel_thread *thread, const ig_op *op);
#include "ir/ops.def"
#undef OP

#endif
