/* FBGEMM's tables of ids without collisions, as they are read.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A table [rows, 1] holds in each row the id that owns it.  An id is looked for from
 * its home on, one row after the other, round and round in its part of the table:
 *
 *     home     hash(id) mod size                 MurmurHash3's 128 bits, halves xored
 *     row d    start + (home + d) mod size       d = 0, 1 … most - 1
 *
 * and the first row that holds the id is its row.  An id that is in none of them gets
 * -1, its home, or a row after the part: size + hash mod reserved.
 *
 * Rows are compared STEP at a time, for all ids at once.  A loop goes on while an id is
 * missing and rows are left, so it ends after one trip where no id is far from home:
 *
 *     found    for each id the least d that matched so far, or `max`
 */
#include "frontend/torch/aten/aten.h"
#include "frontend/torch/fbgemm/fbgemm.h"
#include "ir/build/extent.h"

#include <assert.h>

enum { STEP = 16 };

/* ---- hash ---- */

/* An unsigned constant to a value of 64 bits. */
static ig_value *with_bits(ig_expr *e, ig_opcode code, ig_value *x, uint64_t y) {
    return ig_expr_with_integer(e, code, x, (int64_t)y);
}

static ig_value *rotate_left(ig_expr *e, ig_value *x, uint32_t left) {
    assert(left > 0 && left < 64 && "a rotation of 64 bits");
    ig_value *high = with_bits(e, IG_OP_shl, x, left);
    return ig_build_or(e, high, with_bits(e, IG_OP_shr, x, 64 - left));
}

static ig_value *fold_high(ig_expr *e, ig_value *x) {
    return ig_build_xor(e, x, with_bits(e, IG_OP_shr, x, 33));
}

static ig_value *mix_last(ig_expr *e, ig_value *x) {
    x = with_bits(e, IG_OP_mul, fold_high(e, x), 0xff51afd7ed558ccd);
    x = with_bits(e, IG_OP_mul, fold_high(e, x), 0xc4ceb9fe1a85ec53);
    return fold_high(e, x);
}

typedef struct block {
    uint64_t first, second; /* multipliers of the input */
    uint64_t added;
    uint32_t turn, last_turn;
} block;

/* One block of input mixed into a half of the state. */
static ig_value *mix_block(ig_expr *e, const block *b, ig_value *x, ig_value *half,
                           ig_value *other) {
    x = rotate_left(e, with_bits(e, IG_OP_mul, x, b->first), b->turn);
    x = ig_build_xor(e, half, with_bits(e, IG_OP_mul, x, b->second));
    x = ig_build_add(e, rotate_left(e, x, b->last_turn), other);
    return with_bits(e, IG_OP_add, with_bits(e, IG_OP_mul, x, 5), b->added);
}

/* Of 16 bytes, x and y; all of u64. */
static ig_value *hash_of(ig_expr *e, ig_value *x, ig_value *y, ig_value *seed) {
    const uint64_t c1 = 0x87c37b91114253d5, c2 = 0x4cf5ad432745937f;
    const block low = { c1, c2, 0x52dce729, 31, 27 };
    const block high = { c2, c1, 0x38495ab5, 33, 31 };
    ig_value *h1 = mix_block(e, &low, x, seed, seed);
    ig_value *h2 = mix_block(e, &high, y, seed, h1);
    h1 = with_bits(e, IG_OP_xor, h1, 16);
    h2 = with_bits(e, IG_OP_xor, h2, 16);
    h1 = ig_build_add(e, h1, h2);
    h2 = mix_last(e, ig_build_add(e, h2, h1));
    h1 = ig_build_add(e, mix_last(e, h1), h2);
    h2 = ig_build_add(e, h2, h1);
    return ig_build_xor(e, h1, h2);
}

/* The hash as its 64 bits: where it does not fit into i64, torch raises. */
ig_status ig_ts_op_fb_murmur(ig_ts_call *call) {
    ig_value *x = ig_fb_arg(call, 0, IG_DT_u64);
    ig_value *y = ig_expr_cast(call->e, ig_fb_size(call, 1), IG_DT_u64);
    ig_value *seed = ig_expr_cast(call->e, ig_fb_size(call, 2), IG_DT_u64);
    IG_TRY(call->e->status);
    ig_expr_guard_equal(call->e, ig_expr_extent(call->e, x, 0), ig_dim_of(1),
                        "one number is hashed");
    IG_TRY(call->e->status);
    ig_value *hash = hash_of(call->e, ig_expr_reshape(call->e, x, 0, NULL), y, seed);
    return ig_aten_give(call, ig_expr_cast(call->e, hash, IG_DT_i64));
}

/* ---- tables ---- */

static ig_value *full_of_none(ig_expr *e, ig_dim rows, ig_dtype dtype) {
    ig_dim dims[] = { rows, ig_dim_of(1) };
    ig_value *none = ig_expr_integer(e, dtype, -1), *all = NULL;
    return (all = ig_expr_expand(e, none, 2, dims)) != NULL ? all : NULL;
}

ig_status ig_ts_op_fb_zch_buffer(ig_ts_call *call) {
    enum { SIZE, HAS_METADATA, DEVICE, IS_LONG };
    bool has_metadata, is_long;
    ig_dim rows = ig_aten_dim(call, SIZE);
    has_metadata = ig_aten_bool(call, HAS_METADATA);
    is_long = ig_aten_bool(call, IS_LONG);
    IG_TRY(ig_ts_give(call, 0,
                      full_of_none(call->e, rows, is_long ? IG_DT_i64 : IG_DT_i32)));
    return has_metadata ? ig_ts_give(call, 1, full_of_none(call->e, rows, IG_DT_i32))
                        : ig_fb_give_none(call, 1);
}

enum {
    INPUT,
    IDENTITIES,
    MAX_PROBE,
    CIRCULAR,
    EXP_HOURS,
    READONLY,
    LOCAL_SIZES,
    OFFSETS,
    METADATA,
    ON_UVM,
    NO_FALLBACK,
    MODULO_IDENTITY,
    INPUT_METADATA,
    THRESHOLD,
    POLICY,
    OPT_IN,
    RESERVED,
    OPT_IN_RANDS,
    RUNTIME_META
};

/* Refuses the arguments of training: tables are only read. */
static ig_status check_reads(ig_ts_call *call) {
    bool is_circular, is_readonly, is_modulo;
    int64_t hours, threshold;
    is_circular = ig_aten_bool(call, CIRCULAR);
    is_readonly = ig_aten_bool(call, READONLY);
    is_modulo = ig_aten_bool(call, MODULO_IDENTITY);
    hours = ig_aten_int(call, EXP_HOURS);
    threshold = ig_aten_int(call, THRESHOLD);
    if (!is_readonly) {
        return ig_ts_fail(
            call, IG_UNSUPPORTED,
            "readonly=False puts new ids into the table: call eval() on the module before it is scripted, or pass readonly=True");
    }
    if (hours != -1 || threshold != -1 || !ig_ts_is_none(call, METADATA) ||
        !ig_ts_is_none(call, INPUT_METADATA) || !ig_ts_is_none(call, OPT_IN_RANDS)) {
        return ig_ts_fail(
            call, IG_UNSUPPORTED,
            "exp_hours, eviction_threshold, metadata, input_metadata and opt_in_rands are for tables that change: leave them out where readonly=True");
    }
    if (!is_circular || is_modulo) {
        return ig_ts_fail(
            call, IG_UNSUPPORTED,
            "circular_probe must be True and _modulo_identity_DPRECATED False");
    }
    return IG_OK;
}

typedef struct probe {
    ig_ts_call *call;
    ig_value *ids;    /* i64 [n], as the table holds them */
    ig_value *keys;   /* i64 [rows] */
    ig_value *hash;   /* u64 [n] */
    ig_value *size;   /* i64 [n] or []: of the part that is probed */
    ig_value *whole;  /* the same with the reserved rows */
    ig_value *start;  /* i64 [n]; NULL: 0 */
    int64_t max;      /* rows that are compared */
    int64_t reserved; /* rows after each part; -1: none */
} probe;

/* x of u64 mod a size of i64. */
static ig_value *mod_size(ig_expr *e, ig_value *x, ig_value *size) {
    ig_value *rest = ig_expr_map2(e, IG_OP_mod, x, ig_expr_cast(e, size, IG_DT_u64));
    return ig_expr_cast(e, rest, IG_DT_i64);
}

static ig_status read_ids(probe *p) {
    ig_ts_call *call = p->call;
    ig_expr *e = call->e;
    ig_value *given = ig_aten_tensor(call, INPUT),
             *table = ig_aten_tensor(call, IDENTITIES);
    IG_TRY(e->status);
    if (given->type->dtype == IG_DT_i32 && table->type->dtype != IG_DT_i32) {
        return ig_ts_fail(call, IG_INVALID,
                          "ids of 32 bits in a table of another type");
    }
    ig_dim rows = ig_expr_extent(e, table, 0);
    ig_value *column = ig_expr_slice(e, table, 1, ig_dim_of(0), ig_dim_of(1), 1),
             *zero = ig_expr_integer(e, IG_DT_i64, 0);
    p->keys = ig_expr_cast(e, ig_expr_reshape(e, column, 1, &rows), IG_DT_i64);
    p->ids = ig_expr_cast(e, given, IG_DT_i64);
    zero = ig_expr_cast(e, zero, IG_DT_u64);
    p->hash = hash_of(e, ig_expr_cast(e, p->ids, IG_DT_u64), zero, zero);
    if (given->type->dtype != table->type->dtype) { /* folded into 32 bits */
        ig_value *max = ig_expr_integer(e, IG_DT_i64, INT32_MAX);
        p->ids = ig_build_mod(e, p->ids, max, (ig_mod_attrs){ .truncate = true });
    }
    return e->status;
}

/* The part of the table that is each id's. */
static ig_status read_parts(probe *p) {
    ig_ts_call *call = p->call;
    ig_expr *e = call->e;
    ig_dim count = ig_fb_extent(p->call->e, p->ids, 0);
    int64_t percent = ig_aten_int(call, OPT_IN);
    p->reserved = ig_aten_int(call, RESERVED);
    bool is_open = percent == -1;
    if (is_open ? p->reserved != -1 : percent < 1 || percent > 100 || p->reserved < 1) {
        return ig_ts_fail(call, IG_INVALID,
                          "opt_in_prob is %lld with %lld reserved slots",
                          (long long)percent, (long long)p->reserved);
    }
    p->whole = ig_expr_cast(p->call->e, ig_aten_optional(p->call, LOCAL_SIZES),
                            IG_DT_i64);
    if (p->whole) {
        p->start = ig_expr_cast(p->call->e, ig_aten_optional(p->call, OFFSETS),
                                IG_DT_i64);
        if (!p->start) {
            return ig_ts_fail(call, IG_INVALID, "local sizes without offsets");
        }
        ig_expr_guard_equal(e, ig_expr_extent(e, p->whole, 0), count,
                            "each id must have a local size");
        IG_TRY(e->status);
        ig_expr_guard_equal(e, ig_expr_extent(e, p->start, 0), count,
                            "each id must have an offset");
    } else {
        p->whole = ig_expr_dim(p->call->e, ig_fb_extent(p->call->e, p->keys, 0),
                               IG_DT_i64);
    }
    p->size = is_open
                  ? p->whole
                  : ig_expr_with_integer(p->call->e, IG_OP_sub, p->whole, p->reserved);
    return p->call->e->status;
}

/* Beyond the table's rows probing comes round to the first again. */
static ig_status read_max(probe *p) {
    int64_t rows;
    p->max = ig_aten_int(p->call, MAX_PROBE);
    bool is_known = ig_dim_constant(p->call->module,
                                    ig_fb_extent(p->call->e, p->keys, 0), &rows);
    p->max = is_known && rows < p->max ? rows : p->max;
    p->max = p->max < 0 ? 0 : p->max;
    return p->call->e->status;
}

/* The rows at `distances` i64 [k] from the homes: [n, k]. */
static ig_value *rows_at(probe *p, ig_value *home, ig_value *distances) {
    assert(p->size && "read_parts has found the size of each part");
    ig_expr *e = p->call->e;
    bool is_per_id = p->start != NULL;
    ig_value *size = is_per_id ? ig_fb_column(e, p->size) : p->size;
    ig_value *row = ig_build_add(e, ig_fb_column(e, home), distances);
    row = ig_expr_map2(e, IG_OP_mod, row, size);
    return is_per_id ? ig_build_add(e, row, ig_fb_column(e, p->start)) : row;
}

/* The least of these distances at which a row holds the id; `max` where none does. */
static ig_value *find_nearest(probe *p, ig_value *home, ig_value *distances) {
    ig_expr *e = p->call->e;
    ig_value *rows = rows_at(p, home, distances);
    ig_value *keys = ig_compose_take_rows(e, p->keys, rows);
    ig_value *is_there = ig_build_eq(e, keys, ig_fb_column(e, p->ids));
    ig_value *none = ig_expr_integer(e, IG_DT_i64, p->max);
    return ig_expr_reduce_axis(e, IG_REDUCE_min,
                               ig_build_where(e, is_there, distances, none), 1, false);
}

/* One trip: STEP rows more.  The last ones may be compared for nothing. */
static void fill_trip(probe *p, ig_block *body, ig_value *home) {
    ig_ts_call *call = p->call;
    ig_value *first = ig_expr_with_integer(call->e, IG_OP_mul, body->args[0], STEP);
    ig_value *distances =
        ig_build_add(call->e, ig_expr_iota(call->e, IG_DT_i64, ig_dim_of(STEP)), first);
    ig_value *found = ig_build_min(call->e, body->args[2],
                                   find_nearest(p, home, distances));
    ig_value *missing = ig_expr_with_integer(call->e, IG_OP_ge, found, p->max);
    missing = ig_expr_reduce_axis(call->e, IG_REDUCE_sum,
                                  ig_expr_cast(call->e, missing, IG_DT_i64), 0, false);
    missing = ig_expr_with_integer(call->e, IG_OP_gt, missing, 0);
    if (call->e->status == IG_OK) {
        ig_value *yields[] = { missing, found };
        ig_make_yield(call->builder, yields, 2);
    }
}

static ig_value *loop_trips(probe *p, ig_value *home) {
    ig_ts_call *call = p->call;
    ig_dim count = ig_fb_extent(p->call->e, p->ids, 0);
    int64_t trips = p->max / STEP + (p->max % STEP != 0);
    ig_value *none = NULL, *max = ig_expr_integer(p->call->e, IG_DT_i64, p->max);
    if (!(none = ig_expr_expand(call->e, max, 1, &count))) {
        return NULL;
    }
    ig_value *operands[] = { ig_expr_integer(p->call->e, IG_DT_i64, trips),
                             ig_expr_integer(call->e, IG_DT_bool, 1), none };
    ig_builder outside = *call->builder;
    ig_op *op = ig_expr_open_loop(call->e, operands);
    if (!op) {
        return NULL;
    }
    fill_trip(p, op->bodies[0], home);
    *call->builder = outside;
    return p->call->e->status == IG_OK ? ig_op_result(op, 0) : NULL;
}

/* Distances from the homes, `max` for ids that are not there. */
static ig_value *distances_of(probe *p, ig_value *home) {
    assert(p->max > 0 && "the caller has handled tables without a probe");
    if (p->max > STEP) {
        return loop_trips(p, home);
    }
    ig_dim max = ig_dim_const(p->call->module, p->max);
    return find_nearest(p, home, ig_expr_iota(p->call->e, IG_DT_i64, max));
}

/* The row of ids that are not in the table. */
static ig_value *fall_back(probe *p, bool has_fallback) {
    assert(p->whole && "read_parts has found the size of each part");
    ig_expr *e = p->call->e;
    if (!has_fallback) {
        return ig_expr_integer(e, IG_DT_i64, -1);
    }
    ig_value *row = mod_size(e, p->hash, p->whole);
    if (p->reserved != -1) {
        row = mod_size(e, p->hash, ig_expr_integer(e, IG_DT_i64, p->reserved));
        row = ig_build_add(e, p->size, row);
    }
    return p->start ? ig_build_add(e, row, p->start) : row;
}

ig_status ig_ts_op_fb_zch(ig_ts_call *call) {
    probe p = { .call = call };
    IG_TRY(check_reads(call));
    bool has_no_fallback = ig_aten_bool(call, NO_FALLBACK);
    IG_TRY(read_ids(&p));
    IG_TRY(read_parts(&p));
    IG_TRY(read_max(&p));
    ig_value *row = fall_back(&p, !has_no_fallback);
    if (p.max > 0) {
        ig_value *home = mod_size(call->e, p.hash, p.size);
        ig_value *distance = distances_of(&p, home);
        ig_value *is_there = ig_expr_with_integer(call->e, IG_OP_lt, distance, p.max);
        ig_value *at = ig_build_add(call->e, home, distance);
        at = ig_expr_map2(call->e, IG_OP_mod, at, p.size);
        at = p.start ? ig_build_add(call->e, at, p.start) : at;
        row = ig_build_where(call->e, is_there, at, row);
    } else {
        ig_dim count = ig_fb_extent(call->e, p.ids, 0);
        row = ig_expr_expand(call->e, row, 1, &count);
    }
    IG_TRY(ig_ts_give(call, 0, row));
    return ig_fb_give_none(call, 1); /* nothing is evicted */
}
