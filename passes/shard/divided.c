/* From the shards of a table to its parts.
 * SPDX-License-Identifier: Apache-2.0 */
#include "passes/shard/divided.h"

#include "passes/shard/local.h"

#include <stdlib.h>
#include <string.h>

#define DIVIDE_ERROR(op, ...)                                                      \
    ig_error(&ig_op_module(op)->context->diag, IG_UNSUPPORTED, ig_op_location(op), \
             __VA_ARGS__)

static int compare_shards(const void *a, const void *b) {
    const ig_shard *x = a, *y = b;
    if (x->column != y->column) {
        return x->column < y->column ? -1 : 1;
    }
    return (x->row > y->row) - (x->row < y->row);
}

/* The shards that have elements, in order. */
static ig_shard *list_shards(const ig_op *op, ig_arena *arena, uint32_t *out_count) {
    ig_shard *shards = IG_NEW_ARRAY(arena, ig_shard, ig_shard_count(op));
    *out_count = 0;
    for (uint32_t i = 0; i < ig_shard_count(op); i++) {
        ig_shard shard = ig_shard_at(op, i);
        if (shard.rows > 0 && shard.columns > 0) {
            shards[(*out_count)++] = shard;
        }
    }
    if (*out_count) {
        qsort(shards, *out_count, sizeof *shards, compare_shards);
    }
    return shards;
}

/* The position of each shard among the rows of its rank; what this rank has. */
static void place_shards(ig_shard_part *part, int64_t rank) {
    for (uint32_t i = 0; i < part->count; i++) {
        bool is_first = true;
        for (uint32_t k = 0; k < i; k++) {
            if (part->ranks[k] == part->ranks[i]) {
                part->bases[i] += part->rows[k];
                is_first = false;
            }
        }
        part->rank_count += is_first;
        part->own += part->ranks[i] == rank ? part->rows[i] : 0;
    }
}

static ig_status make_part(const ig_divided *d, ig_arena *arena, const ig_shard *shards,
                           uint32_t count, ig_shard_part *part) {
    *part = (ig_shard_part){ .column = shards[0].column,
                             .columns = shards[0].columns,
                             .count = count };
    part->starts = IG_NEW_ARRAY(arena, int64_t, count);
    part->rows = IG_NEW_ARRAY(arena, int64_t, count);
    part->ranks = IG_NEW_ARRAY(arena, int64_t, count);
    part->bases = IG_NEW_ARRAY(arena, int64_t, count);
    int64_t rows = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (shards[i].columns != part->columns) {
            return DIVIDE_ERROR(
                d->op,
                "table '%s': shards from column %lld on have %lld and %lld columns; "
                "shards of the same first column must have equal width",
                ig_table_name(d->op->operands[0].value), (long long)part->column,
                (long long)part->columns, (long long)shards[i].columns);
        }
        part->starts[i] = shards[i].row;
        part->rows[i] = shards[i].rows;
        part->ranks[i] = shards[i].rank;
        rows += shards[i].rows;
    }
    place_shards(part, d->rank);
    return rows == d->rows
               ? IG_OK
               : DIVIDE_ERROR(
                     d->op,
                     "table '%s': shards from column %lld on have %lld of "
                     "%lld rows; all shards of a column must begin at that column",
                     ig_table_name(d->op->operands[0].value), (long long)part->column,
                     (long long)rows, (long long)d->rows);
}

/* Adjacent columns with the same rows are one part. */
static bool is_continued(const ig_shard_part *a, const ig_shard_part *b) {
    size_t bytes = a->count * sizeof *a->starts;
    return a->column + a->columns == b->column && a->count == b->count &&
           memcmp(a->starts, b->starts, bytes) == 0 &&
           memcmp(a->ranks, b->ranks, bytes) == 0;
}

static ig_status make_parts(ig_divided *d, ig_arena *arena) {
    uint32_t count, end;
    ig_shard *shards = list_shards(d->op, arena, &count);
    d->parts = IG_NEW_ARRAY(arena, ig_shard_part, count);
    for (uint32_t i = 0; i < count; i = end) {
        for (end = i + 1; end < count && shards[end].column == shards[i].column;) {
            end++;
        }
        ig_shard_part *part = &d->parts[d->count];
        IG_TRY(make_part(d, arena, shards + i, end - i, part));
        if (d->count && is_continued(part - 1, part)) {
            part[-1].columns += part->columns;
        } else {
            d->count++;
        }
    }
    return IG_OK;
}

ig_status ig_divide_parts(ig_op *op, ig_arena *arena, ig_divided *out) {
    const ig_type *type = op->results->type;
    *out = (ig_divided){ .op = op,
                         .world = ig_attr_int(op, IG_shard_world, 1),
                         .rank = ig_attr_int(op, IG_shard_rank, 0),
                         .of = ig_attr_int(op, IG_shard_of, 0),
                         .wire = (ig_dtype)ig_attr_int(op, IG_shard_wire, IG_DT_f32),
                         .is_distinct = ig_attr_int(op, IG_shard_distinct, 0) };
    bool is_known = ig_dim_known(type->dims[0], &out->rows);
    bool is_whole = !is_known || !ig_attr_is_set(op, IG_shard_parts);
    if (is_whole || out->world == 1 ||
        ig_dim_is(ig_type_count(ig_op_module(op), type), 0)) {
        return IG_OK; /* nothing to divide */
    }
    return make_parts(out, arena);
}

ig_status ig_divide(ig_op *op, ig_arena *arena, ig_divided *out) {
    IG_TRY(ig_divide_parts(op, arena, out));
    for (uint32_t i = 0; i < out->count; i++) {
        if (out->parts[i].own) {
            IG_TRY(ig_make_local(out, i));
        }
    }
    return IG_OK;
}
