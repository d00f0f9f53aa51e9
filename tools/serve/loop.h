/* One loop: a thread that reads, runs and answers.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_TOOLS_SERVE_LOOP_H
#define IG_TOOLS_SERVE_LOOP_H

#include "tools/serve/batch/lane.h"
#include "tools/serve/profile/profiler.h"

typedef struct loop loop;

/* A loop number `number` of the listeners (-1: none), which it owns from then on.
 * NULL: memory or descriptors ran out. */
loop *loop_open(size_t index, const limits *max, mailbox *box, const key_ring *ring,
                int http, int grpc);
/* Serves from this repository until it is drained, on a thread of its own.  `shared`:
 * memory that clients share with the server, or NULL. */
bool loop_start(loop *of, repository *from, regions *shared);
/* Before it starts: has it serve profiling, too.  False: descriptors ran out.  The
 * profiler ends with the loop. */
bool loop_profile(loop *of, profiler *with);
/* From any thread: takes no new work, and ends when its work is done, or at `deadline`
 * (ns of the monotonic clock). */
void loop_drain(loop *of, int64_t deadline);
/* Waits until it has ended its work, or its deadline has passed. */
void loop_await(loop *of);
/* Ends the thread, when all loops have drained, and tells those who still wait for a
 * run that there is none. */
void loop_join(loop *of);
/* After loop_join, and after the repository has ended. */
void loop_close(loop *of);

#endif
