/* From errno to a plain phrase, for the files beside it.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_BASE_PLATFORM_PLATFORM_ERRNO_H
#define IG_BASE_PLATFORM_PLATFORM_ERRNO_H

enum { IG_WHY_SIZE = 128 };

/* Puts a phrase such as "no such file" into `why` (IG_WHY_SIZE bytes; may be NULL). */
void ig_errno_explain(int reason, char *why);
void ig_why_set(char *why, const char *phrase);

#endif
