/* Regular expressions, by the system's PCRE2, which is opened when one is used.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Patterns are PCRE2's, of which RE2's are a part but for rare letters (\C, \pN with
 * scripts of newer Unicode).  A match that takes too many steps is given up, so a
 * pattern of a file that nobody trusts costs bounded time.
 */
#ifndef IG_BASE_SYSTEM_REGEX_H
#define IG_BASE_SYSTEM_REGEX_H

#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>

typedef struct ig_regex ig_regex;

enum { IG_REGEX_WHY_BYTES = 160 };

/* Compiles a pattern (UTF-8 that ends in 0).  IG_INVALID: it is none; IG_UNSUPPORTED:
 * the library is not there; `why` says so.  The result is the caller's to close. */
ig_status ig_regex_open(const char *pattern, ig_regex **out_regex,
                        char why[IG_REGEX_WHY_BYTES]);
void ig_regex_close(ig_regex *regex);
/* Does the pattern match the whole text?  Bytes that are not UTF-8 match nothing.
 * IG_LIMIT: it took too many steps. */
ig_status ig_regex_match(ig_regex *regex, const char *text, bool *out_matches);

#endif
