/* Products and convolutions in the forms that place makes of them, as they were.
 * SPDX-License-Identifier: Apache-2.0
 *
 *     panels [groups * ceil(columns / 16), depth, 16]  ->  [groups * columns, depth]
 *     x [N, s…, C]                                     ->  [N, C, s…]
 *
 * So a graph that was placed runs where there is no kernel for these, and has
 * gradients. */
#include "compose/decompose.h"

#include "ir/semantics/panels.h"

/* A row for each column, of the result's dtype; those beyond the last are left out. */
static ig_value *open_panels(ig_expr *e, const ig_op *op, ig_value *panels,
                             int64_t groups, int64_t columns) {
    const int64_t perm[] = { 0, 1, 3, 2 };
    ig_dim depth = panels->type->dims[1];
    ig_dim count = ig_dim_of((columns + IG_PANEL - 1) / IG_PANEL);
    ig_dim dims[] = { ig_dim_of(groups), count, depth, ig_dim_of(IG_PANEL) };
    ig_dim rows[] = { ig_dim_of(groups * columns), depth };
    ig_value *x = ig_expr_transpose(e, ig_expr_reshape(e, panels, 4, dims), perm);
    x = ig_expr_slice(e, ig_expr_merge_axes(e, x, 1, 2), 1, ig_dim_of(0),
                      ig_dim_of(columns), 1);
    return ig_expr_like(e, ig_expr_reshape(e, x, 2, rows), op->results);
}

bool ig_decompose_matmul_panels(ig_expr *e, const ig_op *op, ig_value **out_results) {
    int64_t columns = ig_attr_int(op, IG_matmul_panels_columns, 0);
    ig_value *x = ig_expr_like(e, op->operands[0].value, op->results);
    ig_value *w = open_panels(e, op, op->operands[1].value, 1, columns);
    if (op->operand_count > 2) {
        ig_value *zeros = ig_expr_unsqueeze(e, op->operands[2].value, 1);
        w = ig_build_sub(e, w, open_panels(e, op, zeros, 1, columns));
    }
    out_results[0] = ig_build_matmul(e, x, w, (ig_matmul_attrs){ .transpose_b = true });
    return true;
}

/* x and w [O, C / group, k…], their channels the second axis. */
static ig_value *convolve_last(ig_expr *e, ig_value *x, ig_value *w,
                               ig_conv_attrs attrs) {
    uint32_t last = x->type->rank - 1;
    x = ig_build_conv(e, ig_expr_move_axis(e, x, last, 1), w, NULL, attrs);
    return ig_expr_move_axis(e, x, 1, last);
}

bool ig_decompose_conv_panels(ig_expr *e, const ig_op *op, ig_value **out_results) {
    ig_conv_panels_attrs own = ig_conv_panels_attrs_of(op);
    ig_value *x = op->operands[0].value;
    int64_t groups = own.group.is_set ? own.group.value : 1;
    uint32_t space = x->type->rank - 2u;
    ig_value *w = open_panels(e, op, op->operands[1].value, groups, own.columns);
    ig_dim dims[IG_TENSOR_RANK] = { w->type->dims[0] };
    for (uint32_t d = 0; d < space; d++) {
        dims[1 + d] = ig_dim_of(own.kernel.items[d]);
    }
    dims[1 + space] = ig_dim_exact_div(e->module, x->type->dims[1 + space],
                                       ig_dim_of(groups));
    w = ig_expr_move_axis(e, ig_expr_reshape(e, w, 2 + space, dims), 1 + space, 1);
    ig_conv_attrs attrs = { .strides = own.strides,
                            .dilations = own.dilations,
                            .before = own.before,
                            .after = own.after,
                            .group = own.group };
    out_results[0] = convolve_last(e, x, w, attrs);
    return true;
}

/* Taken apart where the channels are known: they are the groups. */
bool ig_decompose_conv_channels(ig_expr *e, const ig_op *op, ig_value **out_results) {
    ig_conv_channels_attrs own = ig_conv_channels_attrs_of(op);
    ig_value *x = ig_expr_like(e, op->operands[0].value, op->results);
    ig_value *w = op->operands[1].value;
    uint32_t last = w->type->rank - 1u;
    int64_t channels;
    if (!ig_dim_constant(e->module, w->type->dims[last], &channels) || channels < 1) {
        return false;
    }
    if (op->operand_count > 2) {
        x = ig_build_sub(e, x, ig_expr_like(e, op->operands[2].value, x));
    }
    w = ig_expr_unsqueeze(e, ig_expr_move_axis(e, w, last, 0), 1);
    ig_conv_attrs attrs = { .strides = own.strides,
                            .dilations = own.dilations,
                            .before = own.before,
                            .after = own.after,
                            .group = IG_SET(channels) };
    out_results[0] = convolve_last(e, x, w, attrs);
    return true;
}
