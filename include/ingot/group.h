/* Ingot, groups: ranks that exchange parts of lists.
 * SPDX-License-Identifier: Apache-2.0
 *
 *     char why[512];
 *     ig_group_options options = { .size = sizeof options, .rank = rank, .world = 4,
 *                                  .message = why, .message_size = sizeof why };
 *     ig_group *group = NULL;
 *     if (ig_group_open("shm:my-run", &options, &group) == IG_OK &&
 *         ig_group_all_gather(group, &x, sizeof x, all) == IG_OK)
 *         …
 *     else
 *         fprintf(stderr, "%s\n", why);
 *     ig_group_close(group);
 *
 * Ranks are threads or processes; each opens the group by the same name and world.
 *
 *     self       one rank
 *     shm:NAME   ranks on one host, over a segment of shared memory
 *     mpi        all ranks that mpirun has started; the library is opened at run time
 *                (INGOT_MPI_LIBRARY names one): Open MPI, or MPICH and its kin.  MPI is
 *                started and ended here unless the process has begun it
 *     mpi:N      those of the communicator whose number MPI_Comm_c2f gives
 *     env        those that torchrun has started on one host: rank and world are RANK
 *                and WORLD_SIZE; they meet by MASTER_ADDR and MASTER_PORT
 *     nccl:NAME  ranks with a GPU each, between which parts travel by NCCL (2.14 or
 *                later, opened at run time; INGOT_NCCL_LIBRARY names one); they meet in
 *                the group NAME, one of those above
 *     host       parts travel by a function of the caller's, options.host
 *
 * Calls are collective: every rank makes the same ones, in the same order, and a call
 * returns when this rank has its results.  A rank that does not come within
 * timeout_ms, that makes another call, or that has ended or failed, is an error of all
 * that wait for it, which names the rank and the collective; after an error a group is
 * good for closing only.
 * Threads: one at a time for each handle.  Not across fork().
 * Ownership: arguments are borrowed for the call, `message` for the group's life.
 */
#ifndef INGOT_GROUP_H
#define INGOT_GROUP_H

#include <ingot/runtime.h>

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ig_group ig_group;

/* Bytes of one rank's part. */
typedef struct ig_group_part {
    void *data;
    size_t bytes;
} ig_group_part;

/* A transport of the caller's. */
typedef struct ig_group_host {
    void *user;
    /* `world` parts each, send[r] to rank r and receive[r] from it; returns when all
     * received parts are there and the sent ones may change.  It has to find out itself
     * which rank is late or gone. */
    ig_status (*all_to_all)(void *user, const ig_group_part *send,
                            const ig_group_part *receive);
    void (*fail)(void *user); /* this rank will not come again; may be NULL */
} ig_group_host;

/* Extensible: set size; other zero fields mean the default. */
typedef struct ig_group_options {
    size_t size;
    uint32_t rank, world; /* world: 1 by default, at most 1024 */
    int64_t timeout_ms;   /* of each wait for the others (60,000) */
    size_t chunk; /* bytes between two ranks that are under way at once (shm: by default
                   * all, read from the sender's memory where the system allows it, else
                   * 65,536, of more than 16 ranks fewer; mpi: of one message, 2^30) */
    char *message; /* receives a text when a call fails, or NULL */
    size_t message_size;
    const ig_group_host *host; /* of "host": there as long as the group */
} ig_group_options;

typedef enum ig_group_dtype { IG_GROUP_F32, IG_GROUP_F64 } ig_group_dtype;

/* Waits until all ranks have come.  Errors: IG_INVALID for bad options, or a group of
 * another world or chunk; IG_IO where memory cannot be shared; IG_LIMIT where a rank
 * did not come in time, or there is no memory. */
IG_API IG_MUST_USE ig_status ig_group_open(const char *name,
                                           const ig_group_options *options,
                                           ig_group **out_group);
/* Does not wait.  NULL is allowed. */
IG_API void ig_group_close(ig_group *group);

/* For ig_session_options.ranks of this rank's program: its collectives are then met
 * here.  All ranks are to have programs of one model and plan.  A run that fails for
 * any reason fails the group, so that nobody waits for it.  The group's. */
IG_API ig_ranks *ig_group_ranks(ig_group *group);

IG_API IG_MUST_USE ig_status ig_group_barrier(ig_group *group);
/* `world` parts each: send[r] goes to rank r, and receive[r] comes from it; both ranks
 * must say the same number of bytes. */
IG_API IG_MUST_USE ig_status ig_group_all_to_all(ig_group *group,
                                                 const ig_group_part *send,
                                                 const ig_group_part *receive);
/* `bytes` of each rank, in their order. */
IG_API IG_MUST_USE ig_status ig_group_all_gather(ig_group *group, const void *mine,
                                                 size_t bytes, void *all);
IG_API IG_MUST_USE ig_status ig_group_broadcast(ig_group *group, uint32_t root,
                                                void *data, size_t bytes);
/* counts[r] elements of `data`, in order, are rank r's, on all ranks alike; `out` gets
 * the sums of this rank's: added in double in the order of ranks, and rounded once. */
IG_API IG_MUST_USE ig_status ig_group_reduce_scatter(ig_group *group,
                                                     ig_group_dtype dtype,
                                                     const void *data,
                                                     const size_t *counts, void *out);
/* All sums for all ranks, in place; the same bits everywhere. */
IG_API IG_MUST_USE ig_status ig_group_all_reduce(ig_group *group, ig_group_dtype dtype,
                                                 void *data, size_t count);

#ifdef __cplusplus
}
#endif
#endif
