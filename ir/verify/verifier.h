/* Inside the verifier: shared by verify*.c only.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Checks report and go on.  The walk (verify.c) looks at a block's ops in order, so at
 * an op every value defined before it is known, and of the checks of one op the later
 * ones run only when the earlier found nothing: they may take counts and kinds for
 * granted.
 */
#ifndef IG_IR_VERIFY_VERIFIER_H
#define IG_IR_VERIFY_VERIFIER_H

#include "ir/verify/verify.h"

typedef struct ig_defect {
    const ig_op *op; /* NULL: the graph as a whole */
    const char *message;
} ig_defect;

typedef struct ig_value_facts { /* by value id */
    const ig_value *value;      /* NULL: no value of the graph seen with this id */
    uint32_t references;        /* operands that name it */
    bool is_visible;
    bool is_written; /* plans: the buffer was a destination */
} ig_value_facts;

typedef struct ig_verifier {
    ig_module *module;
    const ig_graph *graph;
    ig_stage stage;  /* of the block at hand */
    ig_arena *arena; /* the module's; used for defects */
    bool has_types;  /* inferred types need not be checked again */
    ig_value_facts *facts;
    ig_map bound;       /* plans: symbols that have a value by now */
    bool has_committed; /* plans: the commit comes before the current op */
    IG_VEC(ig_defect) defects;
} ig_verifier;

void ig_verify_defect(ig_verifier *verifier, const ig_op *op, const char *format, ...)
    IG_PRINTF(3, 4);
/* "f32[B, 13]", for messages. */
const char *ig_verify_type(ig_verifier *verifier, const ig_type *type);

/* Counts, stage, attributes, operands, types against the op's row (op.c). */
void ig_verify_row(ig_verifier *verifier, const ig_op *op);
/* Is a value of that type valid at the current stage? */
bool ig_verify_fits_stage(const ig_verifier *verifier, const ig_type *type);
/* Bodies, their arguments and results (body.c). */
void ig_verify_bodies(ig_verifier *verifier, const ig_op *op);
/* Signature and states, once the graph's own ops are known to be linked rightly
 * (entry.c). */
void ig_verify_entry(ig_verifier *verifier);
/* Stage by stage (plan.c, kernel.c). */
void ig_verify_plan_op(ig_verifier *verifier, const ig_op *op);
/* Symbols of a plan (bound.c): before the first op; at each op, before its
 * bodies. */
void ig_verify_bind_inputs(ig_verifier *verifier);
void ig_verify_symbols(ig_verifier *verifier, const ig_op *op);
void ig_verify_kernel_args(ig_verifier *verifier);
void ig_verify_kernel_op(ig_verifier *verifier, const ig_op *op);

static inline const ig_type *ig_verify_operand(const ig_op *op, uint32_t index) {
    return op->operands[index].value->type;
}

#endif
