/* Threads that run one task together.  SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_RUNTIME_CPU_POOL_H
#define IG_RUNTIME_CPU_POOL_H

#include "ingot/runtime.h"

#include <stdbool.h>

typedef void ig_task_fn(void *task, int index);

void ig_thread_pool_retain(ig_thread_pool *pool);
/* False when another session has the pool now, it has one thread only, or its threads
 * sleep and `work_ns` (on one core) is not worth waking them. */
bool ig_thread_pool_claim(ig_thread_pool *pool, double work_ns);
void ig_thread_pool_release(ig_thread_pool *pool);
/* Calls fn(task, i) for each i below the thread count, fn(task, 0) on this thread, and
 * returns when all have returned.  Only between claim and release. */
void ig_thread_pool_run(ig_thread_pool *pool, ig_task_fn *fn, void *task);

#endif
