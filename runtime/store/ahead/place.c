/* Ids by the rules of a bag (ir/fold/bag.c, use_of_id), of the whole table.
 * SPDX-License-Identifier: Apache-2.0 */
#include "runtime/store/ahead/place.h"

static int64_t id_at(const ig_view *ids, size_t i) {
    return ids->dtype == IG_I32 ? ((const int32_t *)ids->data)[i]
                                : ((const int64_t *)ids->data)[i];
}

int64_t ig_lookahead_row(int negative, int range, int64_t padding, int64_t rows,
                         int64_t id) {
    bool is_wrong_below = id < 0 && negative == IG_STORED_NEGATIVE_WRONG;
    int64_t row = id;
    if (id < 0 && negative == IG_STORED_NEGATIVE_WRAP) {
        row += rows;
    }
    if (padding != INT64_MIN && row == padding) {
        return IG_ROW_PADDING;
    }
    if (id == -1 && negative == IG_STORED_NEGATIVE_SKIP) {
        return IG_ROW_SKIPPED;
    }
    if (row >= 0 && row < rows) {
        return row;
    }
    if (rows == 0 || is_wrong_below || range == IG_STORED_RANGE_ERROR) {
        return id < 0 && negative != IG_STORED_NEGATIVE_WRAP ? IG_ROW_BELOW
                                                             : IG_ROW_BEYOND;
    }
    return row < 0 || range == IG_STORED_RANGE_FIRST ? 0 : rows - 1;
}

size_t ig_placing_ids(ig_placing *p, int64_t base, int64_t *wanted,
                      int64_t *positions) {
    size_t count = 0;
    for (size_t i = 0; i < p->count; i++) {
        int64_t id = id_at(p->ids, i),
                row = ig_lookahead_row((int)p->how->negative, (int)p->how->range,
                                       p->how->padding, p->rows, id);
        if (row >= 0) {
            positions[i] = base + (int64_t)count;
            wanted[count++] = row;
            continue;
        }
        positions[i] = row;
        if (row <= IG_ROW_BELOW && !p->is_wrong) {
            p->is_wrong = true;
            p->first_wrong = id;
        }
    }
    return count;
}

/* -2 and INT32_MAX are no row under any rule that leaves an id wrong. */
static int64_t position_of(int64_t position) {
    return position == IG_ROW_SKIPPED   ? -1
           : position == IG_ROW_PADDING ? IG_SPARE_PADDING
           : position == IG_ROW_BELOW   ? -2
                                        : INT32_MAX;
}

size_t ig_placing_rows(const ig_placing *p, const int64_t *positions,
                       const int64_t *rows, void *out) {
    size_t missing = 0;
    for (size_t i = 0; i < p->count; i++) {
        int64_t at = positions[i] < 0 ? position_of(positions[i]) : rows[positions[i]];
        if (positions[i] >= 0 && at < 0) {
            at = IG_SPARE_MISSING;
            missing++;
        }
        if (p->ids->dtype == IG_I32) {
            ((int32_t *)out)[i] = (int32_t)at;
        } else {
            ((int64_t *)out)[i] = at;
        }
    }
    return missing;
}
