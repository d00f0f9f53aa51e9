/* Dropout, and finding it again where nothing is to be dropped.
 * SPDX-License-Identifier: Apache-2.0 */
#include "compose/dropout.h"

ig_value *ig_compose_dropout(ig_expr *e, ig_value *x, const ig_dropout *how,
                             ig_value **out_kept) {
    if (e->status != IG_OK) {
        return NULL;
    }
    const ig_type *type = x->type;
    ig_random_attrs attrs = { .dtype = IG_DT_f32,
                              .shape = { type->dims, type->rank },
                              .kind = IG_RANDOM_uniform,
                              .seed = IG_SET(how->seed & UINT32_MAX),
                              .number = IG_SET(how->index) };
    ig_value *draw = ig_build_random(e, ig_build_run_number(e), attrs);
    ig_value *is_kept = ig_build_ge(e, draw, how->ratio);
    ig_value *wide = ig_expr_widen(e, x);
    ig_value *scale = ig_build_recip(e,
                                     ig_expr_number_with(e, IG_OP_sub, 1, how->ratio));
    /* Where all are dropped: 0 times infinity would be the gradient. */
    ig_value *has_any = ig_expr_with(e, IG_OP_lt, how->ratio, 1);
    scale = ig_build_where(e, has_any, scale, ig_expr_number(e, IG_DT_f32, 0));
    wide = ig_build_mul(e, wide, ig_expr_like(e, scale, wide));
    if (e->status != IG_OK) {
        return NULL;
    }
    if (out_kept) {
        *out_kept = is_kept;
    }
    ig_value *none = ig_expr_number(e, (ig_dtype)wide->type->dtype, 0);
    return ig_expr_like(e, ig_build_where(e, is_kept, wide, none), x);
}

/* The value of which the choice `op` drops elements, by `kept`; NULL: it is no
 * dropout. */
static ig_value *find_whole(ig_op *op, const ig_value *kept) {
    bool is_choice = op->code == IG_OP_where && op->operands[0].value == kept;
    ig_op *scaled = is_choice ? ig_def(op->operands[1].value, IG_OP_mul) : NULL;
    bool has_none = scaled && ig_def(op->operands[2].value, IG_OP_const);
    ig_value *x = has_none ? scaled->operands[0].value : NULL;
    return x && x->type == op->results->type ? x : NULL;
}

/* Elements that a draw has kept: all of them are. */
static void keep_all(ig_op *compared) {
    ig_value *kept = compared->results;
    bool is_dropout = false;
    for (ig_use *use = kept->uses; use; use = use->next) {
        ig_value *x = find_whole(use->user, kept);
        is_dropout |= x != NULL;
        if (x) {
            ig_value_replace(use->user->results, x);
        }
    }
    if (is_dropout) {
        ig_builder builder = ig_builder_before(compared);
        ig_expr e = ig_expr_of(&builder);
        ig_value_replace(
            kept, ig_expr_fill(&e, IG_DT_bool, kept->type->rank, kept->type->dims, 1));
    }
}

void ig_dropout_undo(ig_op *op) {
    if (op->code != IG_OP_random ||
        ig_attr_int(op, IG_random_kind, 0) != IG_RANDOM_uniform) {
        return;
    }
    for (ig_use *use = op->results->uses; use; use = use->next) {
        if (use->user->code == IG_OP_ge && use == &use->user->operands[0]) {
            keep_all(use->user);
        }
    }
}
