/* bounds: ids and offsets made to fit their tables.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Bag by bag, in order, as FBGEMM's bounds_check_indices on CPUs:
 *
 *     the last offset becomes the number of ids
 *     a bag's begin is moved into 0 … ids, its end into begin … ids; the end is the
 *     next bag's begin, so offsets never fall
 *     an id of the bag that is neither -1 nor a row of the bag's table becomes 0
 */
#include "ir/fold/fold.h"
#include "ir/hooks.h"

#include <string.h>

typedef struct bounds {
    ig_tensor *ids, *offsets; /* results */
    const ig_tensor *rows;
    int64_t bags; /* of each table */
    int64_t wrong;
} bounds;

static int64_t clamp_index(int64_t x, int64_t low, int64_t high) {
    return x < low ? low : x > high ? high : x;
}

static void check_bag(bounds *b, int64_t bag) {
    int64_t ids = b->ids->count, rows = ig_tensor_get_i64(b->rows, bag / b->bags);
    int64_t begin = ig_tensor_get_i64(b->offsets, bag);
    int64_t end = ig_tensor_get_i64(b->offsets, bag + 1);
    b->wrong += begin < 0 || begin > end || end > ids;
    begin = clamp_index(begin, 0, ids);
    end = clamp_index(end, begin, ids);
    ig_tensor_set_i64(b->offsets, bag, begin);
    ig_tensor_set_i64(b->offsets, bag + 1, end);
    for (int64_t i = begin; i < end; i++) {
        int64_t id = ig_tensor_get_i64(b->ids, i);
        if (id < -1 || id >= rows) {
            b->wrong++;
            ig_tensor_set_i64(b->ids, i, 0);
        }
    }
}

static ig_status copy_bounds(ig_eval *eval, const ig_op *op, const ig_tensor *from,
                             ig_tensor *out) {
    IG_TRY(ig_eval_alloc(eval, op, from->dtype, 1, from->dims, out));
    memcpy(out->data, from->data, (size_t)ig_tensor_bytes(from));
    return IG_OK;
}

ig_status ig_fold_bounds(ig_eval *eval, const ig_op *op, const ig_tensor *const *in,
                         ig_tensor *out) {
    int64_t one = 1, offsets = in[1]->count, tables = in[2]->count;
    IG_TRY(copy_bounds(eval, op, in[0], &out[0]));
    IG_TRY(copy_bounds(eval, op, in[1], &out[1]));
    IG_TRY(ig_eval_alloc(eval, op, IG_DT_i64, 1, &one, &out[2]));
    if (offsets < 1 || (tables == 0 ? offsets != 1 : (offsets - 1) % tables != 0)) {
        return FOLD_ERROR(eval, op, "bounds: %lld offsets do not belong to %lld tables",
                          (long long)offsets, (long long)tables);
    }
    bounds b = { .ids = &out[0], .offsets = &out[1], .rows = in[2] };
    b.bags = tables ? (offsets - 1) / tables : 0;
    b.wrong = ig_tensor_get_i64(b.offsets, offsets - 1) != b.ids->count;
    ig_tensor_set_i64(b.offsets, offsets - 1, b.ids->count);
    for (int64_t bag = 0; bag < offsets - 1; bag++) {
        check_bag(&b, bag);
    }
    if (b.wrong && ig_attr_int(op, IG_bounds_range, 0) == IG_RANGE_error) {
        return FOLD_ERROR(eval, op, "bounds: %lld ids or offsets are out of range",
                          (long long)b.wrong);
    }
    ig_tensor_set_i64(&out[2], 0, b.wrong);
    return IG_OK;
}
