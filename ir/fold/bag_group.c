/* bag_group: the places of ids, row by row.
 * SPDX-License-Identifier: Apache-2.0 */
#include "ir/bag.h"

#include "ir/fold/fold.h"
#include "ir/hooks.h"

#include <stdlib.h>

typedef struct occurrence {
    int64_t row, position;
} occurrence;

static int compare_occurrences(const void *left, const void *right) {
    const occurrence *a = left, *b = right;
    int64_t x = a->row == b->row ? a->position : a->row;
    int64_t y = a->row == b->row ? b->position : b->row;
    return (x > y) - (x < y);
}

/* The ids that are rows, in the order of rows and then of places. */
static ig_status collect_rows(ig_eval *eval, const ig_op *op, uint32_t table,
                              const ig_tensor *ids, occurrence **out,
                              int64_t *out_count) {
    int64_t rows, count = 0;
    IG_TRY(
        ig_eval_extent(eval, op, op->attrs[IG_bag_group_rows].as.dims[table], &rows));
    IG_TRY(ig_eval_scratch(eval, op, ids->count + 1, sizeof **out, out));
    for (int64_t i = 0; i < ids->count; i++) {
        int64_t id = ig_tensor_get_i64(ids, i);
        if (id < -1 || id >= rows || id >= IG_BAG_GROUP_ROWS) {
            return FOLD_ERROR(
                eval, op,
                "table %u: id %lld at position %lld, expected -1 <= id < %lld", table,
                (long long)id, (long long)i, (long long)rows);
        }
        (*out)[count] = (occurrence){ id, i };
        count += id >= 0;
    }
    qsort(*out, (size_t)count, sizeof **out, compare_occurrences);
    *out_count = count;
    return IG_OK;
}

ig_status ig_fold_bag_group(ig_eval *eval, const ig_op *op, const ig_tensor *const *in,
                            ig_tensor *out) {
    for (uint32_t t = 0; t < op->operand_count; t++) {
        occurrence *list;
        int64_t count = 0;
        ig_tensor *results = &out[2 * (size_t)t];
        IG_TRY(collect_rows(eval, op, t, in[t], &list, &count));
        IG_TRY(ig_eval_alloc(eval, op, IG_DT_i64, 1, in[t]->dims, &results[0]));
        IG_TRY(ig_eval_alloc(eval, op, IG_DT_i64, 1, in[t]->dims, &results[1]));
        for (int64_t i = 0; i < in[t]->count; i++) {
            ig_tensor_set_i64(&results[0], i, i < count ? list[i].row : -1);
            ig_tensor_set_i64(&results[1], i, i < count ? list[i].position : -1);
        }
    }
    return IG_OK;
}
