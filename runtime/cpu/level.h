/* Which levels of its family this machine runs.  SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_RUNTIME_CPU_LEVEL_H
#define IG_RUNTIME_CPU_LEVEL_H

#include "base/status.h"

/* Whose plans it runs: "cpu", "cpu-arm64". */
extern const char ig_host_family[];
/* 0: this machine cannot run it (or there is no such level); higher is better. */
int ig_host_level_rank(const char *level);
/* The best one, "" when there is none. */
const char *ig_host_level_best(void);
/* All of them: "v2, v3". */
const char *ig_host_level_list(void);

#endif
