/* matmul_panels, matmul_quads: products with a matrix in panels of 16 columns.
 * SPDX-License-Identifier: Apache-2.0 */
#include "ir/semantics/panels.h"
#include "ir/semantics/chains.h"

#include "ir/hooks.h"
#include "ir/semantics/check.h"

/* [rows, columns]; whether registers hold it is for the schedule to say. */
static ig_status check_tile(const ig_op *op) {
    const ig_attr *tile = &op->attrs[IG_matmul_panels_tile];
    if (tile->kind != IG_ATTR_INTS) {
        return IG_OK;
    }
    if (tile->count != 2 || tile->as.ints[0] < 1 || tile->as.ints[1] < 1 ||
        tile->as.ints[1] % IG_PANEL != 0) {
        return INFER_ERROR(op, "tile takes rows, and columns in multiples of %d",
                           IG_PANEL);
    }
    return IG_OK;
}

/* The panels' dtype is a's, or a narrower one that is widened exactly. */
static ig_status check_dtypes(const ig_op *op) {
    ig_dtype a = (ig_dtype)ig_operand_type(op, 0)->dtype;
    ig_dtype b = (ig_dtype)ig_operand_type(op, 1)->dtype;
    bool is_byte = b == IG_DT_i8 || b == IG_DT_u8;
    bool is_narrow = b == IG_DT_f16 || b == IG_DT_bf16 || is_byte;
    if (op->operand_count > 2 && !is_byte) {
        return INFER_ERROR(op, "zero points are of panels of i8 or u8");
    }
    return a == IG_DT_f32 && is_narrow ? IG_OK : ig_check_same_dtype(op, 0, 1);
}

static ig_dtype result_dtype(const ig_op *op, ig_dtype a) {
    bool is_wide = ig_attr_int(op, IG_matmul_panels_wide, 0) != 0;
    bool is_narrow = ig_dtype_is_float(a) && ig_dtypes[a].bits < 32;
    return is_wide && is_narrow ? IG_DT_f32 : a;
}

/* A number for each column of the panels. */
static ig_status check_zeros(const ig_op *op) {
    const ig_type *panels = ig_operand_type(op, 1);
    ig_dim shared = ig_dim_of(0);
    if (op->operand_count < 3) {
        return IG_OK;
    }
    IG_TRY(ig_check_rank(op, 2, 2));
    IG_TRY(ig_check_same_dtype(op, 1, 2));
    IG_TRY(ig_check_extent(op, 2, 0, panels->dims[0], "panels", &shared));
    return ig_check_extent(op, 2, 1, ig_dim_of(IG_PANEL), "columns of a panel",
                           &shared);
}

ig_status ig_infer_matmul_panels(ig_op *op, const ig_type **out_types) {
    ig_module *module = ig_op_module(op);
    IG_TRY(ig_check_rank(op, 0, 2));
    IG_TRY(ig_check_rank(op, 1, 3));
    IG_TRY(check_dtypes(op));
    int64_t columns = ig_attr_int(op, IG_matmul_panels_columns, -1);
    if (columns < 1) {
        return INFER_ERROR(op, "columns is %lld, expected at least 1",
                           (long long)columns);
    }
    IG_TRY(check_tile(op));
    ig_dim shared = ig_dim_of(0);
    const ig_type *a = ig_operand_type(op, 0);
    IG_TRY(ig_check_extent(op, 1, 0, ig_dim_of((columns + IG_PANEL - 1) / IG_PANEL),
                           "panels", &shared));
    IG_TRY(ig_check_extent(op, 1, 1, a->dims[1], "the columns of operand 0", &shared));
    IG_TRY(
        ig_check_extent(op, 1, 2, ig_dim_of(IG_PANEL), "columns of a panel", &shared));
    IG_TRY(check_zeros(op));
    ig_dim dims[] = { a->dims[0], ig_dim_of(columns) };
    out_types[0] = ig_type_tensor(module, result_dtype(op, (ig_dtype)a->dtype), 2,
                                  dims);
    return IG_OK;
}

static double dot_panel(const ig_tensor *a, const ig_tensor *b, const ig_tensor *zeros,
                        int64_t m, int64_t n) {
    int64_t depth = a->dims[1];
    double sum = 0.0, zero = zeros ? ig_tensor_get_f64(zeros, n) : 0.0;
    for (int64_t k = 0; k < depth; k++) {
        int64_t position = ((n / IG_PANEL) * depth + k) * IG_PANEL + n % IG_PANEL;
        sum += ig_tensor_get_f64(a, m * depth + k) *
               (ig_tensor_get_f64(b, position) - zero);
    }
    return sum;
}

ig_status ig_fold_matmul_panels(ig_eval *eval, const ig_op *op,
                                const ig_tensor *const *in, ig_tensor *out) {
    const ig_tensor *a = in[0], *b = in[1];
    const ig_tensor *zeros = op->operand_count > 2 ? in[2] : NULL;
    int64_t dims[] = { a->dims[0], ig_attr_int(op, IG_matmul_panels_columns, 0) };
    ig_dtype dtype = result_dtype(op, a->dtype);
    IG_TRY(ig_tensor_alloc(eval->arena, eval->context, dtype, 2, dims, out));
    for (int64_t m = 0; m < dims[0]; m++) {
        for (int64_t n = 0; n < dims[1]; n++) {
            ig_tensor_set_f64(out, m * dims[1] + n, dot_panel(a, b, zeros, m, n));
        }
    }
    return IG_OK;
}

/* ---- 8-bit integers ---- */

static int64_t ceil_of(int64_t count, int64_t unit) {
    return count / unit + (count % unit != 0);
}

ig_status ig_check_chain(const ig_op *op, uint32_t slot, ig_dim *quads) {
    ig_dim shared = ig_dim_of(0);
    int64_t chain = ig_attr_int(op, slot, 0);
    if (chain < 0 || chain > IG_CHAIN_MAX) {
        return INFER_ERROR(op, "chain is %lld, expected at most %d", (long long)chain,
                           IG_CHAIN_MAX);
    }
    if (op->operand_count < 3) {
        return IG_OK;
    }
    const ig_type *panels = ig_operand_type(op, 1), *targets = ig_operand_type(op, 2);
    IG_TRY(ig_check_rank(op, 2, 2));
    IG_TRY(ig_check_dtype(op, 2, IG_DT_i32));
    IG_TRY(ig_check_extent(op, 2, 0, panels->dims[0], "panels", &shared));
    if (chain == 0 || ig_dim_is(targets->dims[1], 0)) {
        return INFER_ERROR(op, "places are of chains, i32 [panels, 1 + extra quads]");
    }
    ig_module *module = ig_op_module(op);
    *quads = ig_dim_add(module, *quads, targets->dims[1]);
    *quads = ig_dim_sub(module, *quads, ig_dim_of(1));
    return IG_OK;
}

int64_t ig_chain_target(const ig_tensor *targets, int64_t panel, int64_t extra,
                        int64_t depth) {
    int64_t room = targets->dims[1], row = panel * room;
    int64_t count = ig_tensor_get_i64(targets, row);
    if (extra >= count || extra >= room - 1 || depth == 0) {
        return -1;
    }
    int64_t position = ig_tensor_get_i64(targets, row + 1 + extra);
    return position < 0 ? 0 : position < depth ? position : depth - 1;
}

ig_status ig_infer_matmul_quads(ig_op *op, const ig_type **out_types) {
    ig_module *module = ig_op_module(op);
    IG_TRY(ig_check_rank(op, 0, 2));
    IG_TRY(ig_check_rank(op, 1, 4));
    IG_TRY(ig_check_dtype(op, 0, IG_DT_u8));
    IG_TRY(ig_check_dtype(op, 1, IG_DT_i8));
    int64_t columns = ig_attr_int(op, IG_matmul_quads_columns, -1);
    if (columns < 1) {
        return INFER_ERROR(op, "columns is %lld, expected at least 1",
                           (long long)columns);
    }
    ig_dim shared = ig_dim_of(0);
    const ig_type *a = ig_operand_type(op, 0);
    ig_dim quads = ig_dim_ceil_div(module, a->dims[1], ig_dim_of(IG_QUAD));
    IG_TRY(ig_check_chain(op, IG_matmul_quads_chain, &quads));
    IG_TRY(ig_check_extent(op, 1, 0, ig_dim_of(ceil_of(columns, IG_PANEL)), "panels",
                           &shared));
    IG_TRY(ig_check_extent(op, 1, 1, quads, "quads of operand 0", &shared));
    IG_TRY(
        ig_check_extent(op, 1, 2, ig_dim_of(IG_PANEL), "columns of a panel", &shared));
    IG_TRY(
        ig_check_extent(op, 1, 3, ig_dim_of(IG_QUAD), "elements of a quad", &shared));
    ig_dim dims[] = { a->dims[0], ig_dim_of(columns) };
    out_types[0] = ig_type_tensor(module, IG_DT_i32, 2, dims);
    return IG_OK;
}

/* Quad `k` of a row of a times quad `at` of a column's panel. */
static int64_t dot_quad(const ig_tensor *const *in, int64_t row, int64_t column,
                        int64_t k, int64_t at) {
    const ig_tensor *a = in[0], *b = in[1];
    int64_t depth = a->dims[1], sum = 0;
    int64_t quad = column / IG_PANEL * b->dims[1] + at;
    int64_t position = (quad * IG_PANEL + column % IG_PANEL) * IG_QUAD;
    for (int64_t i = 0; i < IG_QUAD && k * IG_QUAD + i < depth; i++) {
        sum += ig_tensor_get_i64(a, row * depth + k * IG_QUAD + i) *
               ig_tensor_get_i64(b, position + i);
    }
    return sum;
}

/* A row of a times a column; places: NULL where panels have no extra quads. */
static int64_t dot_quads(const ig_tensor *const *in, const ig_tensor *targets,
                         int64_t row, int64_t column) {
    int64_t quads = ceil_of(in[0]->dims[1], IG_QUAD), extra = 0;
    uint64_t sum = 0;
    for (int64_t k = 0; k < quads; k++) {
        sum += (uint64_t)dot_quad(in, row, column, k, k);
    }
    for (int64_t k; targets && (k = ig_chain_target(targets, column / IG_PANEL, extra,
                                                    quads)) >= 0;
         extra++) {
        sum += (uint64_t)dot_quad(in, row, column, k, quads + extra);
    }
    return (int64_t)sum;
}

ig_status ig_fold_matmul_quads(ig_eval *eval, const ig_op *op,
                               const ig_tensor *const *in, ig_tensor *out) {
    int64_t dims[] = { in[0]->dims[0], ig_attr_int(op, IG_matmul_quads_columns, 0) };
    const ig_tensor *targets = op->operand_count > 2 ? in[2] : NULL;
    IG_TRY(ig_tensor_alloc(eval->arena, eval->context, IG_DT_i32, 2, dims, out));
    for (int64_t i = 0; i < out->count; i++) {
        ig_tensor_set_i64(out, i, dot_quads(in, targets, i / dims[1], i % dims[1]));
    }
    return IG_OK;
}
