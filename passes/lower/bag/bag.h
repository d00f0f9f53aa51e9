/* Embedding bags: features, loops and rows of bags, for the schedules of each target.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_PASSES_LOWER_BAG_BAG_H
#define IG_PASSES_LOWER_BAG_BAG_H

#include "ir/bag.h"
#include "passes/lower/schedule.h"

/* Fields of a feature that the kernel reads; they may differ within a class. */
typedef enum bag_field {
    BAG_rows, /* of the first table */
    BAG_padding,
    BAG_id_stride, /* elements from one id to the next */
    BAG_bag_stride,
    BAG_length,
    BAG_id_count,
    BAG_weight_stride,
    BAG_weight_bag_stride,
    BAG_begin_stride,
    BAG_begin_count,
    BAG_end_stride,
    BAG_out_stride,
    BAG_bags,
    BAG_window_bags, /* that offsets without pooling delimit */
    BAG_first_tile,  /* in the grid of all features */
    BAG_FIELDS
} bag_field;

/* One feature of the bag op, as the kernel sees its operands. */
typedef struct bag_feature {
    const ig_lower_operand *table, *ids, *begins, *ends, *weights, *out;
    uint32_t operand_count;              /* of this feature */
    uint32_t tables;                     /* how many, from `table` on */
    ig_dim *rows, all_rows;              /* of each table; of all together */
    int64_t ids_operand, begins_operand; /* their numbers among the launch's operands */
    int64_t mask, dim, padding;
    ig_pool pool;
    bool has_padding, is_large; /* larger than the caches */
    ig_bag_last last;
    ig_empty empty;
    ig_dim fields[BAG_FIELDS]; /* those of absent operands are unset */
} bag_feature;

/* Features that one loop nest serves. */
typedef struct bag_class {
    ig_lower *lower;
    const bag_feature *features;
    uint32_t count;
    uint32_t stride; /* operands from one feature to the next */
    uint32_t lanes;
    uint32_t parts;       /* codes of one byte that are summed side by side */
    ig_row_layout layout; /* tables */
    ig_negative negative;
    ig_range_rule range;
    ig_offsets_rule offsets;
    ig_bag_last last;
    ig_value **fields;  /* by bag_field, once they are in the kernel */
    bool *is_array;     /* by bag_field: one per feature */
    ig_value *all_rows; /* of several tables: one number, or one per table */
    bool rows_differ;
    ig_value *plan; /* CPUs: what this call does (share.c) */
} bag_class;

enum { BAG_AHEAD = 4 };

typedef struct bag_ahead bag_ahead;

/* Values in force while code for one bag is emitted. */
typedef struct bag_cursor {
    ig_value *table, *ids, *begins, *ends, *weights, *out;
    ig_value *ids_operand, *begins_operand; /* their numbers, for reports */
    ig_value *rows, *padding, *bags, *id_count;
    ig_value *index, *operand; /* of the feature; of its first table's operand */
    ig_value *id_stride, *bag_stride, *length, *out_stride;
    ig_value *begin_stride, *begin_count, *end_stride;
    ig_value *window[2]; /* pool none with offsets: first id, and one past the last */
    ig_value *weight_stride, *weight_bag_stride;
    ig_value *count, *first, *id_at, *weight_at; /* of this bag */
    ig_value *divisor;       /* of this bag's mean, when it is not what counts */
    ig_value *weight;        /* of this id */
    int64_t column;          /* first one of this chunk */
    ig_value *thread_column; /* GPU: this thread's column of the row; else NULL */
    bag_ahead *ahead;        /* NULL: nobody looks ahead */
} bag_cursor;

/* The cursor that runs ahead of the look-ups (ahead.c).  The first four are carried
 * from id to id. */
struct bag_ahead {
    ig_value *position, *left; /* of the next id, in its buffer; ids to come */
    ig_value *feature;         /* its number; carried when there are many */
    ig_value *in_bag;          /* ids to come of the bag, when bags are apart */
    bag_cursor only;           /* tables and ids of the only feature */
    bool has_many, has_gaps;
};

enum {
    BAG_VECTORS = 16,
    BAG_PARTS = 4,
    BAG_ROWS = 8 /* GPU: that a thread reads before it adds the first */
};

/* Sums carried from id to id. */
typedef struct bag_sums {
    ig_value *vectors[BAG_VECTORS];
    uint32_t count;
    ig_value *bias;  /* quantised tables: the sum of weighted biases, one lane */
    ig_value *taken; /* ids that count, when some may not; else NULL */
} bag_sums;

/* One row as it is loaded: vectors of numbers, and their factors or NULL. */
typedef struct bag_row {
    ig_value *pointer, *by, *vectors[BAG_VECTORS];
} bag_row;

/* read.c: the bag op's operands and attributes, checked. */
ig_status bag_read_features(ig_lower *lower, const ig_op *anchor,
                            bag_feature *features);
ig_status bag_choose_lanes(bag_class *c);
/* GPU: lanes that a thread reads at once, 16 bytes of a row at most; 1 where rows or
 * results may begin elsewhere than at a multiple of them. */
uint32_t bag_thread_lanes(const bag_class *c);
ig_dtype bag_sum_dtype(const bag_class *c);
bool bag_is_table(const bag_feature *f); /* bytes in rows, no plain matrix */

/* bag.c: the loops; a target gives the innermost one (cpu/bag.c, gpu/bag.c). */

/* Emits the bags of feature `number` of a class in the tiles range[0] … range[1]. */
typedef void (*bag_emit_feature)(const bag_class *c, ig_builder *b, ig_value *number,
                                 ig_value *const range[2], bag_ahead *ahead);
/* The whole schedule around `emit`: classes, grid, cost, error messages. */
ig_status bag_lower(ig_lower *lower, bag_emit_feature emit);
/* Loads values that all bags of a feature share. */
void bag_open_feature(const bag_class *c, ig_builder *b, ig_value *number,
                      bag_cursor *at);
/* Of that, the tables. */
void bag_open_tables(const bag_class *c, ig_builder *b, ig_value *number,
                     ig_value *operand, bag_cursor *at);
/* Of that, where the next id is. */
void bag_open_strides(const bag_class *c, ig_builder *b, ig_value *number,
                      bag_cursor *at);
/* Where the ids of bag `first` begin and where those of bag `last` end, unchecked. */
void bag_load_offsets(const bag_class *c, ig_builder *b, const bag_cursor *at,
                      ig_value *first, ig_value *last, ig_value *out_ends[2]);
ig_value *bag_load_offset(ig_builder *b, ig_value *buffer, ig_value *index,
                          ig_value *stride);
/* The feature's bags in those tiles: first, and one past the last. */
void bag_open_tiles(const bag_class *c, ig_builder *b, ig_value *number, bag_cursor *at,
                    ig_value *const range[2], ig_value *out_bags[2]);
/* Where the ids of one bag are, checked. */
void bag_open(const bag_class *c, ig_builder *b, bag_cursor *at, ig_value *bag);
/* The row of an id, in the table that is then the cursor's. */
ig_value *bag_open_id(const bag_class *c, ig_builder *b, bag_cursor *at, ig_value *id);
/* The sum of an opened bag in `vectors` vectors of columns from at->column on. */
void bag_emit_columns(const bag_class *c, ig_builder *b, bag_cursor *at, ig_value *bag,
                      uint32_t vectors);

/* share.c: the bags of each feature in those tiles, in a local array. */
void bag_plan(bag_class *c, ig_builder *b, ig_value *const range[2]);
void bag_planned_bags(const bag_class *c, ig_builder *b, ig_value *number,
                      ig_value *out_bags[2]);
/* Where their ids begin in the buffer, and how many there are. */
void bag_planned_ids(const bag_class *c, ig_builder *b, ig_value *number,
                     ig_value **out_position, ig_value **out_left);

/* ahead.c; a NULL cursor carries nothing and does not step. */
/* False: every table stays in the caches. */
bool bag_ahead_start(const bag_class *c, ig_builder *b, bag_ahead *ahead);
void bag_ahead_step(const bag_class *c, ig_builder *b, bag_ahead *ahead);
uint32_t bag_ahead_pack(const bag_ahead *ahead, ig_value **out_values);
void bag_ahead_unpack(bag_ahead *ahead, ig_value *const *values);

/* row.c */
bag_sums bag_sums_start(const bag_class *c, ig_builder *b, uint32_t vectors);
uint32_t bag_sums_pack(const bag_sums *sums, ig_value **out_values);
void bag_sums_unpack(bag_sums *sums, ig_value *const *values);
void bag_add_row(const bag_class *c, ig_builder *b, const bag_cursor *at, ig_value *row,
                 bag_sums *sums);
/* The same in two steps, for several rows at once. */
void bag_load_row(const bag_class *c, ig_builder *b, const bag_cursor *at,
                  ig_value *row, bag_sums *sums, bag_row *out);
void bag_add_loaded(const bag_class *c, ig_builder *b, const bag_cursor *at,
                    const bag_row *row, bag_sums *sums);
void bag_prefetch_row(const bag_class *c, ig_builder *b, const bag_cursor *at,
                      ig_value *row);
void bag_store(const bag_class *c, ig_builder *b, const bag_cursor *at, ig_value *bag,
               const bag_sums *sums);

#endif
