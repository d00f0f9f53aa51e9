/* Result types of shard, deal and the collectives.
 * SPDX-License-Identifier: Apache-2.0 */
#include "ir/shard.h"

#include "ir/hooks.h"
#include "ir/infer/infer.h"

#include <string.h>

static bool is_inside(int64_t first, int64_t count, int64_t max) {
    return first >= 0 && count >= 0 && first <= max && count <= max - first;
}

static bool do_overlap(ig_shard a, ig_shard b) {
    return a.row < b.row + b.rows && b.row < a.row + a.rows &&
           a.column < b.column + b.columns && b.column < a.column + a.columns;
}

/* Shards within the table, none over another, and together as large as it. */
static ig_status check_cover(const ig_op *op, int64_t rows, int64_t columns) {
    int64_t world = ig_attr_int(op, IG_shard_world, 0), left;
    if (__builtin_mul_overflow(rows, columns, &left)) {
        return INFER_ERROR(op, "the table is too large");
    }
    for (uint32_t i = 0; i < ig_shard_count(op); i++) {
        ig_shard shard = ig_shard_at(op, i);
        if (shard.rank < 0 || shard.rank >= world) {
            return INFER_ERROR(op, "part %u: there is no rank %lld among %lld", i,
                               (long long)shard.rank, (long long)world);
        }
        if (!is_inside(shard.row, shard.rows, rows) ||
            !is_inside(shard.column, shard.columns, columns)) {
            return INFER_ERROR(op, "part %u is not inside of %lld rows of %lld", i,
                               (long long)rows, (long long)columns);
        }
        for (uint32_t k = 0; k < i; k++) {
            if (do_overlap(shard, ig_shard_at(op, k))) {
                return INFER_ERROR(op, "parts %u and %u have elements in common", k, i);
            }
        }
        left -= shard.rows * shard.columns;
    }
    return left == 0 ? IG_OK
                     : INFER_ERROR(op, "%lld of the table's elements are in no part",
                                   (long long)left);
}

ig_status ig_infer_shard(ig_op *op, const ig_type **out_types) {
    const ig_type *type = out_types[0] = ig_operand_type(op, 0);
    int64_t world = ig_attr_int(op, IG_shard_world, 0), rows, columns;
    int64_t rank = ig_attr_int(op, IG_shard_rank, 0);
    if (!ig_table_name(op->operands[0].value) || type->rank != 2 ||
        !ig_dim_known(type->dims[0], &rows) || !ig_dim_known(type->dims[1], &columns)) {
        return INFER_ERROR(op,
                           "operand 0 is %s, expected a weight or table [rows, dim]",
                           ig_operand_text(op, 0));
    }
    if (world < 1 || world > IG_SHARD_WORLD_MAX || rank < 0 || rank >= world) {
        return INFER_ERROR(op, "there is no rank %lld in a world of %lld",
                           (long long)rank, (long long)world);
    }
    if (ig_attr_is_set(op, IG_shard_wire) &&
        !ig_dtype_is_float((ig_dtype)ig_attr_int(op, IG_shard_wire, 0)) &&
        ig_attr_int(op, IG_shard_wire, 0) != IG_DT_i8) {
        return INFER_ERROR(op, "rows cannot travel as '%s'",
                           ig_dtypes[ig_attr_int(op, IG_shard_wire, 0)].name);
    }
    int64_t chunks = ig_attr_int(op, IG_shard_chunks, 1);
    if (chunks < 1 || chunks > IG_SHARD_CHUNKS_MAX) {
        return INFER_ERROR(op,
                           "the batch cannot travel in %lld chunks, expected 1 to %d",
                           (long long)chunks, IG_SHARD_CHUNKS_MAX);
    }
    if (!ig_attr_is_set(op, IG_shard_parts)) {
        return IG_OK;
    }
    uint32_t count = op->attrs[IG_shard_parts].count;
    if (count % IG_SHARD_NUMBERS || count > IG_SHARD_NUMBERS * IG_SHARD_PARTS_MAX) {
        return INFER_ERROR(op,
                           "'parts' has %u numbers, expected %d for each of at most "
                           "%d parts",
                           count, IG_SHARD_NUMBERS, IG_SHARD_PARTS_MAX);
    }
    return check_cover(op, rows, columns);
}

/* ---- deal ---- */

static ig_status check_deal(const ig_op *op) {
    const ig_attr *starts = &op->attrs[IG_deal_starts];
    const ig_attr *ranks = &op->attrs[IG_deal_ranks];
    const ig_attr *bases = &op->attrs[IG_deal_bases];
    int64_t world = ig_attr_int(op, IG_deal_world, 0);
    if (!starts->count || ranks->count != starts->count ||
        bases->count != starts->count || world < 1 || world > IG_SHARD_WORLD_MAX) {
        return INFER_ERROR(op, "'starts', 'ranks' and 'bases' have an entry a shard");
    }
    for (uint32_t i = 0; i < starts->count; i++) {
        int64_t before = i ? starts->as.ints[i - 1] : 0, rank = ranks->as.ints[i];
        bool is_start = i ? starts->as.ints[i] >= before : starts->as.ints[0] == 0;
        if (!is_start || rank < 0 || rank >= world || bases->as.ints[i] < 0) {
            return INFER_ERROR(op, "shard %u: rows from %lld on cannot be at rank %lld",
                               i, (long long)starts->as.ints[i], (long long)rank);
        }
    }
    return IG_OK;
}

/* Different ranks among those of the shards. */
static int64_t count_ranks(const ig_attr *ranks) {
    int64_t count = 0;
    for (uint32_t i = 0; i < ranks->count; i++) {
        uint32_t k = 0;
        while (ranks->as.ints[k] != ranks->as.ints[i]) {
            k++;
        }
        count += k == i;
    }
    return count;
}

ig_status ig_infer_deal(ig_op *op, const ig_type **out_types) {
    ig_module *module = ig_op_module(op);
    bool has_weights = op->operand_count > 2;
    IG_TRY(check_deal(op));
    bool is_distinct = ig_attr_int(op, IG_deal_distinct, 0);
    if (is_distinct && (has_weights || ig_attr_int(op, IG_deal_keep, 0))) {
        return INFER_ERROR(op, "distinct ids have no weights, and no -1 is kept");
    }
    if (op->result_count != (has_weights ? 6 : 5)) {
        return INFER_ERROR(op, "it has %u results, expected 5, and one more of weights",
                           op->result_count);
    }
    for (uint32_t i = 0; i < op->operand_count; i++) {
        IG_TRY(ig_check_rank(op, i, 1));
        IG_TRY(i < 2 ? ig_check_dtype(op, i, IG_DT_i64) : ig_check_float(op, i));
    }
    ig_dim world = ig_dim_const(module, ig_attr_int(op, IG_deal_world, 0));
    ig_dim ranks = ig_dim_const(module, count_ranks(&op->attrs[IG_deal_ranks]));
    ig_dim bags = ig_dim_mul(module, ranks, ig_operand_type(op, 0)->dims[0]);
    ig_dim ids = ig_operand_type(op, 1)->dims[0];
    if (has_weights) {
        IG_TRY(ig_check_extent(op, 2, 0, ids, "that of the ids", NULL));
    }
    ig_dim dealt = ig_result_symbol(op, 2, 0, "dealt");
    out_types[0] = ig_type_tensor(module, IG_DT_i64, 1, &bags);
    out_types[1] = out_types[3] = ig_type_tensor(module, IG_DT_i64, 1, &world);
    out_types[2] = ig_type_tensor(module, IG_DT_i64, 1, &dealt);
    out_types[4] = ig_type_tensor(module, IG_DT_i64, 1, &ids);
    if (has_weights) {
        const ig_type *weights = ig_operand_type(op, 2);
        out_types[5] = ig_type_with_dims(module, weights, 1, &dealt);
    }
    return IG_OK;
}

/* ---- collectives ---- */

/* Operand `i` says how much is each rank's: as many as `*world`, when that is known. */
static ig_status check_counts(const ig_op *op, uint32_t i, int64_t *world) {
    int64_t extent;
    IG_TRY(ig_check_rank(op, i, 1));
    IG_TRY(ig_check_dtype(op, i, IG_DT_i64));
    bool is_known = ig_dim_known(ig_operand_type(op, i)->dims[0], &extent);
    if (!is_known || extent < 1 || extent > IG_SHARD_WORLD_MAX ||
        (*world && extent != *world)) {
        return INFER_ERROR(op, "operand %u is %s, expected one count for each rank", i,
                           ig_operand_text(op, i));
    }
    *world = extent;
    return IG_OK;
}

/* Operand `i` is a list of which ranks have parts. */
static ig_status check_list(const ig_op *op, uint32_t i) {
    const ig_type *list = ig_operand_type(op, i);
    bool is_known = list->rank > 0;
    for (uint32_t d = 1; d < list->rank; d++) {
        int64_t extent;
        is_known = is_known && ig_dim_known(list->dims[d], &extent);
    }
    return is_known ? IG_OK
                    : INFER_ERROR(op,
                                  "operand %u is %s, expected only its first extent to "
                                  "differ from rank to rank",
                                  i, ig_operand_text(op, i));
}

static ig_status check_own_rank(const ig_op *op, uint32_t slot, int64_t world) {
    int64_t rank = ig_attr_int(op, slot, -1);
    return rank >= 0 && rank < world
               ? IG_OK
               : INFER_ERROR(op, "there is no rank %lld in a world of %lld",
                             (long long)rank, (long long)world);
}

/* Operand `i` says which exchange has been started. */
static ig_status check_ticket(const ig_op *op, uint32_t i) {
    return ig_def(op->operands[i].value, IG_OP_meet_start)
               ? IG_OK
               : INFER_ERROR(op, "operand %u is %s, expected the result of meet_start",
                             i, ig_operand_text(op, i));
}

/* Operands in pairs: a list, and how much of it is whose; or in triples. */
static ig_status check_pairs(const ig_op *op, uint32_t results, uint32_t rank_slot) {
    uint32_t stride = ig_list_stride(op), pairs = ig_list_count(op);
    if (op->result_count != results) {
        return INFER_ERROR(op, "%u operands and %u results are not pairs",
                           op->operand_count, op->result_count);
    }
    IG_TRY(ig_check_tensors(op));
    int64_t world = 0;
    for (uint32_t i = 0; i < pairs * stride; i += stride) {
        for (uint32_t k = 1; k < stride; k++) {
            IG_TRY(check_counts(op, i + k, &world));
        }
        IG_TRY(check_list(op, i));
    }
    return check_own_rank(op, rank_slot, world);
}

/* A list whose length is known at run time only. */
static const ig_type *type_received(const ig_op *op, uint32_t operand,
                                    uint32_t result) {
    const ig_type *list = ig_operand_type(op, operand);
    ig_dim dims[IG_TENSOR_RANK] = { ig_result_symbol(op, result, 0, "came") };
    for (uint32_t d = 1; d < list->rank; d++) {
        dims[d] = list->dims[d];
    }
    return ig_type_with_dims(ig_op_module(op), list, list->rank, dims);
}

ig_status ig_infer_all_to_all(ig_op *op, const ig_type **out_types) {
    uint32_t stride = ig_list_stride(op), pairs = ig_list_count(op);
    if (op->operand_count % stride) {
        return INFER_ERROR(op, "%u operands are not %s", op->operand_count,
                           stride == 3 ? "triples" : "pairs");
    }
    IG_TRY(check_pairs(op, 2 * pairs, IG_all_to_all_rank));
    for (uint32_t i = 0; i < pairs; i++) {
        out_types[2 * i] = type_received(op, i * stride, 2 * i);
        out_types[2 * i + 1] = ig_operand_type(op, i * stride + 1);
    }
    return IG_OK;
}

ig_status ig_infer_reduce_scatter(ig_op *op, const ig_type **out_types) {
    uint32_t pairs = op->operand_count / 2u;
    if (op->operand_count % 2) {
        IG_TRY(check_ticket(op, 2 * pairs));
    }
    IG_TRY(check_pairs(op, pairs, IG_reduce_scatter_rank));
    for (uint32_t i = 0; i < 2 * pairs; i += 2) {
        IG_TRY(ig_check_float(op, i));
        out_types[i / 2] = type_received(op, i, i / 2);
    }
    return IG_OK;
}

/* ---- collectives of whole tensors ---- */

static ig_status check_whole(const ig_op *op, int64_t world) {
    if (op->result_count != op->operand_count) {
        return INFER_ERROR(op, "it needs a result for each of %u operands, not %u",
                           op->operand_count, op->result_count);
    }
    if (world < 1 || world > IG_SHARD_WORLD_MAX) {
        return INFER_ERROR(op,
                           "a world of %lld ranks is not possible, expected 1 to %d",
                           (long long)world, IG_SHARD_WORLD_MAX);
    }
    return ig_check_tensors(op);
}

ig_status ig_infer_all_reduce(ig_op *op, const ig_type **out_types) {
    IG_TRY(check_whole(op, ig_attr_int(op, IG_all_reduce_world, 0)));
    for (uint32_t i = 0; i < op->operand_count; i++) {
        IG_TRY(ig_check_float(op, i));
        out_types[i] = ig_operand_type(op, i);
    }
    return IG_OK;
}

ig_status ig_infer_all_gather(ig_op *op, const ig_type **out_types) {
    ig_module *module = ig_op_module(op);
    int64_t world = ig_attr_int(op, IG_all_gather_world, 0);
    IG_TRY(check_whole(op, world));
    for (uint32_t i = 0; i < op->operand_count; i++) {
        const ig_type *mine = ig_operand_type(op, i);
        if (mine->rank < 1) {
            return INFER_ERROR(op, "operand %u is %s, expected rank 1 or more", i,
                               ig_operand_text(op, i));
        }
        ig_dim dims[IG_TENSOR_RANK];
        memcpy(dims, mine->dims, mine->rank * sizeof *dims);
        dims[0] = ig_dim_mul(module, ig_dim_const(module, world), dims[0]);
        out_types[i] = ig_type_with_dims(module, mine, mine->rank, dims);
    }
    return IG_OK;
}

/* ---- an all_to_all in two halves ---- */

/* Extent of what meet_counts of n pairs finds. */
static int64_t count_found(int64_t n, int64_t world) {
    return n + n * world + world;
}

ig_status ig_infer_meet_counts(ig_op *op, const ig_type **out_types) {
    int64_t world = 0;
    IG_TRY(ig_check_tensors(op));
    for (uint32_t i = 0; i < op->operand_count; i++) {
        IG_TRY(check_counts(op, i, &world));
    }
    IG_TRY(check_own_rank(op, IG_meet_counts_rank, world));
    ig_module *module = ig_op_module(op);
    ig_dim found = ig_dim_const(module, count_found(op->operand_count, world));
    out_types[0] = ig_type_tensor(module, IG_DT_i64, 1, &found);
    return IG_OK;
}

/* Operands: n lists, n counts, and what meet_counts found of these. */
static ig_status check_lists(const ig_op *op, uint32_t n, bool has_found,
                             uint32_t rank_slot) {
    int64_t world = 0, found;
    IG_TRY(ig_check_tensors(op));
    for (uint32_t i = 0; i < n; i++) {
        IG_TRY(check_list(op, i));
        IG_TRY(check_counts(op, n + i, &world));
    }
    IG_TRY(check_own_rank(op, rank_slot, world));
    if (!has_found) {
        return IG_OK;
    }
    IG_TRY(ig_check_rank(op, 2 * n, 1));
    IG_TRY(ig_check_dtype(op, 2 * n, IG_DT_i64));
    bool is_right = ig_dim_known(ig_operand_type(op, 2 * n)->dims[0], &found) &&
                    found == count_found(n, world);
    return is_right
               ? IG_OK
               : INFER_ERROR(op, "operand %u is %s, expected the result of meet_counts",
                             2 * n, ig_operand_text(op, 2 * n));
}

ig_status ig_infer_meet_start(ig_op *op, const ig_type **out_types) {
    uint32_t n = op->operand_count / 2u;
    ig_dim one = ig_dim_of(1);
    IG_TRY(check_lists(op, n, op->operand_count % 2, IG_meet_start_rank));
    out_types[0] = ig_type_tensor(ig_op_module(op), IG_DT_i64, 1, &one);
    return IG_OK;
}

ig_status ig_infer_meet_lists(ig_op *op, const ig_type **out_types) {
    uint32_t n = op->result_count, started = 2 * n + 2;
    if (op->operand_count != 2 * n + 1 && op->operand_count != started) {
        return INFER_ERROR(op, "%u operands and %u results are not pairs",
                           op->operand_count, n);
    }
    IG_TRY(check_lists(op, n, true, IG_meet_lists_rank));
    if (op->operand_count == started) {
        IG_TRY(check_ticket(op, 2 * n + 1));
    }
    for (uint32_t i = 0; i < n; i++) {
        out_types[i] = type_received(op, i, i);
    }
    return IG_OK;
}

ig_status ig_infer_meet_end(ig_op *op, const ig_type **out_types) {
    (void)out_types;
    IG_TRY(ig_check_tensors(op));
    IG_TRY(check_ticket(op, 0));
    uint32_t lists = op->operands[0].value->def->operand_count / 2u;
    return op->operand_count == 1 + lists
               ? IG_OK
               : INFER_ERROR(op, "%u operands, expected the %u lists that were started",
                             op->operand_count, lists);
}
