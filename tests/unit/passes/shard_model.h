/* The model that tests of sharding run: bags of every kind over six tables, ways to
 * divide these, and batches.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_TESTS_UNIT_PASSES_SHARD_MODEL_H
#define IG_TESTS_UNIT_PASSES_SHARD_MODEL_H

#include "base/writer.h"
#include "ir/shard.h"
#include "tests/unit/unit.h"

#include <string.h>

enum { WORLD = 8, OUTPUTS = 12, INPUTS = 7, SHARDS = 64, TABLES = 6 };
enum { BAGS_MAX = 4, IDS_MAX = 16 };

typedef enum shard_cut {
    DATA_PARALLEL,
    TABLE_WISE,
    COLUMN_WISE,
    ROW_WISE,
    TABLE_ROW_WISE,
    TABLE_COLUMN_WISE,
    GRID,
    BY_HAND, /* one rank has rows in two places */
    TYPES
} shard_cut;

static inline bool shard_splits_rows(shard_cut type) {
    return type == ROW_WISE || type == TABLE_ROW_WISE || type == GRID ||
           type == BY_HAND;
}

typedef struct shard_table {
    const char *name;
    int64_t rows, dim;
} shard_table;

static const shard_table shard_tables[TABLES] = { { "a", 11, 8 }, { "b", 3, 4 },
                                                  { "h", 5, 4 },  { "q", 9, 8 },
                                                  { "d", 6, 4 },  { "n", 7, 4 } };

/* ---- where shards lie ---- */

typedef struct shard_layout {
    ig_shard shards[SHARDS];
    uint32_t count;
} shard_layout;

static inline void add(shard_layout *l, int64_t rank, const int64_t rows[2],
                       const int64_t columns[2]) {
    CHECK(l->count < SHARDS);
    l->shards[l->count++] = (ig_shard){ rank, rows[0], rows[1] - rows[0], columns[0],
                                        columns[1] - columns[0] };
}

/* The end of piece `i` of `count` equal ones, the last ones shorter or empty. */
static inline int64_t end_of(int64_t i, int64_t count, int64_t whole) {
    int64_t block = (whole + count - 1) / count, end = (i + 1) * block;
    return end < whole ? end : whole;
}

/* `rows` x `columns` pieces, on ranks from `first` on, rows of a column next to each
 * other. */
static inline void add_pieces(shard_layout *l, const shard_table *t, int64_t first,
                              int64_t rows, int64_t columns, int64_t world) {
    for (int64_t c = 0; c < columns; c++) {
        for (int64_t r = 0; r < rows; r++) {
            int64_t row[] = { r ? end_of(r - 1, rows, t->rows) : 0,
                              end_of(r, rows, t->rows) };
            int64_t column[] = { c ? end_of(c - 1, columns, t->dim) : 0,
                                 end_of(c, columns, t->dim) };
            add(l, (first + c * rows + r) % world, row, column);
        }
    }
}

static inline shard_layout shard_lay_out(shard_cut type, uint32_t index,
                                         int64_t world) {
    shard_layout l = { .count = 0 };
    const shard_table *t = &shard_tables[index];
    int64_t local = world % 2 ? world : world == 8 ? 4 : 2, hosts = world / local;
    int64_t host = index % hosts * local, first = index % world;
    if (type == TABLE_WISE) {
        add_pieces(&l, t, first, 1, 1, world);
    } else if (type == COLUMN_WISE) {
        add_pieces(&l, t, first, 1, world < t->dim ? world : t->dim, world);
    } else if (type == ROW_WISE) {
        add_pieces(&l, t, 0, world, 1, world);
    } else if (type == TABLE_ROW_WISE) {
        add_pieces(&l, t, host, local, 1, world);
    } else if (type == TABLE_COLUMN_WISE) {
        add_pieces(&l, t, host, 1, local, world);
    } else if (type == GRID) {
        add_pieces(&l, t, 0, local, hosts, world);
    } else if (type == BY_HAND) {
        add_pieces(&l, t, first, 3, 2, world < 3 ? world : 2);
    }
    return l;
}

/* ---- the model ---- */

static inline uint32_t draw(uint32_t *state) {
    *state = *state * 1664525u + 1013904223u;
    return *state >> 8;
}

static inline void put_numbers(ig_writer *out, const shard_table *t, bool is_whole,
                               bool is_size, uint32_t *state) {
    for (int64_t i = 0; i < t->rows * t->dim; i++) {
        int32_t value = (int32_t)(draw(state) % 2001) - 1000;
        value = is_size && value < 0 ? -value : value;
        ig_put(out, i ? ", " : "[");
        if (is_whole) {
            ig_put(out, "%d", value);
        } else {
            ig_put(out, "%.6g", value / 777.0);
        }
    }
    ig_put(out, "]\n");
}

/* Rows of codes behind their f16 scale and bias, 0.1 and 0. */
static inline void put_codes(ig_writer *out, const shard_table *t, uint32_t *state) {
    ig_put(out, "inline(0x");
    for (int64_t r = 0; r < t->rows; r++) {
        ig_put(out, "662e0000");
        for (int64_t i = 0; i < t->dim; i++) {
            ig_put(out, "%02x", draw(state) % 256);
        }
    }
    ig_put(out, ")\n");
}

static const char shard_body[] =
    "graph @main(%ids: i64[N], %off: i64[B], %off1: i64[B + 1], %ends: i64[B],\n"
    "            %w: f32[N], %ids2: i64[B, 3], %w2: f32[B, 3]) {\n"
    "%0, %1, %2 = bag @a, %ids, %off, @b, %ids, %off1, @a, %ids, %off, %ends, %w\n"
    "    {operands = [1, 1, 7], pool = [sum, mean, mean], last = [ids, offset, ids],\n"
    "     empty = [zero, nan, nan], negative = skip, range = clamp, offsets = clamp}\n"
    "%3 = bag @a, %ids2, %w2 {operands = [4], pool = [max], range = first}\n"
    "%4, %5 = bag @h, %ids, %off, @q, %ids, %off {operands = [1, 1],\n"
    "    pool = [sum, mean], padding = [1, 2], negative = skip, range = clamp,\n"
    "    offsets = clamp}\n"
    "%6 = bag @q, %ids2 {operands = [0], pool = [none], range = clamp}\n"
    "%7 = bag @a, %ids, %off1 {operands = [1], pool = [mean], last = [mean],\n"
    "    padding = [3], negative = skip, range = clamp, offsets = clamp}\n"
    "%8 = bag @a, %ids, %off1, %w {operands = [5], pool = [none], last = [offset],\n"
    "    negative = skip, range = clamp, offsets = clamp}\n"
    "%9 = bag @d, %ids, %off1 {operands = [1], pool = [sum], last = [rest],\n"
    "    empty = [neg_inf], negative = skip, range = clamp, offsets = clamp}\n"
    "%10 = bag @n, %ids2 {operands = [0], pool = [none], range = clamp}\n"
    "%11 = bag @a, %ids, %off1 {operands = [1], pool = [max], last = [offset],\n"
    "    negative = skip, range = clamp, offsets = clamp}\n"
    "ret %0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11\n}\n}\n";

/* Outputs that no sum goes into. */
static inline bool shard_copies(uint32_t output) {
    return output == 3 || output == 6 || output == 8 || output == 10 || output == 11;
}

/* Sums of codes, which are added otherwise when they have become rows. */
static inline bool shard_adds_codes(uint32_t output) {
    return output == 5;
}

/* Half a unit in the last place: f16, f64, else f32. */
static inline double rounding(uint32_t output) {
    return output == 4 ? 0x1p-11 : output == 9 ? 0x1p-53 : 0;
}

static inline double shard_bound(uint32_t output, int64_t world, double size) {
    double unit = output == 9 ? 0x1p-53 : 0x1p-24;
    return 2 * (double)world * unit * size + rounding(output) * size;
}

/* With sizes in place of numbers, or not. */
static inline const char *shard_model_text(ig_arena *arena, bool is_size) {
    static const char *const types[] = {
        "weight @a : f32", "weight @b : f32",
        "weight @h : f16", "table @q : u8<rowwise f16>",
        "weight @d : f64", "weight @n : i64"
    };
    ig_writer out;
    uint32_t state = 5;
    ig_writer_init(&out, arena);
    ig_put(&out, "module @t {\n");
    for (uint32_t i = 0; i < TABLES; i++) {
        ig_put(&out, "%s[%lld, %lld] = ", types[i], (long long)shard_tables[i].rows,
               (long long)shard_tables[i].dim);
        if (i == 3) {
            put_codes(&out, &shard_tables[i], &state);
        } else {
            put_numbers(&out, &shard_tables[i], i == 5, is_size, &state);
        }
    }
    ig_put(&out, "%s", shard_body);
    return out.data;
}

/* ---- inputs ---- */

typedef struct shard_input {
    bool is_float;
    uint32_t rank;
    int64_t dims[2];
    const void *data;
} shard_input;

typedef struct shard_inputs {
    int64_t ids[IDS_MAX], begins[BAGS_MAX], offsets[BAGS_MAX + 1], ends[BAGS_MAX];
    int64_t fixed[BAGS_MAX * 3];
    float weights[IDS_MAX], fixed_weights[BAGS_MAX * 3];
    shard_input inputs[INPUTS];
} shard_inputs;

/* A batch of 0 to 4, ids between -1 and a few beyond the largest table; offsets rise,
 * and some bags are empty; ids are left behind the last. */
static inline void shard_draw_inputs(shard_inputs *out, uint32_t seed) {
    uint32_t state = seed * 2654435761u + 1;
    int64_t bags = draw(&state) % (BAGS_MAX + 1);
    int64_t ids = bags * 3 + draw(&state) % 4, at = 0;
    *out = (shard_inputs){ .inputs = { { false, 1, { ids }, out->ids },
                                       { false, 1, { bags }, out->begins },
                                       { false, 1, { bags + 1 }, out->offsets },
                                       { false, 1, { bags }, out->ends },
                                       { true, 1, { ids }, out->weights },
                                       { false, 2, { bags, 3 }, out->fixed },
                                       { true, 2, { bags, 3 }, out->fixed_weights } } };
    for (int64_t i = 0; i < ids; i++) {
        out->ids[i] = (int64_t)(draw(&state) % 15) - 1;
        out->weights[i] = (float)(draw(&state) % 64) / 16.0f;
    }
    for (int64_t i = 0; i <= bags; i++) {
        out->offsets[i] = at;
        if (i < bags) {
            out->begins[i] = at;
            at += draw(&state) % 5;
            out->ends[i] = at;
        }
    }
    for (int64_t i = 0; i < bags * 3; i++) {
        out->fixed[i] = (int64_t)(draw(&state) % 14) - 2;
        out->fixed_weights[i] = (float)(draw(&state) % 64) / 16.0f;
    }
}

#endif
