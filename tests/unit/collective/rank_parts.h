/* What a rank of a group sends and adds in tests, and what it must get.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_TESTS_UNIT_COLLECTIVE_RANK_PARTS_H
#define IG_TESTS_UNIT_COLLECTIVE_RANK_PARTS_H

#include "ingot/group.h"

#include <stdbool.h>
#include <string.h>

enum { PART_RANKS = 4, PART_BYTES = 100000 }; /* at most */

/* Below `max`; nothing from rank 0 to rank 1. */
static inline size_t bytes_between(uint32_t from, uint32_t to, size_t max) {
    return from == 0 && to == 1 ? 0 : (from * 31013 + to * 5701 + 1) % max;
}

static inline char byte_at(uint32_t from, uint32_t to, size_t i) {
    return (char)(from * 64 + to * 16 + i * 7);
}

/* Parts of fewer than `max` bytes between all ranks: did they come? */
static inline bool exchange_all(ig_group *group, uint32_t rank, uint32_t world,
                                size_t max) {
    static char out[PART_RANKS][PART_BYTES], in[PART_RANKS][PART_BYTES];
    ig_group_part send[PART_RANKS] = { { 0 } }, receive[PART_RANKS] = { { 0 } };
    for (uint32_t r = 0; r < world; r++) {
        send[r] = (ig_group_part){ out[r], bytes_between(rank, r, max) };
        receive[r] = (ig_group_part){ in[r], bytes_between(r, rank, max) };
        memset(in[r], 99, max);
        for (size_t i = 0; i < send[r].bytes; i++) {
            out[r][i] = byte_at(rank, r, i);
        }
    }
    bool is_right = ig_group_all_to_all(group, send, receive) == IG_OK;
    for (uint32_t r = 0; r < world; r++) {
        for (size_t i = 0; i < receive[r].bytes; i++) {
            is_right = is_right && in[r][i] == byte_at(r, rank, i);
        }
    }
    return is_right;
}

/* Is the sum of all ranks' numbers right, and do they meet? */
static inline bool add_all(ig_group *group, uint32_t rank, uint32_t world) {
    enum { COUNT = 333 };
    float data[COUNT];
    for (size_t i = 0; i < COUNT; i++) {
        data[i] = (float)((rank + 1) * i);
    }
    bool is_right = ig_group_all_reduce(group, IG_GROUP_F32, data, COUNT) == IG_OK;
    for (size_t i = 0; i < COUNT; i++) {
        is_right = is_right && data[i] == (float)(world * (world + 1) / 2 * i);
    }
    return is_right && ig_group_barrier(group) == IG_OK;
}

#endif
