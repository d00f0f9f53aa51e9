/* One journey: there, and back by as many legs as the batch has chunks.
 * SPDX-License-Identifier: Apache-2.0
 *
 * shard.c draws it.
 */
#include "passes/shard/journey.h"

#include "passes/engine/users.h"

#include <math.h>

/* A feature's ids of one part of its table. */
typedef struct travel {
    const ig_way *feature;
    const ig_shard_part *part;
    uint32_t slot;      /* of its first list, among the outgoing ones */
    uint32_t returns;   /* of its rows, among the incoming ones */
    bool is_reduced;    /* by reduce_scatter */
    ig_value *coming;   /* how many rows come back from each rank */
    ig_value *position; /* which of the rows that come back each id has */
} travel;

typedef IG_VEC(ig_value *) values;

/* The way back of a chunk's rows, or of all: lists and counts that are sent; then the
 * first results, or NULL. */
typedef struct leg {
    values back, reduced;
    ig_value *came_back, *came_reduced;
} leg;

typedef struct journey {
    ig_arena *arena;
    ig_expr e;
    ig_way *ways;
    uint32_t count;
    IG_VEC(travel) travels;
    values there;         /* lists and counts that are sent */
    ig_value *came_there; /* the first result */
    leg *legs;
    uint32_t leg_count; /* 1, or the chunks: then exchanges overlap with other ops */
} journey;

/* Do ranks send bags, pooled where their rows are, or rows? */
static bool sends_bags(const ig_way *f) {
    return f->in.pool != IG_POOL_none && !f->table->is_distinct;
}

/* Do sums of different ranks have to be added? */
static bool is_split_sum(const ig_way *f, const ig_shard_part *part) {
    return part->rank_count > 1 && sends_bags(f) &&
           (f->in.pool == IG_POOL_sum || f->in.pool == IG_POOL_mean);
}

/* The dtype of a row of the table. */
static ig_dtype dtype_of_rows(const ig_way *f) {
    const ig_type *type = f->table->op->results->type;
    bool has_codes = type->kind == IG_TABLE &&
                     (type->rows.format != IG_ROW_PLAIN || type->rows.exponent_bits);
    return has_codes ? IG_DT_f32 : (ig_dtype)type->dtype;
}

/* The dtype of the incoming rows: sums of a part of the rows are not rounded further
 * than f32, and rows that are pooled at home not at all. */
static ig_dtype dtype_back(const ig_way *f, const ig_shard_part *part) {
    ig_dtype dtype = (ig_dtype)f->bag->results[f->index].type->dtype;
    if (f->table->is_distinct) {
        return dtype_of_rows(f);
    }
    return is_split_sum(f, part) && dtype != IG_DT_f64 ? IG_DT_f32 : dtype;
}

/* The dtype of that on its way: of fewer bits where the plan says so. */
static ig_dtype dtype_on_wire(const ig_way *f, const ig_shard_part *part) {
    ig_dtype dtype = dtype_back(f, part);
    /* One infinity, as an empty bag's maximum is, would spoil a row of codes. */
    bool is_spoilt = f->table->wire == IG_DT_i8 && f->in.pool == IG_POOL_max;
    return dtype == IG_DT_f32 && !is_spoilt ? f->table->wire : dtype;
}

static bool are_codes(const travel *t) {
    return dtype_on_wire(t->feature, t->part) == IG_DT_i8;
}

/* ---- ids of this rank ---- */

static void list_ids(journey *j, ig_way *f) {
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
        .operands = bag->attrs[IG_bag_operands].as.ints[f->index],
        .rows = f->table->rows,
        .pool = (int)f->in.pool,
        .last = (int)f->in.last,
        .negative = f->attrs.negative,
        .range = f->attrs.range,
        .offsets = f->attrs.offsets,
    };
    if (f->index) {
        attrs.feature = (ig_maybe_int)IG_SET(f->index);
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
    IG_PUSH(j->arena, list, x);
    IG_PUSH(j->arena, list, counts);
}

/* As an answer: how much comes is known. */
static void answer_list(const journey *j, const travel *t, values *list, ig_value *x,
                        ig_value *counts) {
    send_list(j, list, x, counts);
    if (!t->is_reduced) {
        IG_PUSH(j->arena, list, t->coming);
    }
}

static void deal_part(journey *j, const ig_way *f, const ig_shard_part *part) {
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
    travel t = { .feature = f, .part = part, .position = &deal->results[4] };
    t.coming = &deal->results[sends_bags(f) ? 1 : 3];
    t.slot = (uint32_t)j->there.count;
    if (sends_bags(f)) {
        send_list(j, &j->there, &deal->results[0], &deal->results[1]);
    }
    send_list(j, &j->there, &deal->results[2], &deal->results[3]);
    if (has_weights) {
        send_list(j, &j->there, &deal->results[5], &deal->results[3]);
    }
    IG_PUSH(j->arena, &j->travels, t);
}

/* ---- meeting ---- */

/* The collective's first result; NULL where nothing travels. */
static ig_value *meet_ranks(journey *j, ig_opcode code, const values *list) {
    if (!list->count) {
        return NULL;
    }
    bool is_answer = code == IG_OP_all_to_all && list != &j->there;
    uint32_t count = (uint32_t)list->count, lists = count / (is_answer ? 3 : 2);
    const ig_divided *table = j->ways[0].table;
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
    const ig_way *f = t->feature;
    ig_value *lists = (ig_value *)(uintptr_t)came; /* results are side by side */
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

enum { CODE_MAX = 127 };

/* Codes q and a step s a row, with rows = q * s: s is the row's largest number over
 * 127, so each is off by at most s / 2.  A row with an infinity or NaN comes out as
 * NaN. */
static ig_value *code_rows(journey *j, ig_value *rows, ig_value **out_steps) {
    ig_expr *e = &j->e;
    ig_value *size = ig_build_abs(e, rows);
    ig_value *largest = ig_expr_reduce_axis(e, IG_REDUCE_max, size, 1, true);
    ig_value *steps = ig_expr_with(e, IG_OP_div, largest, CODE_MAX);
    ig_value *codes = ig_build_round(e, ig_build_div(e, rows, steps));
    ig_value *is_code = ig_expr_with(e, IG_OP_le, ig_build_abs(e, codes), CODE_MAX);
    ig_value *zero = ig_expr_number(e, IG_DT_f32, 0);
    *out_steps = steps;
    /* 0 / 0 and the quotient of an infinity are no codes. */
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
    const ig_way *f = t->feature;
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
    ig_value *operands[] = { came, t->position };
    ig_bag_attrs attrs = { .operands = { &mask, 1 },
                           .pool = { &pool, 1 },
                           .negative = IG_NEGATIVE_skip };
    return ig_build_bag(&j->e, operands, 2, attrs);
}

/* Distinct rows came: the bags that were asked for, of these. */
static ig_value *pool_at_home(journey *j, const travel *t, ig_value *came) {
    const ig_way *f = t->feature;
    int64_t mask = 0, pool = (int64_t)f->in.pool, last = IG_LAST_offset;
    int64_t empty = (int64_t)f->in.empty;
    ig_value *operands[4] = { came, t->position };
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
    const ig_way *f = t->feature;
    ig_dim dims[] = { ig_dim_of(t->part->rank_count), f->lengths->type->dims[0],
                      ig_dim_of(t->part->columns) };
    if (t->is_reduced || t->part->rank_count == 1) {
        return ig_expr_reshape(&j->e, came, 2, dims + 1);
    }
    ig_reduce kind = f->in.pool == IG_POOL_max ? IG_REDUCE_max : IG_REDUCE_sum;
    return ig_expr_reduce_axis(&j->e, kind, ig_expr_reshape(&j->e, came, 3, dims), 0,
                               false);
}

/* Facts that the ranks could not know: how many ids a bag has on all of them. */
static ig_value *finish_bags(journey *j, const ig_way *f, ig_value *x) {
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
    const ig_way *f = t->feature;
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
    return ig_expr_cast(&j->e, x, (ig_dtype)f->bag->results[f->index].type->dtype);
}

/* Parts of a feature are side by side in `travels`, by their columns. */
static void arrive_feature(journey *j, const ig_way *f, const travel *first) {
    ig_value **columns = IG_NEW_ARRAY(j->arena, ig_value *, f->table->count);
    for (uint32_t i = 0; i < f->table->count; i++) {
        columns[i] = arrive_part(j, &first[i]);
    }
    uint32_t axis = columns[0]->type->rank - 1;
    ig_value *x = ig_expr_concat(&j->e, axis, columns, f->table->count);
    ig_value *old = &f->bag->results[f->index];
    x = ig_expr_reshape(&j->e, x, old->type->rank, old->type->dims);
    if (x->type != old->type) {
        ig_value_retype(x, old->type);
    }
    if (!x->name) {
        x->name = old->name;
    }
    ig_value_replace(old, x);
}

/* ---- all of it ---- */

/* Rows that this rank has, of one chunk or of all. */
static void return_leg(journey *j, uint32_t index) {
    leg *way = &j->legs[index];
    for (size_t i = 0; i < j->travels.count; i++) {
        if (j->travels.items[i].feature->leg == index) {
            return_rows(j, &j->travels.items[i]);
        }
    }
    way->came_reduced = meet_ranks(j, IG_OP_reduce_scatter, &way->reduced);
    way->came_back = meet_ranks(j, IG_OP_all_to_all, &way->back);
}

static void travel_all(journey *j) {
    for (size_t i = 0; i < j->count; i++) {
        ig_way *f = &j->ways[i];
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
    for (size_t i = 0; i < j->count; i++) {
        const ig_way *f = &j->ways[i];
        if (j->leg_count > 1 && f->bag != bag) {
            ig_op *user = ig_first_user(j->arena, f->bag, 1);
            j->e.builder->before = user ? user : here;
        }
        bag = f->bag;
        arrive_feature(j, f, next);
        next += f->table->count;
    }
    j->e.builder->before = here;
}

ig_op *ig_journey_make(ig_builder *builder, ig_arena *arena, ig_way *ways,
                       uint32_t count, uint32_t legs) {
    journey j = { .arena = arena, .ways = ways, .count = count, .leg_count = legs };
    j.e = ig_expr_of(builder);
    j.legs = IG_NEW_ARRAY(arena, leg, legs);
    travel_all(&j);
    arrive_all(&j);
    return j.came_there->def;
}
