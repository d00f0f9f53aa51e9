/* How each type of sharding cuts a table.
 * SPDX-License-Identifier: Apache-2.0 */
#include "driver/shard/shard.h"

/* Parts of whole height.  The width is the least divisor of `dim` from min_partition on
 * that four divides; there may be none. */
static int64_t column_width(const shard_table *table) {
    for (int64_t width = table->min_partition; width < table->dim; width++) {
        if (table->dim % width == 0 && width % 4 == 0) {
            return width;
        }
    }
    return table->dim;
}

bool shard_cuts_rows(shard_type type) {
    return type == SHARD_ROW_WISE || type == SHARD_TABLE_ROW_WISE || type == SHARD_GRID;
}

bool shard_cuts_columns(shard_type type) {
    return type == SHARD_COLUMN_WISE || type == SHARD_TABLE_COLUMN_WISE ||
           type == SHARD_GRID;
}

/* Pieces side by side, and one below the other. */
typedef struct cut_counts {
    int64_t rows, columns;
} cut_counts;

static cut_counts count_pieces(const shard_problem *p, const shard_option *option) {
    const shard_table *table = option->table;
    bool is_local = option->type == SHARD_TABLE_ROW_WISE || option->type == SHARD_GRID;
    return (cut_counts){
        shard_cuts_rows(option->type) ? (is_local ? p->local_world : p->world) : 1,
        shard_cuts_columns(option->type) ? table->dim / column_width(table) : 1,
    };
}

void shard_cut(ig_arena *arena, const shard_problem *problem, shard_option *option) {
    const shard_table *table = option->table;
    cut_counts pieces = count_pieces(problem, option);
    bool is_copied = option->type == SHARD_DATA_PARALLEL;
    int64_t count = is_copied ? problem->world : pieces.rows * pieces.columns;
    int64_t block = (table->rows + pieces.rows - 1) / pieces.rows;
    int64_t width = table->dim / pieces.columns;
    option->part_count = count;
    option->parts = IG_NEW_ARRAY(arena, shard_part, (size_t)count);
    for (int64_t i = 0; i < count; i++) {
        shard_part *part = &option->parts[i];
        int64_t row = is_copied ? 0 : i % pieces.rows * block;
        int64_t begin = row < table->rows ? row : table->rows;
        int64_t left = table->rows - begin;
        part->offset[0] = begin;
        part->size[0] = left < block ? left : block;
        part->offset[1] = is_copied ? 0 : i / pieces.rows * width;
        part->size[1] = width;
    }
}
