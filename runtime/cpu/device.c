/* The CPU as a device.  SPDX-License-Identifier: Apache-2.0 */
#include "runtime/cpu/code.h"
#include "runtime/cpu/cpu.h"
#include "runtime/cpu/level.h"
#include "runtime/cpu/queue.h"

static int rank_level(const ig_device *device, const char *level) {
    (void)device;
    return ig_host_level_rank(level);
}

static const char *list_levels(const ig_device *device) {
    (void)device;
    return ig_host_level_list();
}

const char *ig_runtime_level(void) {
    return ig_host_level_best();
}

static const ig_device_verbs verbs = {
    .family = ig_host_family,
    .rank = rank_level,
    .levels = list_levels,
    .allocate = ig_memory_allocate_host,
    .release = ig_memory_release_host,
    .load = ig_cpu_code_load,
    .unload = ig_cpu_code_unload,
    .find = ig_cpu_code_find,
    .open_queue = ig_cpu_queue_open,
    .close_queue = ig_cpu_queue_close,
    .claim = ig_cpu_queue_claim,
    .unclaim = ig_cpu_queue_unclaim,
    .submit = ig_cpu_queue_submit,
    .copy = ig_cpu_queue_copy,
    .wait = ig_cpu_queue_wait,
};

const ig_device ig_device_cpu = { &verbs, 0 };
