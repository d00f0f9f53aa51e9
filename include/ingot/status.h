/* Status codes shared by every Ingot library.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A status steers control flow; the words that explain it are a diagnostic, reported
 * once, where the fact is known.  Zero is success.
 */
#ifndef INGOT_STATUS_H
#define INGOT_STATUS_H

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define IG_API __attribute__((visibility("default")))
#define IG_MUST_USE __attribute__((warn_unused_result))
#define IG_PRINTF(text, first) __attribute__((format(printf, text, first)))
#else
#define IG_API
#define IG_MUST_USE
#define IG_PRINTF(text, first)
#endif

/*  STATUS(name, value, exit status of the command line, meaning)  */
#define IG_STATUS_LIST(STATUS)                                                         \
    STATUS(OK, 0, 0, "success")                                                        \
    STATUS(INVALID, 1, 3, "the input breaks its format or contradicts itself")         \
    STATUS(UNSUPPORTED, 2, 4, "the input is valid, but Ingot does not support it yet") \
    STATUS(LIMIT, 3, 5, "a limit was reached or memory ran out")                       \
    STATUS(IO, 4, 6, "a file could not be read or written")                            \
    STATUS(CANCELLED, 5, 130, "the caller cancelled the work")                         \
    STATUS(INTERNAL, 6, 70, "a defect of Ingot")

typedef enum ig_status {
#define IG_STATUS_ENUM(name, value, exit_status, meaning) IG_##name = value,
    IG_STATUS_LIST(IG_STATUS_ENUM)
#undef IG_STATUS_ENUM
} ig_status;

#ifdef __cplusplus
}
#endif
#endif
