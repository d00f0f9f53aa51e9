/* Libraries of the user's own operators.  SPDX-License-Identifier: Apache-2.0 */
#include "base/custom/custom.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const ig_custom_op *ig_operators_at(const ig_custom_library *library, size_t index) {
    const char *ops = (const char *)library->ops;
    return (const ig_custom_op *)(const void *)(ops + index * library->op_bytes);
}

static const char *refuse_op(const ig_custom_op *op) {
    return !op->name || !strstr(op->name, "::") ? "has a name that is not domain::Op"
           : strpbrk(op->name, "\"\\\n") ? "has a name with a quote or a line end"
           : !op->signature              ? "has no signature"
           : !op->run                    ? "has no function"
                                         : NULL;
}

ig_status ig_operators_check(const ig_custom_library *library, char *why) {
    if (library->abi != IG_CUSTOM_ABI || library->op_bytes < sizeof(ig_custom_op) ||
        library->op_bytes % sizeof(void *)) {
        snprintf(why, IG_CUSTOM_WHY_BYTES,
                 "it was made for version %u of ingot/custom.h, this is version %d",
                 (unsigned)library->abi, IG_CUSTOM_ABI);
        return IG_INVALID;
    }
    for (size_t i = 0; i < library->op_count; i++) {
        const ig_custom_op *op = ig_operators_at(library, i);
        const char *wrong = refuse_op(op);
        if (wrong) {
            snprintf(why, IG_CUSTOM_WHY_BYTES, "its operator %zu (%.64s) %s", i,
                     op->name ? op->name : "", wrong);
            return IG_INVALID;
        }
    }
    return IG_OK;
}

/* A path without a folder is of the current one: nothing is searched. */
static void *open_file(const char *path, char *why) {
    char *real = realpath(path, NULL);
    void *opened = real ? dlopen(real, RTLD_NOW | RTLD_LOCAL) : NULL;
    if (!opened) {
        snprintf(why, IG_CUSTOM_WHY_BYTES, "%s", real ? dlerror() : strerror(errno));
    }
    free(real);
    return opened;
}

ig_status ig_operators_open(const char *path, const ig_custom_library **out_library,
                            char *why) {
    void *opened = open_file(path, why);
    ig_custom_entry *entry = NULL;
    if (!opened) {
        return IG_IO;
    }
    *(void **)&entry = dlsym(opened, "ig_custom_v1");
    *out_library = entry ? entry() : NULL;
    if (!*out_library) {
        snprintf(why, IG_CUSTOM_WHY_BYTES,
                 "it is not a library of operators: it exports no ig_custom_v1");
        return IG_INVALID;
    }
    return ig_operators_check(*out_library, why);
}

const ig_custom_op *ig_operators_find(const ig_custom_library *library,
                                      const char *name, uint32_t version) {
    const ig_custom_op *best = NULL;
    for (size_t i = 0; i < library->op_count; i++) {
        const ig_custom_op *op = ig_operators_at(library, i);
        bool is_named = strcmp(op->name, name) == 0;
        if (is_named && (!best || op->version == version)) {
            best = op;
        }
    }
    return best;
}
