/* Groups by torchrun's environment.  SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_RUNTIME_COLLECTIVE_ENV_H
#define IG_RUNTIME_COLLECTIVE_ENV_H

#include "runtime/collective/transport.h"

enum { IG_GROUP_ENV_BYTES = 160 };

/* Sets rank and world of the options from RANK, WORLD_SIZE, MASTER_ADDR, MASTER_PORT
 * and, where it is set, LOCAL_WORLD_SIZE; `name` gets the group to open in place of
 * "env". */
ig_status ig_group_read_env(ig_group *group, char *name, size_t size);

#endif
