/* The table of levels.
 * SPDX-License-Identifier: Apache-2.0 */
#include "codegen/cpu/level.h"

#include <string.h>

static const ig_cpu_level levels[] = {
#define LEVEL(name, cpu, features, width, mask, fma, f16c, vnni, tiles, arm64) \
    { name, cpu, features, width, mask, fma, f16c, vnni, tiles, arm64 },
#include "codegen/cpu/level.def"
#undef LEVEL
};

const ig_cpu_level *ig_cpu_level_find(const char *name) {
    for (uint32_t i = 0; i < IG_COUNT_OF(levels); i++) {
        if (strcmp(levels[i].name, name) == 0) {
            return &levels[i];
        }
    }
    return NULL;
}
