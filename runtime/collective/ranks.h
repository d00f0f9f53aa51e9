/* Functions that programs of ranks call: those of ops of sharded graphs (ir/ops.def).
 * SPDX-License-Identifier: Apache-2.0
 *
 * Buffers are outputs, then inputs; all hold i64 but weights and lists.
 *
 * rank_bag_ids(lengths, ids, [weights]; ids, [begins], [ends], [weights])
 *     params: operands there (1 begins, 2 ends, 4 weights); pool (1 mean, 2 max,
 *     3 none); last, negative, range and offsets rules (ir/ops.h); rows of the table;
 *     number of the feature; whether there is a padding id, and which; ids; begins; ids
 *     of each bag where nothing says (pooled ids [bags, n]); bytes of a weight
 * rank_bag_ids_count(count; ids, [begins], [ends]): how many ids that gives
 * rank_deal(lengths, lists a rank, ids, ids a rank, places, [weights], scratch [world];
 *           lengths, ids, [weights], shards)
 *     params: world, shards, whether -1 is kept, bags, ids, bytes of a weight, whether
 *     an id goes but once.
 *     shards: first rows, ranks, first rows there, then each rank's number among those
 *     that have rows, or -1
 * rank_deal_count(count; ids): how many go anywhere.  params: whether -1 is kept, ids,
 *     whether an id goes but once
 * rank_meet_counts(found; counts …)
 *     params: world, rank, n, a number that is the same on all ranks
 * rank_meet_lists(lists …; lists …, counts …, found)
 *     params: world, rank, n, bytes of one index of each list
 * rank_reduce_scatter(sums …, scratch …; list, counts …)
 *     params: world, rank, n, of each list elements of one index and bytes of one
 * rank_all_reduce(sums …, scratch …; tensors …)
 *     params: world, n, of each tensor elements and bytes of one.  scratch: as many
 *     elements as the largest slice of a world-th, times world
 * rank_all_gather(all …; tensors …)
 *     params: as of rank_all_reduce
 *
 * The same with other steps between their begin and their end (flight.h):
 *
 * rank_meet_start(number; lists …, counts …, [found])
 *     params: world, rank, n, bytes of one index of each list.  found: not where sums
 *     come back, of which each rank knows how much
 * rank_meet_wait(lists …; found, number)
 *     params: as rank_meet_lists
 * rank_reduce_wait(sums …, scratch …; counts …, number)
 *     params: as rank_reduce_scatter
 * rank_meet_end(; number, lists …)
 *     params: n
 */
#ifndef IG_RUNTIME_COLLECTIVE_RANKS_H
#define IG_RUNTIME_COLLECTIVE_RANKS_H

#include "base/checked.h"
#include "runtime/collective/transport.h"
typedef bool ig_rank_fn(ig_group *group, const ig_host_call *call);

ig_rank_fn ig_rank_bag_ids, ig_rank_bag_ids_count, ig_rank_deal, ig_rank_deal_count;
ig_rank_fn ig_rank_meet_counts, ig_rank_meet_lists, ig_rank_reduce_scatter;
ig_rank_fn ig_rank_all_reduce, ig_rank_all_gather;
ig_rank_fn ig_rank_meet_start, ig_rank_meet_wait, ig_rank_reduce_wait, ig_rank_meet_end;

/* What ig_ranks has: functions by name, and the word that this rank has failed. */
bool ig_rank_call(ig_ranks *ranks, const char *function, const ig_host_call *call);
ig_status ig_rank_agree(ig_ranks *ranks, char reason[IG_HOST_REASON_BYTES]);
void ig_rank_fail(ig_ranks *ranks);
/* Has the buffer `count` times `bytes`? */
static inline bool ig_rank_holds(const ig_host_call *call, uint32_t buffer,
                                 int64_t count, int64_t bytes) {
    int64_t size;
    return count >= 0 && ig_mul_i64(count, bytes, &size) && size <= call->bytes[buffer];
}

/* False, with a phrase about values that the model computes. */
bool ig_rank_refuse(const ig_host_call *call, const char *format, ...) IG_PRINTF(2, 3);

#endif
