/* What the tests of interpreters share: a call with its message, and the shortest ways
 * to enter one.  SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_TESTS_UNIT_INTERP_INTERP_CASE_H
#define IG_TESTS_UNIT_INTERP_INTERP_CASE_H

#include "ingot/interp.h"
#include "tests/unit/unit.h"

#include <dirent.h>
#include <time.h>

static char why[4096];
static ig_interp_call how = { .size = sizeof how,
                              .message = why,
                              .message_size = sizeof why };

static inline ig_interp *acquire(ig_interp_manager *manager, int64_t index) {
    ig_interp *interp = NULL;
    CHECK_OK(ig_interp_acquire(manager, &how, index, &interp));
    return interp;
}

static inline void run(ig_interp *interp, const char *source) {
    ig_status status = ig_interp_run(interp, &how, source, "test.py");
    CHECK_MSG(status == IG_OK, "%s", why);
}

/* Calls a function of a module. */
static inline ig_status invoke_in(ig_interp *interp, const char *module,
                                  const char *name,
                                  const ig_interp_arguments *arguments,
                                  ig_interp_result **out_result) {
    ig_interp_object *function = NULL;
    *out_result = NULL;
    ig_status status = ig_interp_global(interp, &how, module, name, &function);
    if (status == IG_OK) {
        status = ig_interp_invoke(interp, &how, function, arguments, out_result);
    }
    ig_interp_object_free(function);
    return status;
}

/* A deadline. */
static inline int64_t in_ms(int64_t ms) {
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec + ms * 1000000;
}

/* Files that the process has open. */
static inline int count_files(void) {
    DIR *folder = opendir("/proc/self/fd");
    int count = 0;
    while (folder && readdir(folder)) {
        count++;
    }
    (void)closedir(folder);
    return count;
}

#endif
