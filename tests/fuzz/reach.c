/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/fuzz/reach.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

unsigned ig_fuzz_reach_min = 100;

enum { MAX_THINGS = 8192 };

static struct {
    bool is_reached[MAX_THINGS];
    ig_fuzz_reach_name *name_of;
    size_t count;
} reach;

static void write_report(void) {
    const char *path = getenv("INGOT_FUZZ_REACH");
    FILE *file = path ? fopen(path, "w") : NULL;
    if (file) {
        ig_fuzz_reach_report(file);
        fclose(file);
    }
}

void ig_fuzz_reach_begin(size_t count, ig_fuzz_reach_name *name_of) {
    assert(count <= MAX_THINGS && "there is room to count all things");
    reach.count = count;
    reach.name_of = name_of;
    atexit(write_report);
}

void ig_fuzz_reach(size_t i) {
    assert(i < reach.count && "a thing that was announced");
    reach.is_reached[i] = true;
}

size_t ig_fuzz_reach_report(void *file) {
    size_t missing = 0;
    for (size_t i = 0; i < reach.count; i++) {
        const char *name = reach.name_of(i);
        if (name) {
            missing += !reach.is_reached[i];
            fprintf(file, "%s %s\n", reach.is_reached[i] ? "reached" : "missing", name);
        }
    }
    return missing;
}
