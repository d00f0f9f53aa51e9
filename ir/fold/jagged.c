/* jagged_to_padded and padded_to_jagged.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A part's end may be past x where its rows that are taken are not: the first `length`
 * of them.  Lengths of hostile offsets pass i64, so they are counted in u64.
 */
#include "ir/fold/fold.h"
#include "ir/hooks.h"

#include <string.h>

static int64_t row_elements(const ig_tensor *x, uint32_t first) {
    int64_t elements = 1;
    for (uint32_t d = first; d < x->rank; d++) {
        elements *= x->dims[d];
    }
    return elements;
}

static ig_status check_offsets_count(ig_eval *eval, const ig_op *op,
                                     const ig_tensor *offsets) {
    return offsets->count > 0
               ? IG_OK
               : FOLD_ERROR(eval, op, "%s: expected an offset more than parts",
                            ig_ops[op->code].name);
}

/* ---- jagged to padded ---- */

typedef struct part {
    int64_t begin, rows; /* in x; as many as the result has */
} part;

/* Part b, of which `length` rows are taken at most. */
static ig_status find_part(ig_eval *eval, const ig_op *op, const ig_tensor *const *in,
                           int64_t b, int64_t length, part *out) {
    int64_t all = in[0]->dims[0], begin = ig_tensor_get_i64(in[1], b);
    int64_t end = ig_tensor_get_i64(in[1], b + 1);
    uint64_t size = end > begin ? (uint64_t)end - (uint64_t)begin : 0;
    *out = (part){ begin, size < (uint64_t)length ? (int64_t)size : length };
    bool is_begin_in = begin >= 0 && begin <= all;
    if (out->rows == 0 || (is_begin_in && out->rows <= all - begin)) {
        return IG_OK;
    }
    return FOLD_ERROR(
        eval, op,
        "jagged_to_padded: offset %lld at position %lld is outside of 0..%lld",
        (long long)(begin < 0 ? begin : end), (long long)(begin < 0 ? b : b + 1),
        (long long)all);
}

ig_status ig_fold_jagged_to_padded(ig_eval *eval, const ig_op *op,
                                   const ig_tensor *const *in, ig_tensor *out) {
    const ig_tensor *x = in[0];
    ig_dim dim = op->attrs[IG_jagged_to_padded_length].as.dim;
    double padding = ig_attr_float(op, IG_jagged_to_padded_padding, 0);
    int64_t dims[IG_TENSOR_RANK], length, row = row_elements(x, 1);
    part own;
    IG_TRY(check_offsets_count(eval, op, in[1]));
    IG_TRY(ig_eval_extent(eval, op, dim, &length));
    dims[0] = in[1]->count - 1;
    dims[1] = length;
    memcpy(dims + 2, x->dims + 1, (x->rank - 1) * sizeof *dims);
    IG_TRY(ig_eval_alloc(eval, op, x->dtype, x->rank + 1, dims, out));
    for (int64_t b = 0; b < dims[0]; b++) {
        int64_t to = b * length * row;
        IG_TRY(find_part(eval, op, in, b, length, &own));
        if (own.rows > 0 && row > 0) {
            ig_span_copy(out, to, x, own.begin * row, own.rows * row);
        }
        for (int64_t i = own.rows * row; i < length * row; i++) {
            ig_tensor_set_f64(out, to + i, padding);
        }
    }
    return IG_OK;
}

/* ---- padded to jagged ---- */

static ig_status check_rising(ig_eval *eval, const ig_op *op,
                              const ig_tensor *offsets) {
    for (int64_t i = 1; i < offsets->count; i++) {
        int64_t own = ig_tensor_get_i64(offsets, i);
        if (own < ig_tensor_get_i64(offsets, i - 1)) {
            return FOLD_ERROR(
                eval, op,
                "padded_to_jagged: offset %lld at position %lld is less than the one before",
                (long long)own, (long long)i);
        }
    }
    return IG_OK;
}

static ig_status read_rows(ig_eval *eval, const ig_op *op, const ig_tensor *const *in,
                           int64_t *out_rows) {
    if (op->operand_count < 3) {
        ig_dim rows = op->attrs[IG_padded_to_jagged_rows].as.dim;
        return ig_eval_extent(eval, op, rows, out_rows);
    }
    int64_t rows = ig_tensor_get_i64(in[2], 0);
    *out_rows = rows > 0 ? rows : 0;
    return IG_OK;
}

ig_status ig_fold_padded_to_jagged(ig_eval *eval, const ig_op *op,
                                   const ig_tensor *const *in, ig_tensor *out) {
    const ig_tensor *x = in[0], *offsets = in[1];
    int64_t dims[IG_TENSOR_RANK], row = row_elements(x, 2), length = x->dims[1];
    IG_TRY(check_offsets_count(eval, op, offsets));
    if (x->dims[0] != offsets->count - 1) {
        return FOLD_ERROR(eval, op,
                          "padded_to_jagged: %lld parts in %lld rows of parts",
                          (long long)(offsets->count - 1), (long long)x->dims[0]);
    }
    IG_TRY(read_rows(eval, op, in, &dims[0]));
    memcpy(dims + 1, x->dims + 2, (x->rank - 2) * sizeof *dims);
    IG_TRY(ig_eval_alloc(eval, op, x->dtype, x->rank - 1, dims, out));
    IG_TRY(dims[0] > 0 ? check_rising(eval, op, offsets) : IG_OK);
    for (int64_t t = 0, b = 0; t < dims[0] && row > 0; t++) {
        while (b < x->dims[0] && ig_tensor_get_i64(offsets, b + 1) <= t) {
            b++;
        }
        int64_t begin = b < x->dims[0] ? ig_tensor_get_i64(offsets, b) : INT64_MAX;
        uint64_t n = (uint64_t)t - (uint64_t)begin;
        if (begin <= t && n < (uint64_t)length) {
            ig_span_copy(out, t * row, x, (b * length + (int64_t)n) * row, row);
        }
    }
    return IG_OK;
}
