/* Which aarch64 levels this machine runs.
 * SPDX-License-Identifier: Apache-2.0
 *
 * The system tells the features of the processor and the registers that it saves.
 */
#include "runtime/cpu/level.h"

#include <stdbool.h>
#include <string.h>
#include <sys/auxv.h>

/* Bits of AT_HWCAP, by their names in the kernel's documentation: FPHP, ASIMDHP,
 * ASIMDDP. */
enum { HAS_F16 = 1 << 9, HAS_VECTORS_OF_F16 = 1 << 10, HAS_DOT_PRODUCTS = 1 << 20 };

const char ig_host_family[] = "cpu-arm64";

static bool has_neon(void) {
    const unsigned long wanted = HAS_F16 | HAS_VECTORS_OF_F16 | HAS_DOT_PRODUCTS;
    return (getauxval(AT_HWCAP) & wanted) == wanted;
}

int ig_host_level_rank(const char *level) {
    return strcmp(level, "neon") == 0 && has_neon();
}

const char *ig_host_level_best(void) {
    return has_neon() ? "neon" : "";
}

const char *ig_host_level_list(void) {
    return has_neon() ? "neon" : "none that Ingot knows";
}
