/* Reading a shard op: which rank is to have which part of a table.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_IR_SHARD_H
#define IG_IR_SHARD_H

#include "ir/ops.h"

enum { IG_SHARD_NUMBERS = 5, IG_SHARD_PARTS_MAX = 4096, IG_SHARD_WORLD_MAX = 1 << 16 };
enum { IG_SHARD_CHUNKS_MAX = 16 };

typedef struct ig_shard {
    int64_t rank, row, rows, column, columns;
} ig_shard;

/* How many there are; 0: every rank has the whole table. */
uint32_t ig_shard_count(const ig_op *op);
ig_shard ig_shard_at(const ig_op *op, uint32_t index);

/* The name of the weight that the value is, also where it is opened; NULL: it is
 * none. */
const char *ig_table_name(const ig_value *table);

/* A collective's lists, and how many operands each has: itself, its counts, and for an
 * all_to_all with known receive counts these.  Of all_reduce and all_gather: itself. */
uint32_t ig_list_stride(const ig_op *op);
uint32_t ig_list_count(const ig_op *op);
/* How many ranks meet at the op; 0: the row does not say. */
int64_t ig_op_world(const ig_op *op);

#endif
