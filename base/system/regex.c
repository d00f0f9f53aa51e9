/* Regular expressions, by the system's PCRE2.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Its functions, declared here from its documentation (pcre2api(3)).
 */
#include "base/system/regex.h"

#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    DOLLAR_END_ONLY = 0x10,
    UTF = 0x80000,
    NEVER_ONE_BYTE = 0x100000, /* \C would cut characters */
    MATCH_INVALID_UTF = 0x4000000,
    END_ANCHORED = 0x20000000,
    NO_MATCH = -1,
    STEPS_MAX = 1000000,
    HEAP_KB = 20000, /* of memory for a match */
};
#define ANCHORED 0x80000000u

#define FUNCTIONS(F)                                                              \
    F(void *, compile, (const char *, size_t, uint32_t, int *, size_t *, void *)) \
    F(void, code_free, (void *))                                                  \
    F(void *, match_data_create, (uint32_t, void *))                              \
    F(void, match_data_free, (void *))                                            \
    F(void *, match_context_create, (void *))                                     \
    F(void, match_context_free, (void *))                                         \
    F(int, set_match_limit, (void *, uint32_t))                                   \
    F(int, set_heap_limit, (void *, uint32_t))                                    \
    F(int, get_error_message, (int, unsigned char *, size_t))                     \
    F(int, match,                                                                 \
      (const void *, const char *, size_t, size_t, uint32_t, void *, void *))

#define DECLARE(result, name, arguments) result(*name) arguments;
struct ig_regex {
    FUNCTIONS(DECLARE)
    void *pattern, *data, *context;
};
#undef DECLARE

/* The library stays open: whoever uses one expression uses more. */
static bool find_functions(ig_regex *regex) {
    void *handle = dlopen("libpcre2-8.so.0", RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    bool is_there = handle != NULL;
#define FIND(result, name, arguments)                                     \
    do {                                                                  \
        void *found = handle ? dlsym(handle, "pcre2_" #name "_8") : NULL; \
        memcpy(&regex->name, &found, sizeof found);                       \
        is_there = is_there && found;                                     \
    } while (0);
    FUNCTIONS(FIND)
#undef FIND
    return is_there;
}

static ig_status compile_pattern(ig_regex *regex, const char *pattern,
                                 char why[IG_REGEX_WHY_BYTES]) {
    unsigned char text[100] = "";
    int code = 0;
    size_t at = 0;
    uint32_t options = ANCHORED | END_ANCHORED | UTF | MATCH_INVALID_UTF |
                       DOLLAR_END_ONLY | NEVER_ONE_BYTE;
    regex->pattern = regex->compile(pattern, strlen(pattern), options, &code, &at,
                                    NULL);
    if (!regex->pattern) {
        (void)regex->get_error_message(code, text, sizeof text);
        (void)snprintf(why, IG_REGEX_WHY_BYTES,
                       "the pattern is not a regular expression: byte %zu: %s", at,
                       text);
        return IG_INVALID;
    }
    regex->data = regex->match_data_create(1, NULL);
    regex->context = regex->match_context_create(NULL);
    if (!regex->data || !regex->context) {
        (void)snprintf(why, IG_REGEX_WHY_BYTES, "no memory for a regular expression");
        return IG_LIMIT;
    }
    (void)regex->set_match_limit(regex->context, STEPS_MAX);
    (void)regex->set_heap_limit(regex->context, HEAP_KB);
    return IG_OK;
}

ig_status ig_regex_open(const char *pattern, ig_regex **out_regex,
                        char why[IG_REGEX_WHY_BYTES]) {
    *out_regex = NULL;
    ig_regex *regex = calloc(1, sizeof *regex);
    if (!regex) {
        (void)snprintf(why, IG_REGEX_WHY_BYTES, "no memory for a regular expression");
        return IG_LIMIT;
    }
    if (!find_functions(regex)) {
        (void)snprintf(why, IG_REGEX_WHY_BYTES,
                       "regular expressions need libpcre2-8.so.0, which is not there");
        free(regex);
        return IG_UNSUPPORTED;
    }
    ig_status status = compile_pattern(regex, pattern, why);
    if (status != IG_OK) {
        ig_regex_close(regex);
        return status;
    }
    *out_regex = regex;
    return IG_OK;
}

/* The library's functions take NULL too. */
void ig_regex_close(ig_regex *regex) {
    if (regex) {
        regex->match_data_free(regex->data);
        regex->match_context_free(regex->context);
        regex->code_free(regex->pattern);
        free(regex);
    }
}

ig_status ig_regex_match(ig_regex *regex, const char *text, bool *out_matches) {
    int found = regex->match(regex->pattern, text, strlen(text), 0, 0, regex->data,
                             regex->context);
    *out_matches = found >= 0;
    return found >= NO_MATCH ? IG_OK : IG_LIMIT;
}
