/* The default bounds, and the one wording for a bound that is exceeded.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/limits.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { SUBJECT_SIZE = 1024 };

const ig_limits ig_limits_default = {
#define LIMIT_VALUE(field, value, meaning) .field = value,
    IG_LIMIT_LIST(LIMIT_VALUE)
#undef LIMIT_VALUE
};

const ig_limit_info ig_limit_infos[IG_LIMIT_COUNT] = {
#define LIMIT_INFO(field, value, meaning)                                         \
    [IG_LIMIT_##field] = { #field, meaning, "raise it with --limit " #field "=N", \
                           offsetof(ig_limits, field) },
    IG_LIMIT_LIST(LIMIT_INFO)
#undef LIMIT_INFO
};

int64_t ig_limit_value(const ig_limits *limits, ig_limit_id id) {
    assert(id < IG_LIMIT_COUNT && "no such limit");
    int64_t value;
    memcpy(&value, (const char *)limits + ig_limit_infos[id].offset, sizeof value);
    return value;
}

ig_status ig_error_limit(ig_diag *diag, const ig_location *where,
                         const ig_limits *limits, ig_limit_id id, const char *subject,
                         ...) {
    assert(id < IG_LIMIT_COUNT && "no such limit");
    char words[SUBJECT_SIZE];
    va_list list;
    va_start(list, subject);
    if (vsnprintf(words, sizeof words, subject, list) < 0) {
        words[0] = '\0';
    }
    va_end(list);
    const ig_limit_info *info = &ig_limit_infos[id];
    return ig_error_hint(diag, IG_LIMIT, where, info->hint,
                         "%s exceeds limit %s (%lld)", words, info->name,
                         (long long)ig_limit_value(limits, id));
}
