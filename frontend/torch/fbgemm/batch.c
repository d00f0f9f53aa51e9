/* FBGEMM's selection of rows from several matrices in one call.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Matrices [rows, columns] follow one another in one flat tensor, and so do the
 * indices of the rows that are picked from each.  The result is flat, too: matrix by
 * matrix, or row by row where as many are picked from each (permuted).
 */
#include "frontend/torch/fbgemm/fbgemm.h"

enum { INPUTS, INDICES, COUNTS, ROWS, COLUMNS, PERMUTED };

static const ig_dim *known_extents(ig_ts_call *call, uint32_t index, const char *what,
                                   uint32_t *out_count) {
    const int64_t *values = ig_fb_known(call, index, what, out_count);
    ig_dim *dims = IG_NEW_ARRAY(call->arena, ig_dim, (size_t)*out_count + 1);
    for (uint32_t i = 0; values && i < *out_count; i++) {
        if (!ig_dim_from(values[i], &dims[i])) {
            ig_expr_note(call->e,
                         ig_ts_fail(call, IG_INVALID,
                                    "entry %u of %s is %lld, expected 0 or more", i,
                                    what, (long long)values[i]));
            return NULL;
        }
    }
    return values ? dims : NULL;
}

/* Argument `index`: a list of ints, or (variant 1) a constant tensor. */
static const ig_dim *extents_of(ig_ts_call *call, uint32_t index, const char *what,
                                uint32_t *out_count) {
    const ig_dim *dims = NULL;
    *out_count = 0;
    if (call->row->variant == 1) {
        return known_extents(call, index, what, out_count);
    }
    bool is_good = call->e->status == IG_OK &&
                   ig_expr_note(call->e, ig_ts_dims(call, index, 0, &dims, out_count));
    return is_good ? dims : NULL;
}

typedef struct batch {
    ig_ts_call *call;
    const ig_dim *counts, *rows, *columns;
    uint32_t count;
} batch;

static ig_status read_batch(batch *b) {
    uint32_t rows, columns;
    b->counts = extents_of(b->call, COUNTS, "input_num_indices", &b->count);
    b->rows = extents_of(b->call, ROWS, "input_rows", &rows);
    b->columns = extents_of(b->call, COLUMNS, "input_columns", &columns);
    if (b->count == 0 || rows != b->count || columns != b->count) {
        return ig_ts_fail(
            b->call, IG_INVALID,
            "%u counts, %u rows and %u columns are given, expected as many of each and at least one",
            b->count, rows, columns);
    }
    return IG_OK;
}

ig_status ig_ts_op_fb_batch_select(ig_ts_call *call) {
    batch b = { .call = call };
    ig_module *module = call->module;
    ig_dim from = ig_dim_of(0), first = ig_dim_of(0);
    ig_value *inputs = ig_expr_flatten(call->e, ig_aten_tensor(call, INPUTS));
    ig_value *indices = ig_expr_flatten(call->e, ig_fb_arg(call, INDICES, IG_DT_i64));
    bool is_permuted = ig_aten_bool(call, PERMUTED);
    IG_TRY(read_batch(&b));
    ig_value **parts = IG_NEW_ARRAY(call->arena, ig_value *, b.count);
    for (uint32_t i = 0; i < b.count; i++) {
        ig_dim dims[] = { b.rows[i], b.columns[i] };
        ig_dim size = ig_dim_mul(module, dims[0], dims[1]);
        ig_value *matrix = ig_expr_slice(call->e, inputs, 0, from, size, 1);
        matrix = ig_expr_reshape(call->e, matrix, 2, dims);
        ig_value *picks = ig_expr_slice(call->e, indices, 0, first, b.counts[i], 1);
        parts[i] = ig_compose_take_rows(call->e, matrix, picks);
        parts[i] = is_permuted ? parts[i] : ig_expr_flatten(call->e, parts[i]);
        from = ig_dim_add(module, from, size);
        first = ig_dim_add(module, first, b.counts[i]);
        if (is_permuted) {
            ig_expr_guard_equal(call->e, b.counts[i], b.counts[0],
                                "the inputs must have equal numbers of rows");
            IG_TRY(call->e->status);
        }
    }
    ig_value *all = ig_expr_concat(call->e, is_permuted, parts, b.count);
    return ig_aten_give(call, ig_expr_flatten(call->e, all));
}
