/* The schedules of each target: the one file that knows the rooms of all of them.
 * SPDX-License-Identifier: Apache-2.0 */
#include "passes/lower/cpu/cpu.h"
#include "passes/lower/gpu/gpu.h"

ig_lower_fn ig_lower_schedule(const ig_target *target, ig_kernel_family family) {
    return target->family == IG_FAMILY_GPU ? ig_lower_gpu[family]
                                           : ig_lower_cpu[family];
}

bool ig_lower_has_family(const ig_target *target, ig_kernel_family family) {
    return ig_lower_schedule(target, family) != NULL;
}
