/* unique, nonzero and bucketize: which elements there are, and where.
 * SPDX-License-Identifier: Apache-2.0 */
#include "ir/fold/order.h"
#include "ir/hooks.h"

#include <math.h>
#include <string.h>

/* ---- unique ---- */

/* Blocks numbered 0 … count - 1, and which of them are new in which place. */
typedef struct classes {
    ig_block_of blocks;
    int64_t count;
    int64_t *indices; /* blocks in the order in which they are looked at */
    int64_t *class_of, *first, *copies; /* of a block; of a class; of a class */
    int64_t class_count;
} classes;

static ig_status find_blocks(ig_eval *eval, const ig_op *op, const ig_tensor *x,
                             classes *c) {
    c->blocks = (ig_block_of){ .x = x, .outer = 1, .inner = 1, .element_step = 1 };
    c->count = x->count;
    if (ig_attr_is_set(op, IG_unique_axis)) {
        uint32_t axis = ig_axis_of(ig_attr_int(op, IG_unique_axis, 0), x->rank);
        ig_around around = { 1, x->dims[axis], 1 };
        for (uint32_t d = 0; d < x->rank; d++) {
            around.outer *= d < axis ? x->dims[d] : 1;
            around.inner *= d > axis ? x->dims[d] : 1;
        }
        c->blocks.outer = around.outer;
        c->blocks.inner = around.inner;
        c->blocks.element_step = around.inner;
        c->blocks.outer_step = around.extent * around.inner;
        c->count = around.extent;
    }
    IG_TRY(ig_eval_scratch(eval, op, c->count, 8, &c->indices));
    IG_TRY(ig_eval_scratch(eval, op, c->count, 8, &c->class_of));
    IG_TRY(ig_eval_scratch(eval, op, c->count, 8, &c->first));
    return ig_eval_scratch(eval, op, c->count, 8, &c->copies);
}

/* Neighbours that are equal are one class; the first of them stood first. */
static void find_runs(classes *c) {
    for (int64_t i = 0; i < c->count; i++) {
        int64_t block = c->indices[i];
        bool is_new = i == 0 ||
                      ig_blocks_compare(&c->blocks, 0, c->indices[i - 1], block) != 0;
        if (is_new) {
            c->first[c->class_count++] = block;
        }
        c->class_of[block] = c->class_count - 1;
        c->copies[c->class_count - 1]++;
    }
}

/* Numbers the classes by where they stood first. */
static ig_status order_by_first(ig_eval *eval, const ig_op *op, classes *c) {
    int64_t *new_index, *copies, next = 0;
    IG_TRY(ig_eval_scratch(eval, op, c->class_count, 8, &new_index));
    IG_TRY(ig_eval_scratch(eval, op, c->count, 8, &copies));
    for (int64_t block = 0; block < c->count; block++) {
        int64_t class = c->class_of[block];
        if (c->first[class] == block) {
            copies[next] = c->copies[class];
            new_index[class] = next++;
        }
    }
    for (int64_t block = c->count; block-- > 0;) {
        c->class_of[block] = new_index[c->class_of[block]];
        c->first[c->class_of[block]] = block;
    }
    c->copies = copies;
    return IG_OK;
}

static ig_status write_classes(ig_eval *eval, const ig_op *op, const classes *c,
                               ig_tensor *out) {
    const ig_tensor *x = c->blocks.x;
    bool has_axis = ig_attr_is_set(op, IG_unique_axis);
    int64_t dims[IG_TENSOR_RANK] = { c->class_count };
    if (has_axis) {
        memcpy(dims, x->dims, sizeof dims);
        dims[ig_axis_of(ig_attr_int(op, IG_unique_axis, 0), x->rank)] = c->class_count;
    }
    IG_TRY(ig_eval_alloc(eval, op, x->dtype, has_axis ? x->rank : 1, dims, &out[0]));
    IG_TRY(ig_eval_alloc(eval, op, IG_DT_i64, 1, &c->class_count, &out[1]));
    IG_TRY(ig_eval_alloc(eval, op, IG_DT_i64, 1, &c->count, &out[2]));
    IG_TRY(ig_eval_alloc(eval, op, IG_DT_i64, 1, &c->class_count, &out[3]));
    ig_span_write_i64(&out[1], 0, c->class_count, c->first);
    ig_span_write_i64(&out[2], 0, c->count, c->class_of);
    ig_span_write_i64(&out[3], 0, c->class_count, c->copies);
    int64_t inner = c->blocks.inner;
    for (int64_t o = 0; o < c->blocks.outer; o++) {
        for (int64_t k = 0; k < c->class_count; k++) {
            ig_span_copy(&out[0], (o * c->class_count + k) * inner, x,
                         o * c->blocks.outer_step + c->first[k] * inner, inner);
        }
    }
    return IG_OK;
}

ig_status ig_fold_unique(ig_eval *eval, const ig_op *op, const ig_tensor *const *in,
                         ig_tensor *out) {
    int64_t order = ig_attr_int(op, IG_unique_order, 0);
    classes c = { .class_count = 0 };
    int64_t *room;
    IG_TRY(find_blocks(eval, op, in[0], &c));
    IG_TRY(ig_eval_scratch(eval, op, c.count, 8, &room));
    if (order == IG_UNIQUE_runs) {
        for (int64_t i = 0; i < c.count; i++) {
            c.indices[i] = i;
        }
    } else {
        ig_blocks_sort(&c.blocks, 0, c.count, c.indices, room);
    }
    find_runs(&c);
    if (order == IG_UNIQUE_first) {
        IG_TRY(order_by_first(eval, op, &c));
    }
    return write_classes(eval, op, &c, out);
}

/* ---- nonzero ---- */

static bool is_nonzero(const ig_tensor *x, int64_t at) {
    return ig_dtype_is_float(x->dtype) ? ig_tensor_get_f64(x, at) != 0
                                       : ig_tensor_get_i64(x, at) != 0;
}

ig_status ig_fold_nonzero(ig_eval *eval, const ig_op *op, const ig_tensor *const *in,
                          ig_tensor *out) {
    const ig_tensor *x = in[0];
    int64_t dims[] = { 0, x->rank }, to = 0;
    for (int64_t i = 0; i < x->count; i++) {
        dims[0] += is_nonzero(x, i);
    }
    IG_TRY(ig_eval_alloc(eval, op, IG_DT_i64, 2, dims, out));
    ig_walk walk = { .operand_count = 0 };
    int64_t at = 0;
    for (ig_walk_start(&walk, x->rank, x->dims); walk.is_inside; ig_walk_next(&walk)) {
        if (is_nonzero(x, at++)) {
            ig_span_write_i64(out, to, x->rank, walk.index);
            to += x->rank;
        }
    }
    return IG_OK;
}

/* ---- bucketize ---- */

ig_status ig_fold_bucketize(ig_eval *eval, const ig_op *op, const ig_tensor *const *in,
                            ig_tensor *out) {
    const ig_tensor *x = in[0], *rows = in[1];
    bool is_right = ig_attr_int(op, IG_bucketize_right, 0) != 0;
    int64_t count = rows->dims[rows->rank - 1];
    int64_t shared = x->rank ? x->dims[x->rank - 1] : 1;
    for (uint32_t d = 0; rows->rank > 1 && d + 1 < rows->rank; d++) {
        if (rows->dims[d] != x->dims[d]) {
            return FOLD_ERROR(
                eval, op,
                "bucketize: axis %u has %lld elements in operand 0 and %lld in operand 1",
                d, (long long)x->dims[d], (long long)rows->dims[d]);
        }
    }
    IG_TRY(ig_eval_alloc(eval, op, IG_DT_i64, x->rank, x->dims, out));
    for (int64_t i = 0; i < x->count; i++) {
        int64_t row = rows->rank > 1 ? i / shared * count : 0, found = 0;
        while (found < count &&
               ig_element_compare(rows, row + found, x, i) < (is_right ? 1 : 0)) {
            found++;
        }
        ig_tensor_set_i64(out, i, found);
    }
    return IG_OK;
}
