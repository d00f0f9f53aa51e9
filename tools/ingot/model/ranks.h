/* Runs of several ranks: processes of this host, or those that mpirun started.
 * SPDX-License-Identifier: Apache-2.0
 *
 *     ingot run MODEL --ranks 4 --plan plan.json
 *
 * starts four processes; each shards the model, compiles its program, and runs it in a
 * group in shared memory.  "%r" in names of files is the number of a rank.
 */
#ifndef IG_TOOLS_INGOT_MODEL_RANKS_H
#define IG_TOOLS_INGOT_MODEL_RANKS_H

#include "tools/ingot/cli/console.h"

enum { MAX_RANKS = 1024 };

#define CHUNKS_HELP \
    "parts of the batch, of which one travels while others are computed (the plan's)"
#define ROWS_RANKS                                                                  \
    COUNT("ranks", 0, ranks, 1, MAX_RANKS,                                          \
          "start so many processes, each with its part of the tables; %r in names " \
          "of files is a rank's number"),                                           \
        TEXT("plan", 0, plan, "PLAN.json",                                          \
             "which rank has what (ingot shard); chosen where none is given"),      \
        COUNT("chunks", 0, chunks, 1, 16, CHUNKS_HELP),                             \
        COUNT("timeout", 0, timeout, 1, 1 << 20,                                    \
              "seconds that ranks wait for each other (60)")

/* Runs `work` as it is, or once a rank: in processes of its own, or as the rank that
 * mpirun says this process is.  Returns the exit status, of the first rank that failed.
 */
int ranks_work(const settings *given, int (*work)(const settings *given));
/* Is this a rank that prints and writes nothing, since rank 0 does? */
bool ranks_are_silent(const settings *given);

/* For a rank: makes the module its program, by the plan or by one that is chosen. */
ig_status ranks_shard(const settings *given, ig_context *context, ig_module *module);
/* The same by --plan and --rank, wherever it is to run. */
ig_status ranks_shard_by_plan(const settings *given, ig_module *module);
/* The plan by which ranks train, --plan or one that is chosen: allocated; NULL for no
 * rank.  False after a message. */
bool ranks_training_plan(const settings *given, char **out_plan);
/* The group of a rank; NULL until it has met the others. */
struct ig_group *ranks_group(void);
/* For a rank that has met the others: *value becomes rank 0's. */
ig_status ranks_agree(int64_t *value);
/* For a rank: meets the others, the first time; *out_ranks is for the session.  NULL
 * for no rank. */
ig_status ranks_meet(const settings *given, ig_ranks **out_ranks, message *why);

#endif
