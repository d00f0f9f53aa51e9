/* shard: bags over divided tables exchange ids and rows with the other ranks.
 * SPDX-License-Identifier: Apache-2.0
 *
 *     %t = shard @t {world = 2, rank = 0, parts = [0, 0, 3, 0, 8,  1, …]}
 *     %0 = bag %t, %ids, %off {operands = [1], pool = [sum]} : f32[B, 8]
 *   becomes
 *     %1, %2 = bag_ids %ids, %off {operands = 1, rows = 5}            lengths, ids
 *     %3, … %7 = deal %1, %2 {starts = [0, 3], ranks = [0, 1], …}     by owner
 *     %8, … %11 = all_to_all %3, %4, %5, %6                           there
 *     %12 = cumsum %8 {axis = 0, complete = true}
 *     %13 = bag @t.0, %10, %12 {pool = [sum], last = [offset]}    of all ranks
 *     %14 = reduce_scatter %13, %9                                    and back
 *     %0 = reshape %14 {to = [B, 8]}
 *
 * All features of all bag ops that do not need each other travel together: one
 * all_to_all there, and back one, or one reduce_scatter for those whose rows lie on all
 * ranks, or both.  Where the mark says `distinct`, an id travels once, its row comes
 * back, and bags are pooled at home.  Where it says that the batch goes in chunks
 * (chunks.c), what comes back does so chunk by chunk, each in front of the first op
 * that needs it, and exchanges may overlap with what stands behind them.
 * docs/sharding.md says what is the same to the bit, and what is within how much.
 *
 * Keeps: results, but for the order of sums over rows of different ranks.  Tables that
 * every rank has all of lose their mark and nothing else.
 */
#include "ir/bag.h"
#include "passes/engine/levels.h"
#include "passes/engine/pass.h"
#include "passes/engine/users.h"
#include "passes/shard/chunks.h"
#include "passes/shard/divided.h"

#include <assert.h>
#include <math.h>

#define SHARD_ERROR(op, ...)                                                       \
    ig_error(&ig_op_module(op)->context->diag, IG_UNSUPPORTED, ig_op_location(op), \
             __VA_ARGS__)

typedef struct sharder {
    ig_pass_run *run;
    ig_arena *arena;
    ig_map divided;  /* shard op → ig_divided, of those that have parts */
    ig_map chunk_of; /* bag op → 1 + the chunk that it is of */
    int64_t chunks;  /* that the marks ask for */
    ig_levels levels;
} sharder;

/* One feature of a bag op, on its way. */
typedef struct feature {
    ig_op *bag;
    uint32_t number;
    ig_bag_feature in;
    ig_bag_attrs attrs; /* of the bag */
    const ig_divided *table;
    uint32_t leg;
    ig_value *lengths, *ids, *weights; /* as this rank was given them */
} feature;

/* A feature's ids of one part of its table. */
typedef struct travel {
    const feature *feature;
    const ig_shard_part *part;
    uint32_t slot;    /* of its first list, among what goes there */
    uint32_t returns; /* of its rows, among what comes back */
    bool is_reduced;  /* by reduce_scatter */
    ig_value *coming; /* how many rows come back from each rank */
    ig_value *place;  /* which of the rows that come back each id has */
} travel;

typedef IG_VEC(ig_value *) values;

/* The way back of a chunk's rows, or of all: lists and counts that are sent; then the
 * first results, or NULL. */
typedef struct leg {
    values back, reduced;
    ig_value *came_back, *came_reduced;
} leg;

typedef struct journey {
    sharder *s;
    ig_expr e;
    IG_VEC(feature) features;
    IG_VEC(travel) travels;
    values there;         /* lists and counts that are sent */
    ig_value *came_there; /* the first result */
    leg *legs;
    uint32_t leg_count; /* 1, or the chunks: then exchanges overlap with other ops */
} journey;

/* Do ranks send bags, pooled where their rows are, or rows? */
static bool sends_bags(const feature *f) {
    return f->in.pool != IG_POOL_none && !f->table->is_distinct;
}

/* Do sums of different ranks have to be added? */
static bool is_split_sum(const feature *f, const ig_shard_part *part) {
    return part->rank_count > 1 && sends_bags(f) &&
           (f->in.pool == IG_POOL_sum || f->in.pool == IG_POOL_mean);
}

/* The dtype of a row of the table. */
static ig_dtype dtype_of_rows(const feature *f) {
    const ig_type *type = f->table->op->results->type;
    bool has_codes = type->kind == IG_TABLE &&
                     (type->rows.format != IG_ROW_PLAIN || type->rows.exponent_bits);
    return has_codes ? IG_DT_f32 : (ig_dtype)type->dtype;
}

/* The dtype of what comes back: sums of a part of the rows are not rounded further
 * than f32, and rows that are pooled at home not at all. */
static ig_dtype dtype_back(const feature *f, const ig_shard_part *part) {
    ig_dtype dtype = (ig_dtype)f->bag->results[f->number].type->dtype;
    if (f->table->is_distinct) {
        return dtype_of_rows(f);
    }
    return is_split_sum(f, part) && dtype != IG_DT_f64 ? IG_DT_f32 : dtype;
}

/* The dtype of that on its way: of fewer bits where the plan says so. */
static ig_dtype dtype_on_wire(const feature *f, const ig_shard_part *part) {
    ig_dtype dtype = dtype_back(f, part);
    /* One infinity, as an empty bag's maximum is, would spoil a row of codes. */
    bool is_spoilt = f->table->wire == IG_DT_i8 && f->in.pool == IG_POOL_max;
    return dtype == IG_DT_f32 && !is_spoilt ? f->table->wire : dtype;
}

static bool are_codes(const travel *t) {
    return dtype_on_wire(t->feature, t->part) == IG_DT_i8;
}

/* ---- ids of this rank ---- */

static void list_ids(journey *j, feature *f) {
    ig_op *bag = f->bag;
    ig_value *operands[4] = { bag->operands[f->in.ids].value };
    uint32_t count = 1;
    const uint32_t more[] = { f->in.begins, f->in.ends, f->in.weights };
    for (uint32_t i = 0; i < IG_COUNT_OF(more); i++) {
        if (more[i]) {
            operands[count++] = bag->operands[more[i]].value;
        }
    }
    ig_bag_ids_attrs attrs = {
        .operands = bag->attrs[IG_bag_operands].as.ints[f->number],
        .rows = f->table->rows,
        .pool = (int)f->in.pool,
        .last = (int)f->in.last,
        .negative = f->attrs.negative,
        .range = f->attrs.range,
        .offsets = f->attrs.offsets,
    };
    if (f->number) {
        attrs.feature = (ig_maybe_int)IG_SET(f->number);
    }
    if (f->in.padding != INT64_MIN) {
        attrs.padding = (ig_maybe_int)IG_SET(f->in.padding);
    }
    ig_op_spec spec = { .operands = operands,
                        .operand_count = count,
                        .result_count = f->in.weights ? 3 : 2 };
    ig_op *op = ig_build_bag_ids_op(&j->e, &spec, attrs);
    f->lengths = &op->results[0];
    f->ids = &op->results[1];
    f->weights = f->in.weights ? &op->results[2] : NULL;
}

static void send_list(const journey *j, values *list, ig_value *x, ig_value *counts) {
    IG_PUSH(j->s->arena, list, x);
    IG_PUSH(j->s->arena, list, counts);
}

/* As an answer: how much comes is known. */
static void answer_list(const journey *j, const travel *t, values *list, ig_value *x,
                        ig_value *counts) {
    send_list(j, list, x, counts);
    if (!t->is_reduced) {
        IG_PUSH(j->s->arena, list, t->coming);
    }
}

static void deal_part(journey *j, const feature *f, const ig_shard_part *part) {
    ig_value *operands[] = { f->lengths, f->ids, f->weights };
    bool has_weights = f->weights && !f->table->is_distinct;
    ig_deal_attrs attrs = { .world = f->table->world,
                            .starts = { part->starts, part->count },
                            .ranks = { part->ranks, part->count },
                            .bases = { part->bases, part->count },
                            .keep = part->rank_count == 1 && sends_bags(f),
                            .distinct = f->table->is_distinct };
    ig_op_spec spec = { .operands = operands,
                        .operand_count = has_weights ? 3 : 2,
                        .result_count = has_weights ? 6 : 5 };
    ig_op *deal = ig_build_deal_op(&j->e, &spec, attrs);
    travel t = { .feature = f, .part = part, .place = &deal->results[4] };
    t.coming = &deal->results[sends_bags(f) ? 1 : 3];
    t.slot = (uint32_t)j->there.count;
    if (sends_bags(f)) {
        send_list(j, &j->there, &deal->results[0], &deal->results[1]);
    }
    send_list(j, &j->there, &deal->results[2], &deal->results[3]);
    if (has_weights) {
        send_list(j, &j->there, &deal->results[5], &deal->results[3]);
    }
    IG_PUSH(j->s->arena, &j->travels, t);
}

/* ---- meeting ---- */

/* The collective's first result; NULL where nothing travels. */
static ig_value *meet_ranks(journey *j, ig_opcode code, const values *list) {
    if (!list->count) {
        return NULL;
    }
    bool is_answer = code == IG_OP_all_to_all && list != &j->there;
    uint32_t count = (uint32_t)list->count, lists = count / (is_answer ? 3 : 2);
    const ig_divided *table = j->features.items[0].table;
    ig_op_spec spec = { .operands = list->items,
                        .operand_count = count,
                        .result_count = code == IG_OP_all_to_all ? 2 * lists : lists };
    if (code == IG_OP_reduce_scatter) {
        ig_reduce_scatter_attrs attrs = { .rank = table->rank,
                                          .overlaps = j->leg_count > 1 };
        return ig_build_reduce_scatter_op(&j->e, &spec, attrs)->results;
    }
    ig_all_to_all_attrs attrs = { .rank = table->rank,
                                  .overlaps = j->leg_count > 1,
                                  .known = is_answer };
    if (table->of && !is_answer) {
        attrs.of = (ig_maybe_int)IG_SET(table->of);
    }
    return ig_build_all_to_all_op(&j->e, &spec, attrs)->results;
}

/* ---- rows that this rank has, for all ranks ---- */

static ig_value *look_up(journey *j, const travel *t, const ig_value *came) {
    const feature *f = t->feature;
    ig_value *lists = (ig_value *)(uintptr_t)came; /* results stand side by side */
    int64_t mask = 0, last = IG_LAST_offset;
    int64_t pool = is_split_sum(f, t->part) ? IG_POOL_sum
                   : sends_bags(f)          ? (int64_t)f->in.pool
                                            : IG_POOL_none;
    int64_t empty = t->part->rank_count == 1    ? (int64_t)f->in.empty
                    : f->in.pool == IG_POOL_max ? IG_EMPTY_neg_inf
                                                : IG_EMPTY_zero;
    ig_value *operands[4] = { t->part->table };
    uint32_t count = 1, list = t->slot;
    ig_value *lengths = sends_bags(f) ? &lists[list] : NULL;
    list += lengths ? 2 : 0;
    operands[count++] = &lists[list];
    ig_bag_attrs attrs = { .operands = { &mask, 1 },
                           .pool = { &pool, 1 },
                           .empty = { empty == IG_EMPTY_zero ? NULL : &empty, 1 },
                           .negative = IG_NEGATIVE_skip };
    if (!f->table->is_distinct) {
        attrs.to = f->attrs.to;
    }
    if (lengths) {
        ig_cumsum_attrs all = { .complete = true };
        operands[count++] = ig_build_cumsum(&j->e, lengths, all);
        mask |= IG_BAG_BEGINS;
        attrs.last = (ig_ints){ &last, 1 };
    }
    if (f->weights && !f->table->is_distinct) {
        operands[count++] = &lists[list + 2];
        mask |= IG_BAG_WEIGHTS;
    }
    if (is_split_sum(f, t->part)) {
        attrs.to = (ig_maybe_dtype)IG_SET(dtype_back(f, t->part));
    }
    return ig_build_bag(&j->e, operands, count, attrs);
}

/* ---- rows as codes of 8 bits ---- */

enum { CODE_MOST = 127 };

/* Codes q and a step s a row, with rows = q * s: s is the row's largest number over
 * 127, so each is off by at most s / 2.  A row with an infinity or NaN comes out as
 * NaN. */
static ig_value *code_rows(journey *j, ig_value *rows, ig_value **out_steps) {
    ig_expr *e = &j->e;
    ig_value *size = ig_build_abs(e, rows);
    ig_value *largest = ig_expr_reduce_axis(e, IG_REDUCE_max, size, 1, true);
    ig_value *steps = ig_expr_with(e, IG_OP_div, largest, CODE_MOST);
    ig_value *codes = ig_build_round(e, ig_build_div(e, rows, steps));
    ig_value *is_code = ig_expr_with(e, IG_OP_le, ig_build_abs(e, codes), CODE_MOST);
    ig_value *zero = ig_expr_number(e, IG_DT_f32, 0);
    *out_steps = steps;
    /* 0 / 0 and what an infinity makes is no code. */
    return ig_expr_cast(e, ig_build_where(e, is_code, codes, zero), IG_DT_i8);
}

static void send_codes(journey *j, const travel *t, values *list, ig_value *rows,
                       ig_value *counts) {
    ig_value *steps;
    if (t->part->own) {
        rows = code_rows(j, rows, &steps);
    } else {
        ig_dim dims[] = { ig_dim_of(0), ig_dim_of(1) };
        steps = ig_expr_fill(&j->e, IG_DT_f32, 2, dims, 0);
    }
    answer_list(j, t, list, rows, counts);
    answer_list(j, t, list, steps, counts);
}

/* What came of the rows of `t`, in the dtype that is added. */
static ig_value *read_rows(journey *j, const travel *t, ig_value *results) {
    ig_value *came = ig_expr_cast(&j->e, &results[t->returns],
                                  dtype_back(t->feature, t->part));
    return are_codes(t) ? ig_build_mul(&j->e, came, &results[t->returns + 2]) : came;
}

static void return_rows(journey *j, travel *t) {
    const feature *f = t->feature;
    ig_value *rows, *counts = &j->came_there[t->slot + 1];
    if (t->part->own) {
        rows = look_up(j, t, j->came_there);
        rows = are_codes(t) ? ig_expr_cast(&j->e, rows, IG_DT_f32)
                            : ig_expr_cast(&j->e, rows, dtype_on_wire(f, t->part));
    } else {
        ig_dim dims[] = { ig_dim_of(0), ig_dim_of(t->part->columns) };
        rows = ig_expr_fill(&j->e, dtype_on_wire(f, t->part), 2, dims, 0);
    }
    bool is_wide = dtype_on_wire(f, t->part) == dtype_back(f, t->part);
    t->is_reduced = is_split_sum(f, t->part) && is_wide &&
                    t->part->rank_count == f->table->world;
    leg *way = &j->legs[f->leg];
    values *list = t->is_reduced ? &way->reduced : &way->back;
    /* Of a pair there is one result, of a triple two. */
    t->returns = t->is_reduced ? (uint32_t)list->count / 2
                               : (uint32_t)list->count / 3 * 2;
    if (are_codes(t)) {
        send_codes(j, t, list, rows, counts);
    } else {
        answer_list(j, t, list, rows, counts);
    }
}

/* ---- at home again ---- */

static ig_value *rows_of_ids(journey *j, const travel *t, ig_value *came) {
    int64_t mask = 0, pool = IG_POOL_none;
    ig_value *operands[] = { came, t->place };
    ig_bag_attrs attrs = { .operands = { &mask, 1 },
                           .pool = { &pool, 1 },
                           .negative = IG_NEGATIVE_skip };
    return ig_build_bag(&j->e, operands, 2, attrs);
}

/* Distinct rows came: the bags that were asked for, of these. */
static ig_value *pool_at_home(journey *j, const travel *t, ig_value *came) {
    const feature *f = t->feature;
    int64_t mask = 0, pool = (int64_t)f->in.pool, last = IG_LAST_offset;
    int64_t empty = (int64_t)f->in.empty;
    ig_value *operands[4] = { came, t->place };
    uint32_t count = 2;
    ig_bag_attrs attrs = { .operands = { &mask, 1 },
                           .pool = { &pool, 1 },
                           .empty = { empty == IG_EMPTY_zero ? NULL : &empty, 1 },
                           .negative = IG_NEGATIVE_skip,
                           .to = f->attrs.to };
    if (f->in.pool != IG_POOL_none) {
        ig_cumsum_attrs all = { .complete = true };
        operands[count++] = ig_build_cumsum(&j->e, f->lengths, all);
        mask |= IG_BAG_BEGINS;
        attrs.last = (ig_ints){ &last, 1 };
    }
    if (f->weights) {
        operands[count++] = f->weights;
        mask |= IG_BAG_WEIGHTS;
    }
    return ig_build_bag(&j->e, operands, count, attrs);
}

/* [B, columns] of what came, from one rank or more. */
static ig_value *add_ranks(journey *j, const travel *t, ig_value *came) {
    const feature *f = t->feature;
    ig_dim dims[] = { ig_dim_of(t->part->rank_count), f->lengths->type->dims[0],
                      ig_dim_of(t->part->columns) };
    if (t->is_reduced || t->part->rank_count == 1) {
        return ig_expr_reshape(&j->e, came, 2, dims + 1);
    }
    ig_reduce kind = f->in.pool == IG_POOL_max ? IG_REDUCE_max : IG_REDUCE_sum;
    return ig_expr_reduce_axis(&j->e, kind, ig_expr_reshape(&j->e, came, 3, dims), 0,
                               false);
}

/* What the ranks could not know: how many ids a bag has on all of them. */
static ig_value *finish_bags(journey *j, const feature *f, ig_value *x) {
    static const double empty[] = {
        [IG_EMPTY_zero] = 0, [IG_EMPTY_neg_inf] = -INFINITY, [IG_EMPTY_nan] = NAN
    };
    ig_expr *e = &j->e;
    ig_dtype dtype = (ig_dtype)x->type->dtype;
    if (f->in.pool == IG_POOL_mean) {
        ig_value *count = ig_expr_cast(e, f->lengths, dtype);
        x = ig_build_div(e, x, ig_expr_unsqueeze(e, count, 1));
    }
    bool is_right = f->in.pool == IG_POOL_sum   ? f->in.empty == IG_EMPTY_zero
                    : f->in.pool == IG_POOL_max ? f->in.empty == IG_EMPTY_neg_inf
                                                : false;
    if (is_right) {
        return x;
    }
    ig_value *is_empty = ig_expr_with_integer(e, IG_OP_eq, f->lengths, 0);
    ig_value *none = ig_expr_number(e, dtype, empty[f->in.empty]);
    return ig_build_where(e, ig_expr_unsqueeze(e, is_empty, 1), none, x);
}

static ig_value *arrive_part(journey *j, const travel *t) {
    const feature *f = t->feature;
    const leg *way = &j->legs[f->leg];
    ig_value *results = t->is_reduced ? way->came_reduced : way->came_back;
    ig_value *came = read_rows(j, t, results);
    if (f->table->is_distinct) {
        return pool_at_home(j, t, came);
    }
    if (!sends_bags(f)) {
        return rows_of_ids(j, t, came);
    }
    ig_value *x = add_ranks(j, t, came);
    x = t->part->rank_count > 1 ? finish_bags(j, f, x) : x;
    return ig_expr_cast(&j->e, x, (ig_dtype)f->bag->results[f->number].type->dtype);
}

/* Parts of a feature stand side by side in `travels`, by their columns. */
static void arrive_feature(journey *j, const feature *f, const travel *first) {
    ig_value **columns = IG_NEW_ARRAY(j->s->arena, ig_value *, f->table->count);
    for (uint32_t i = 0; i < f->table->count; i++) {
        columns[i] = arrive_part(j, &first[i]);
    }
    uint32_t axis = columns[0]->type->rank - 1;
    ig_value *x = ig_expr_concat(&j->e, axis, columns, f->table->count);
    ig_value *old = &f->bag->results[f->number];
    x = ig_expr_reshape(&j->e, x, old->type->rank, old->type->dims);
    if (x->type != old->type) {
        ig_value_retype(x, old->type);
    }
    if (!x->name) {
        x->name = old->name;
    }
    ig_value_replace(old, x);
}

/* ---- features of tables that are not divided ---- */

/* Numbers of the features of a bag that stay. */
typedef struct kept_features {
    ig_op *bag;
    IG_VEC(uint32_t) numbers;
} kept_features;

static ig_ints keep_entries(const journey *j, uint32_t slot,
                            const kept_features *kept) {
    const ig_attr *attr = &kept->bag->attrs[slot];
    size_t count = kept->numbers.count;
    if (attr->kind != IG_ATTR_INTS) {
        return (ig_ints){ NULL, 0 };
    }
    int64_t *entries = IG_NEW_ARRAY(j->s->arena, int64_t, count);
    for (size_t i = 0; i < count; i++) {
        entries[i] = attr->as.ints[kept->numbers.items[i]];
    }
    return (ig_ints){ entries, (uint32_t)count };
}

static void keep_features(journey *j, const kept_features *kept) {
    values operands = { 0 };
    uint32_t count = (uint32_t)kept->numbers.count;
    for (uint32_t i = 0; i < count; i++) {
        ig_bag_feature f = ig_bag_feature_at(kept->bag, kept->numbers.items[i]);
        for (uint32_t k = 0; k < f.operands; k++) {
            IG_PUSH(j->s->arena, &operands, kept->bag->operands[f.table + k].value);
        }
    }
    ig_bag_attrs attrs = ig_bag_attrs_of(kept->bag);
    attrs.operands = keep_entries(j, IG_bag_operands, kept);
    attrs.pool = keep_entries(j, IG_bag_pool, kept);
    attrs.padding = keep_entries(j, IG_bag_padding, kept);
    attrs.last = keep_entries(j, IG_bag_last, kept);
    attrs.empty = keep_entries(j, IG_bag_empty, kept);
    attrs.tables = keep_entries(j, IG_bag_tables, kept);
    ig_op_spec spec = { .operands = operands.items,
                        .operand_count = (uint32_t)operands.count,
                        .result_count = count };
    ig_op *op = ig_build_bag_op(&j->e, &spec, attrs);
    for (uint32_t i = 0; i < count; i++) {
        ig_value *old = &kept->bag->results[kept->numbers.items[i]];
        op->results[i].name = old->name;
        ig_value_retype(&op->results[i], old->type);
        ig_value_replace(old, &op->results[i]);
    }
}

/* ---- bags that travel together ---- */

/* The divided table of an operand; NULL where it is none. */
static const ig_divided *divided_of(const sharder *s, const ig_value *value) {
    ig_op *op = ig_def(value, IG_OP_shard);
    return op ? ig_map_get_id(&s->divided, IG_MAP_PTR(op)) : NULL;
}

/* The first divided table of a feature. */
static const ig_divided *table_of(const sharder *s, const ig_op *bag,
                                  const ig_bag_feature *in) {
    const ig_divided *table = NULL;
    for (uint32_t k = 0; k < in->tables && !table; k++) {
        table = divided_of(s, bag->operands[in->table + k].value);
    }
    return table;
}

static ig_status check_feature(const ig_op *bag, const ig_bag_feature *in) {
    if (bag->block->parent) {
        return SHARD_ERROR(
            bag,
            "a divided table is looked up in the body of '%s', where the "
            "ranks may not meet; let every rank have all of it "
            "(data_parallel)",
            ig_ops[bag->block->parent->code].name);
    }
    if (in->tables > 1) {
        return SHARD_ERROR(bag,
                           "a divided table is one of %u that are looked up as one; "
                           "let every rank have all of it (data_parallel)",
                           in->tables);
    }
    return IG_OK;
}

/* Lists and counts, with weights, that travel for a bag; reports what cannot travel. */
static ig_status count_lists(const sharder *s, const ig_op *bag, uint64_t *out_lists) {
    enum { LISTS_OF_PART = 6 };
    *out_lists = 0;
    for (uint32_t i = 0; i < bag->result_count; i++) {
        ig_bag_feature in = ig_bag_feature_at(bag, i);
        const ig_divided *table = table_of(s, bag, &in);
        if (table) {
            IG_TRY(check_feature(bag, &in));
            *out_lists += (uint64_t)LISTS_OF_PART * table->count;
        }
    }
    return *out_lists < IG_MANY
               ? IG_OK
               : SHARD_ERROR(bag,
                             "%u look-ups in divided tables make more than %d parts; "
                             "cut tables into fewer columns",
                             bag->result_count, IG_MANY / LISTS_OF_PART);
}

/* Splits the features: those that travel go to j->features, the others to `kept`. */
static void sort_features(journey *j, kept_features *kept) {
    ig_op *bag = kept->bag;
    uint32_t chunk = ig_chunk_of(&j->s->chunk_of, bag);
    uint32_t number = chunk ? chunk - 1 : 0;
    for (uint32_t i = 0; i < bag->result_count; i++) {
        feature f = { .bag = bag,
                      .number = i,
                      .leg = number,
                      .in = ig_bag_feature_at(bag, i),
                      .attrs = ig_bag_attrs_of(bag) };
        f.table = table_of(j->s, bag, &f.in);
        if (f.table) {
            IG_PUSH(j->s->arena, &j->features, f);
        } else {
            IG_PUSH(j->s->arena, &kept->numbers, i);
        }
    }
}

/* Rows that this rank has, of one chunk or of all. */
static void return_leg(journey *j, uint32_t number) {
    leg *way = &j->legs[number];
    for (size_t i = 0; i < j->travels.count; i++) {
        if (j->travels.items[i].feature->leg == number) {
            return_rows(j, &j->travels.items[i]);
        }
    }
    way->came_reduced = meet_ranks(j, IG_OP_reduce_scatter, &way->reduced);
    way->came_back = meet_ranks(j, IG_OP_all_to_all, &way->back);
}

static void travel_all(journey *j) {
    for (size_t i = 0; i < j->features.count; i++) {
        feature *f = &j->features.items[i];
        list_ids(j, f);
        for (uint32_t k = 0; k < f->table->count; k++) {
            deal_part(j, f, &f->table->parts[k]);
        }
    }
    j->came_there = meet_ranks(j, IG_OP_all_to_all, &j->there);
    for (uint32_t i = 0; i < j->leg_count; i++) {
        return_leg(j, i);
    }
}

/* Chunks arrive where they are needed: until then they are under way. */
static void arrive_all(journey *j) {
    const travel *next = j->travels.items;
    ig_op *here = j->e.builder->before;
    const ig_op *bag = NULL;
    for (size_t i = 0; i < j->features.count; i++) {
        const feature *f = &j->features.items[i];
        if (j->leg_count > 1 && f->bag != bag) {
            ig_op *user = ig_first_user(j->s->arena, f->bag, 1);
            j->e.builder->before = user ? user : here;
        }
        bag = f->bag;
        arrive_feature(j, f, next);
        next += f->table->count;
    }
    j->e.builder->before = here;
}

/* Bags that may stand where the last of them does. */
static void shard_bags(sharder *s, ig_op *const *bags, size_t count) {
    ig_builder b = ig_builder_before(bags[count - 1]);
    journey j = { .s = s, .leg_count = 1 };
    kept_features *kept = IG_NEW_ARRAY(s->arena, kept_features, count);
    j.e = ig_expr_of(&b);
    for (size_t i = 0; i < count; i++) {
        kept[i].bag = bags[i];
        sort_features(&j, &kept[i]);
        j.leg_count = ig_chunk_of(&s->chunk_of, bags[i]) ? (uint32_t)s->chunks
                                                         : j.leg_count;
    }
    j.legs = IG_NEW_ARRAY(s->arena, leg, j.leg_count);
    travel_all(&j);
    arrive_all(&j);
    for (size_t i = 0; i < count; i++) {
        if (kept[i].numbers.count) {
            keep_features(&j, &kept[i]);
        }
        ig_op_erase(bags[i]);
    }
    if (j.leg_count > 1) {
        ig_sink_behind(s->arena, j.came_there->def);
    }
    s->run->changed = true;
}

/* ---- the graph ---- */

/* The next bags of the block that travel and need as many bags before them: at most as
 * many as one exchange takes. */
static ig_status next_bags(const sharder *s, ig_op *first, ig_op_list *out) {
    uint64_t lists, all = 0;
    *out = (ig_op_list){ 0 };
    for (ig_op *op = first; op; op = op->next) {
        if (op->code != IG_OP_bag) {
            continue;
        }
        IG_TRY(count_lists(s, op, &lists));
        uint32_t level = out->count ? ig_level_of(&s->levels, out->items[0]) : 0;
        bool fits = !out->count || ig_level_of(&s->levels, op) == level;
        if (lists && fits && all + lists < IG_MANY) {
            IG_PUSH(s->arena, out, op);
            all += lists;
        }
    }
    return IG_OK;
}

static ig_status shard_body(sharder *s, ig_block *block) {
    ig_op_list bags;
    ig_levels_find(&s->levels, s->arena, block, IG_OP_bag);
    IG_TRY(next_bags(s, block->first, &bags));
    while (bags.count) {
        uint32_t level = ig_level_of(&s->levels, bags.items[0]);
        bool is_one = ig_levels_make_way(&s->levels, &bags, level);
        shard_bags(s, bags.items, is_one ? bags.count : 1);
        IG_TRY(next_bags(s, block->first, &bags));
    }
    return IG_OK;
}

/* What is looked up in bodies cannot travel.  They nest at most limits.graph_depth
 * deep. */
static ig_status check_bodies(const sharder *s, const ig_block *block) {
    uint64_t lists;
    for (const ig_op *op = block->first; op; op = op->next) {
        if (op->code == IG_OP_bag && block->parent) {
            IG_TRY(count_lists(s, op, &lists));
        }
        for (uint32_t i = 0; i < op->body_count; i++) {
            IG_TRY(check_bodies(s, op->bodies[i]));
        }
    }
    return IG_OK;
}

static ig_status divide_tables(sharder *s, ig_graph *graph) {
    ig_map_init(&s->divided, s->arena);
    for (ig_op *op = graph->body.first; op; op = op->next) {
        if (op->code != IG_OP_shard) {
            continue;
        }
        ig_divided *divided = IG_NEW(s->arena, ig_divided);
        IG_TRY(ig_divide(op, s->arena, divided));
        if (divided->count) {
            int64_t chunks = ig_attr_int(op, IG_shard_chunks, 1);
            s->chunks = chunks > s->chunks ? chunks : s->chunks;
            ig_map_set_id(&s->divided, IG_MAP_PTR(op), divided);
        }
    }
    return IG_OK;
}

/* Marks go; a table that another op reads as a whole cannot be divided. */
static ig_status take_marks(sharder *s, ig_graph *graph) {
    for (ig_op *op = graph->body.first, *next; op; op = next) {
        next = op->next;
        if (op->code != IG_OP_shard) {
            continue;
        }
        ig_value *table = op->operands[0].value;
        if (op->results->uses && divided_of(s, op->results)) {
            return SHARD_ERROR(
                op->results->uses->user,
                "it reads all of table '%s', of which a rank has a part; "
                "let every rank have all of it (data_parallel)",
                ig_attr_str(table->def, IG_weight_name));
        }
        ig_value_replace(op->results, table);
        ig_op_erase(op);
        s->run->changed = true;
    }
    return IG_OK;
}

ig_status ig_pass_shard(ig_pass_run *run, ig_graph *graph) {
    sharder s = { .run = run, .arena = run->scratch, .chunks = 1 };
    IG_TRY(divide_tables(&s, graph));
    IG_TRY(check_bodies(&s, &graph->body));
    ig_split_batch(run, graph, &s.divided, s.chunks, &s.chunk_of);
    IG_TRY(shard_body(&s, &graph->body));
    return take_marks(&s, graph);
}
