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

static bool cuts_rows(shard_type type) {
    return type == SHARD_ROW_WISE || type == SHARD_TABLE_ROW_WISE;
}

static bool cuts_columns(shard_type type) {
    return type == SHARD_COLUMN_WISE || type == SHARD_TABLE_COLUMN_WISE;
}

static int64_t count_parts(const shard_problem *p, const shard_option *option) {
    const shard_table *table = option->table;
    if (option->type == SHARD_DATA_PARALLEL || option->type == SHARD_ROW_WISE) {
        return p->world;
    }
    if (option->type == SHARD_TABLE_ROW_WISE) {
        return p->local_world;
    }
    return cuts_columns(option->type) ? table->dim / column_width(table) : 1;
}

void shard_cut(ig_arena *arena, const shard_problem *problem, shard_option *option) {
    const shard_table *table = option->table;
    int64_t count = count_parts(problem, option);
    int64_t block = (table->rows + count - 1) / count;
    int64_t width = table->dim / count;
    option->part_count = count;
    option->parts = IG_NEW_ARRAY(arena, shard_part, (size_t)count);
    for (int64_t i = 0; i < count; i++) {
        shard_part *part = &option->parts[i];
        part->size[0] = table->rows;
        part->size[1] = table->dim;
        if (cuts_rows(option->type)) {
            int64_t begin = i * block < table->rows ? i * block : table->rows;
            int64_t left = table->rows - begin;
            part->offset[0] = begin;
            part->size[0] = left < block ? left : block;
        } else if (cuts_columns(option->type)) {
            part->offset[1] = i * width;
            part->size[1] = width;
        }
    }
}
