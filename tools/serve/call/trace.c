/* Reading traceparent (W3C Trace Context).  SPDX-License-Identifier: Apache-2.0 */
#include "tools/serve/call/trace.h"

#include <string.h>

enum { ID = 32, PARENT = 16, TEXT = 2 + 1 + ID + 1 + PARENT + 1 + 2 };

/* `count` digits, and not only zeros unless they may be. */
static bool are_digits(const char *text, size_t count, bool may_be_zero) {
    return strspn(text, "0123456789abcdef") >= count &&
           (may_be_zero || strspn(text, "0") < count);
}

trace trace_read(const char *text) {
    trace made = { 0 };
    size_t size = strlen(text);
    const char *id = text + 3, *parent = id + ID + 1, *flags = parent + PARENT + 1;
    /* Versions to come may be longer; ff is none. */
    bool is_long = size >= TEXT &&
                   (size == TEXT || (memcmp(text, "00", 2) != 0 && text[TEXT] == '-'));
    if (!is_long || !are_digits(text, 2, true) || memcmp(text, "ff", 2) == 0 ||
        text[2] != '-' || !are_digits(id, ID, false) || id[ID] != '-' ||
        !are_digits(parent, PARENT, false) || parent[PARENT] != '-' ||
        !are_digits(flags, 2, true)) {
        return made;
    }
    memcpy(made.id, id, ID);
    memcpy(made.parent, parent, PARENT);
    made.is_sampled = strchr("13579bdf", flags[1]) != NULL;
    return made;
}
