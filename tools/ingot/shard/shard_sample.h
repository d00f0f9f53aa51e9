/* Which rows of tables are looked up how often, by a sample of ids.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_TOOLS_INGOT_SHARD_SHARD_SAMPLE_H
#define IG_TOOLS_INGOT_SHARD_SHARD_SAMPLE_H

#include <ingot/values.h>
#include <jansson.h>

/* Puts "row_shares" of the tables whose ids an .npz file has into the constraints of
 * `input`, where they are not given.  An array's name is a table's, or a part of it
 * between dots; ids below 0 are not counted.  0, or the exit
 * status after a message. */
int shard_take_sample(ig_context *context, const char *path, json_t *input);

#endif
