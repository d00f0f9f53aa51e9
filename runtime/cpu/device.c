/* The CPU as a device.  SPDX-License-Identifier: Apache-2.0 */
#include "runtime/device.h"

#include "runtime/cpu/code.h"
#include "runtime/cpu/level.h"
#include "runtime/cpu/phase.h"

const ig_device ig_device_cpu = {
    .family = "cpu",
    .rank = ig_host_level_rank,
    .levels = ig_host_level_list,
    .load = ig_code_load,
    .unload = ig_code_unload,
    .run = ig_phase_run,
};
