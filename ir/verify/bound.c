/* The verifier: plans - a symbol has its value before an extent, a grid or a place uses
 * it.
 * SPDX-License-Identifier: Apache-2.0
 *
 * The extents of the inputs have theirs when the call is bound.  Others learn it on the
 * way: from `let`, from `bind`, and as the number of a loop's trip.  A buffer may be
 * named before that, since it comes to life with its first use; a use before that would
 * be of a buffer of the wrong size.
 */
#include "ir/verify/verifier.h"

static void bind_symbol(void *user, uint32_t symbol) {
    ig_verifier *v = user;
    ig_map_set_id(&v->bound, symbol, v);
}

static void bind_dim(ig_verifier *v, ig_dim dim) {
    ig_dim_visit_symbols(v->module, dim, bind_symbol, v);
}

void ig_verify_bind_inputs(ig_verifier *v) {
    ig_map_init(&v->bound, v->arena);
    const ig_block *body = &v->graph->body;
    for (uint32_t i = 0; i < body->arg_count; i++) {
        const ig_type *type = body->args[i]->type;
        for (uint32_t d = 0; type && d < type->rank; d++) {
            bind_dim(v, type->dims[d]);
        }
    }
}

typedef struct mention {
    ig_verifier *v;
    const ig_op *op;
} mention;

/* A symbol defined as an expression gets its value from the symbols that it mentions,
 * which are visited too. */
static void check_symbol(void *user, uint32_t symbol) {
    mention *m = user;
    bool is_defined = !ig_dim_is(ig_symbol_at(m->v->module, symbol)->defined, 0);
    if (!is_defined && !ig_map_get_id(&m->v->bound, symbol)) {
        ig_verify_defect(m->v, m->op, "'%s' has no value yet",
                         ig_symbol_at(m->v->module, symbol)->name);
        ig_map_set_id(&m->v->bound, symbol, m->v); /* said once */
    }
}

static void check_dims(ig_verifier *v, const ig_op *op, const ig_dim *dims,
                       uint32_t count) {
    mention m = { v, op };
    for (uint32_t d = 0; d < count; d++) {
        ig_dim_visit_symbols(v->module, dims[d], check_symbol, &m);
    }
}

/* Checks the symbols that attribute `slot` of `holder` mentions, for `op`. */
static void check_attr(ig_verifier *v, const ig_op *op, const ig_op *holder,
                       uint32_t slot) {
    const ig_attr *attr = &holder->attrs[slot];
    if (attr->kind == IG_ATTR_DIM) {
        check_dims(v, op, &attr->as.dim, 1);
    } else if (attr->kind == IG_ATTR_DIMS) {
        check_dims(v, op, attr->as.dims, attr->count);
    }
}

static void bind_attr(ig_verifier *v, const ig_attr *attr) {
    if (attr->kind == IG_ATTR_DIM) {
        bind_dim(v, attr->as.dim);
    }
    for (uint32_t d = 0; attr->kind == IG_ATTR_DIMS && d < attr->count; d++) {
        bind_dim(v, attr->as.dims[d]);
    }
}

/* The attribute that gives symbols their value, + 1. */
static const uint8_t binders[IG_OP_COUNT] = {
    [IG_OP_bind] = 1 + IG_bind_symbols,
    [IG_OP_let] = 1 + IG_let_symbol,
    [IG_OP_loop] = 1 + IG_loop_trip,
    [IG_OP_rows] = 1 + IG_rows_symbol,
};

/* A buffer (or the part of it that a view shows) that an op reads or writes. */
static void check_use(ig_verifier *v, const ig_op *op, const ig_value *value) {
    uint32_t steps = v->graph->value_count; /* views of a broken graph may go round */
    while (value && steps-- > 0) {
        const ig_op *view = ig_def(value, IG_OP_view);
        check_dims(v, op, value->type->dims, value->type->rank);
        if (view) {
            check_attr(v, op, view, IG_view_offset);
            check_attr(v, op, view, IG_view_strides);
        }
        value = view ? ig_op_operand(view, 0) : NULL;
    }
}

static bool is_named_only(const ig_op *op) {
    return op->code == IG_OP_alloc || op->code == IG_OP_view;
}

void ig_verify_symbols(ig_verifier *v, const ig_op *op) {
    uint32_t binder = binders[op->code];
    if (is_named_only(op)) {
        return;
    }
    for (uint32_t i = 0; i < ig_ops[op->code].attr_count; i++) {
        if (i + 1 != binder) {
            check_attr(v, op, op, i);
        }
    }
    for (uint32_t i = 0; i < op->operand_count; i++) {
        check_use(v, op, op->operands[i].value);
    }
    if (binder) {
        bind_attr(v, &op->attrs[binder - 1]);
    }
}
