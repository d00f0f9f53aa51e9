/* Elementwise ops on spans of elements: scalar.def, evaluated.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Both interpreters compute with this: one element after the other, plainly. */
#ifndef IG_IR_SEMANTICS_SCALAR_H
#define IG_IR_SEMANTICS_SCALAR_H

#include "ir/graph.h"
#include "ir/tensor/span.h"

/* Is the op a row of scalar.def, and defined on this class? */
bool ig_scalar_is_row(ig_opcode code);
bool ig_scalar_supports(ig_opcode code, ig_dtype_class class);
/* The class in which an op on these operands is evaluated. */
ig_dtype_class ig_scalar_class(const ig_dtype *dtypes, uint32_t count);

typedef struct ig_scalar_call {
    ig_opcode code;
    bool flags[2]; /* the op's first two BOOL attributes */
    bool saturate; /* of a cast */
    uint32_t arity;
    ig_span operands[3];
    ig_tensor *out;    /* result dtype and memory */
    int64_t out_index; /* elements out_index … out_index + count are written */
    int64_t count;
} ig_scalar_call;

/* Fills in code and flags from an op's attributes. */
void ig_scalar_call_init(ig_scalar_call *call, const ig_op *op);
/* -1, or the element (from 0) at which an integer was divided by zero. */
int64_t ig_scalar_apply(const ig_scalar_call *call);

#endif
