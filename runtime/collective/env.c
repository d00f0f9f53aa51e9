/* env: the group that torchrun's environment describes.
 * SPDX-License-Identifier: Apache-2.0
 *
 * RANK and WORLD_SIZE say who this is; ranks of one host meet in a segment whose name
 * is made of MASTER_ADDR and MASTER_PORT, which no two jobs of a host share.
 */
#include "runtime/collective/env.h"

#include "base/status.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX = 1 << 16 };

/* A whole number from `min` on; -1 after a message. */
static long number_of(ig_group *group, const char *name, long min) {
    const char *text = getenv(name);
    char *end = NULL;
    long number = text && *text ? strtol(text, &end, 10) : -1;
    if (number >= min && number <= MAX && !*end) {
        return number;
    }
    (void)ig_group_error(
        group, IG_INVALID,
        "env: %s is %s%s%s, expected a number from %ld on, as torchrun sets it", name,
        text ? "'" : "", text ? text : "not set", text ? "'" : "", min);
    return -1;
}

/* All ranks are here, as far as the environment tells. */
static bool is_one_host(long world) {
    const char *local = getenv("LOCAL_WORLD_SIZE");
    return !local || strtol(local, NULL, 10) == world;
}

/* "shm:torchrun-HOST-PORT"; what names cannot have becomes '-'. */
static void name_segment(char *out, size_t size, const char *address, long port) {
    (void)snprintf(out, size, "shm:torchrun-%.100s-%ld", address, port);
    for (char *at = out + strlen("shm:"); *at; at++) {
        *at = *at == '/' || *at == ':' ? '-' : *at;
    }
}

ig_status ig_group_read_env(ig_group *group, char *name, size_t size) {
    const char *address = getenv("MASTER_ADDR");
    long world = number_of(group, "WORLD_SIZE", 1);
    long rank = world > 0 ? number_of(group, "RANK", 0) : -1;
    long port = rank >= 0 ? number_of(group, "MASTER_PORT", 0) : -1;
    if (port < 0) {
        return IG_INVALID;
    }
    if (!address || !*address) {
        return ig_group_error(group, IG_INVALID,
                              "env: MASTER_ADDR is not set, as torchrun sets it");
    }
    if (!is_one_host(world)) {
        return ig_group_error(group, IG_UNSUPPORTED,
                              "env: LOCAL_WORLD_SIZE is %s of %ld ranks; ranks of "
                              "several hosts meet over MPI: start them by mpirun",
                              getenv("LOCAL_WORLD_SIZE"), world);
    }
    group->options.rank = (uint32_t)rank;
    group->options.world = (uint32_t)world;
    name_segment(name, size, address, port);
    return IG_OK;
}
