/* Sequences of tensors.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A result owns copies of its items: nothing is shared, so that an operand's memory can
 * go when its last user is done.
 */
#include "ir/fold/fold.h"
#include "ir/hooks.h"

#include "base/checked.h"

#include <string.h>

/* Room for `count` items. */
static ig_status make_items(ig_eval *eval, const ig_op *op, ig_kind kind, int64_t count,
                            ig_tensor *out) {
    size_t bytes;
    memset(out, 0, sizeof *out);
    out->kind = kind;
    out->count = count;
    if (ig_mul_size((size_t)count, sizeof *out->items, &bytes)) {
        out->items = ig_arena_try_alloc(eval->arena, bytes);
    }
    if (!out->items) {
        return FOLD_FAIL(eval, op, IG_LIMIT, "%s: no memory for %lld items",
                         ig_ops[op->code].name, (long long)count);
    }
    return IG_OK;
}

static ig_status make_sequence(ig_eval *eval, const ig_op *op, int64_t count,
                               ig_tensor *out) {
    IG_TRY(make_items(eval, op, IG_SEQUENCE, count, out));
    out->dtype = (ig_dtype)op->results[0].type->element->dtype;
    return IG_OK;
}

static ig_status copy_tensor(ig_eval *eval, const ig_op *op, const ig_tensor *from,
                             ig_tensor *to) {
    IG_TRY(ig_eval_alloc(eval, op, from->dtype, from->rank, from->dims, to));
    ig_span_copy(to, 0, from, 0, from->count);
    return IG_OK;
}

/* A tensor, or a sequence of tensors. */
static ig_status copy_value(ig_eval *eval, const ig_op *op, const ig_tensor *from,
                            ig_tensor *to) {
    if (from->kind == IG_TENSOR) {
        return copy_tensor(eval, op, from, to);
    }
    IG_TRY(make_items(eval, op, from->kind, from->count, to));
    to->dtype = from->dtype;
    for (int64_t i = 0; i < from->count; i++) {
        IG_TRY(copy_tensor(eval, op, &from->items[i], &to->items[i]));
    }
    return IG_OK;
}

/* A position from the end when negative; `last` is the largest that is allowed. */
static ig_status read_position(ig_eval *eval, const ig_op *op, const ig_tensor *operand,
                               int64_t count, int64_t last, int64_t *out_position) {
    int64_t value = operand->count == 1 ? ig_tensor_get_i64(operand, 0) : INT64_MIN;
    if (operand->count != 1 || value < -count || value > last) {
        return FOLD_ERROR(eval, op,
                          "%s: position %lld is outside of a sequence of %lld items",
                          ig_ops[op->code].name, (long long)value, (long long)count);
    }
    *out_position = value < 0 ? value + count : value;
    return IG_OK;
}

ig_status ig_fold_seq_empty(ig_eval *eval, const ig_op *op, const ig_tensor *const *in,
                            ig_tensor *out) {
    (void)in;
    return make_sequence(eval, op, 0, out);
}

ig_status ig_fold_seq_make(ig_eval *eval, const ig_op *op, const ig_tensor *const *in,
                           ig_tensor *out) {
    IG_TRY(make_sequence(eval, op, op->operand_count, out));
    for (uint32_t i = 0; i < op->operand_count; i++) {
        IG_TRY(copy_tensor(eval, op, in[i], &out->items[i]));
    }
    return IG_OK;
}

ig_status ig_fold_seq_insert(ig_eval *eval, const ig_op *op, const ig_tensor *const *in,
                             ig_tensor *out) {
    int64_t count = in[0]->count, position = count;
    if (op->operand_count > 2) {
        IG_TRY(read_position(eval, op, in[2], count, count, &position));
    }
    IG_TRY(make_sequence(eval, op, count + 1, out));
    for (int64_t i = 0; i <= count; i++) {
        const ig_tensor *from = i == position ? in[1]
                                              : &in[0]->items[i - (i > position)];
        IG_TRY(copy_tensor(eval, op, from, &out->items[i]));
    }
    return IG_OK;
}

ig_status ig_fold_seq_erase(ig_eval *eval, const ig_op *op, const ig_tensor *const *in,
                            ig_tensor *out) {
    int64_t count = in[0]->count, position = count - 1;
    if (op->operand_count > 1) {
        IG_TRY(read_position(eval, op, in[1], count, count - 1, &position));
    }
    if (count == 0) {
        return FOLD_ERROR(eval, op, "seq_erase: the sequence is empty");
    }
    IG_TRY(make_sequence(eval, op, count - 1, out));
    for (int64_t i = 0; i + 1 < count; i++) {
        IG_TRY(
            copy_tensor(eval, op, &in[0]->items[i + (i >= position)], &out->items[i]));
    }
    return IG_OK;
}

ig_status ig_fold_seq_at(ig_eval *eval, const ig_op *op, const ig_tensor *const *in,
                         ig_tensor *out) {
    int64_t count = in[0]->count, position;
    IG_TRY(read_position(eval, op, in[1], count, count - 1, &position));
    return copy_value(eval, op, &in[0]->items[position], out);
}

ig_status ig_fold_seq_length(ig_eval *eval, const ig_op *op, const ig_tensor *const *in,
                             ig_tensor *out) {
    IG_TRY(ig_eval_alloc(eval, op, IG_DT_i64, 0, NULL, out));
    ig_tensor_set_i64(out, 0, in[0]->count);
    return IG_OK;
}

ig_status ig_fold_opt_none(ig_eval *eval, const ig_op *op, const ig_tensor *const *in,
                           ig_tensor *out) {
    (void)in;
    return make_items(eval, op, IG_OPTIONAL, 0, out);
}

ig_status ig_fold_opt_make(ig_eval *eval, const ig_op *op, const ig_tensor *const *in,
                           ig_tensor *out) {
    IG_TRY(make_items(eval, op, IG_OPTIONAL, 1, out));
    return copy_value(eval, op, in[0], out->items);
}

/* ---- joining ---- */

static ig_status join_extents(ig_eval *eval, const ig_op *op, const ig_tensor *sequence,
                              uint32_t axis, bool is_stack, int64_t *dims) {
    const ig_tensor *first = &sequence->items[0];
    int64_t total = 0;
    for (int64_t i = 0; i < sequence->count; i++) {
        const ig_tensor *item = &sequence->items[i];
        bool is_equal = item->rank == first->rank;
        for (uint32_t d = 0; is_equal && d < first->rank; d++) {
            bool may_differ = d == axis && !is_stack;
            is_equal = may_differ || item->dims[d] == first->dims[d];
        }
        if (!is_equal || !ig_add_i64(total, is_stack ? 1 : item->dims[axis], &total)) {
            return FOLD_ERROR(
                eval, op,
                "seq_concat: the extents of item %lld do not fit those of item 0",
                (long long)i);
        }
    }
    uint32_t to = 0;
    for (uint32_t d = 0; d < first->rank + is_stack; d++) {
        dims[d] = d == axis ? total : first->dims[to];
        to += d != axis || !is_stack;
    }
    return IG_OK;
}

ig_status ig_fold_seq_concat(ig_eval *eval, const ig_op *op, const ig_tensor *const *in,
                             ig_tensor *out) {
    const ig_tensor *sequence = in[0];
    if (sequence->count == 0) {
        return FOLD_ERROR(eval, op,
                          "seq_concat: an empty sequence has no shape to join");
    }
    bool is_stack = ig_attr_int(op, IG_seq_concat_stack, 0);
    uint32_t rank = sequence->items[0].rank + is_stack;
    uint32_t axis = ig_axis_of(ig_attr_int(op, IG_seq_concat_axis, 0), rank);
    int64_t dims[IG_TENSOR_RANK + 1], to = 0;
    IG_TRY(join_extents(eval, op, sequence, axis, is_stack, dims));
    IG_TRY(ig_eval_alloc(eval, op, sequence->items[0].dtype, rank, dims, out));
    if (out->count == 0) {
        return IG_OK;
    }
    int64_t outer = ig_around_axis(out, axis).outer;
    for (int64_t o = 0; o < outer; o++) {
        for (int64_t i = 0; i < sequence->count; i++) {
            int64_t run = sequence->items[i].count / outer;
            ig_span_copy(out, to, &sequence->items[i], o * run, run);
            to += run;
        }
    }
    return IG_OK;
}

/* ---- splitting ---- */

/* Number of pieces; their sizes are those of operand 1, or all `*out_chunk` but for a
 * shorter last. */
static ig_status count_pieces(ig_eval *eval, const ig_op *op,
                              const ig_tensor *const *in, int64_t extent,
                              int64_t *out_pieces, int64_t *out_chunk) {
    *out_chunk = 1;
    if (op->operand_count > 1 && in[1]->rank == 1) {
        int64_t total = 0;
        bool is_good = true;
        for (int64_t i = 0; i < in[1]->count; i++) {
            int64_t size = ig_tensor_get_i64(in[1], i);
            is_good = is_good && size >= 0 && ig_add_i64(total, size, &total);
        }
        if (!is_good || total != extent) {
            return FOLD_ERROR(eval, op, "split_to_seq: the sizes do not add up to %lld",
                              (long long)extent);
        }
        *out_pieces = in[1]->count;
        return IG_OK;
    }
    if (op->operand_count > 1) {
        *out_chunk = ig_tensor_get_i64(in[1], 0);
    }
    if (*out_chunk <= 0) {
        return FOLD_ERROR(eval, op, "split_to_seq: pieces of %lld elements",
                          (long long)*out_chunk);
    }
    *out_pieces = ig_ceil_div(extent, *out_chunk);
    return IG_OK;
}

typedef struct piece {
    uint32_t axis;
    int64_t start, size; /* elements along the axis */
    bool keep;           /* the axis, also when the size is 1 */
} piece;

static ig_status cut_piece(ig_eval *eval, const ig_op *op, const ig_tensor *x,
                           const piece *p, ig_tensor *out) {
    int64_t dims[IG_TENSOR_RANK], to = 0;
    uint32_t rank = 0;
    for (uint32_t i = 0; i < x->rank; i++) {
        if (i != p->axis || p->keep) {
            dims[rank++] = i == p->axis ? p->size : x->dims[i];
        }
    }
    IG_TRY(ig_eval_alloc(eval, op, x->dtype, rank, dims, out));
    if (out->count == 0) {
        return IG_OK;
    }
    ig_around around = ig_around_axis(x, p->axis);
    int64_t run = p->size * around.inner;
    for (int64_t o = 0; o < around.outer; o++) {
        int64_t from = (o * around.extent + p->start) * around.inner;
        ig_span_copy(out, to, x, from, run);
        to += run;
    }
    return IG_OK;
}

ig_status ig_fold_split_to_seq(ig_eval *eval, const ig_op *op,
                               const ig_tensor *const *in, ig_tensor *out) {
    const ig_tensor *x = in[0];
    uint32_t axis = ig_axis_of(ig_attr_int(op, IG_split_to_seq_axis, 0), x->rank);
    bool has_list = op->operand_count > 1 && in[1]->rank == 1;
    bool keep = op->operand_count > 1 || ig_attr_int(op, IG_split_to_seq_keep, 0);
    int64_t extent = x->dims[axis], pieces = 0, chunk = 0;
    piece p = { .axis = axis, .keep = keep };
    IG_TRY(count_pieces(eval, op, in, extent, &pieces, &chunk));
    IG_TRY(make_sequence(eval, op, pieces, out));
    for (int64_t i = 0; i < pieces; i++) {
        int64_t rest = extent - p.start;
        p.size = has_list ? ig_tensor_get_i64(in[1], i) : chunk < rest ? chunk : rest;
        IG_TRY(cut_piece(eval, op, x, &p, &out->items[i]));
        p.start += p.size;
    }
    return IG_OK;
}
