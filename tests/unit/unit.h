/* The few macros that unit tests are written with, over Check.
 * SPDX-License-Identifier: Apache-2.0
 *
 *     TEST(adds) {
 *         CHECK_INT(1 + 1, 2);
 *     }
 *     UNIT_SUITE(arithmetic, adds)
 *
 * Each test runs in a process of its own (CK_FORK=no keeps it in this one, for a
 * debugger), so a crash fails one test.  The last line is what scripts/test sums up.
 *
 * A test that cannot run here says why and ends; it then counts as skipped:
 *
 *     if (!ig_file_exists(path)) {
 *         unit_skip("no %s", path);
 *         return;
 *     }
 *
 * One that can do a part only says what it left out, and counts as passed and as a
 * skip:
 *
 *     unit_skip_part("code for v4: this machine runs v3");
 */
#ifndef IG_TESTS_UNIT_UNIT_H
#define IG_TESTS_UNIT_UNIT_H

#include "base/str.h"

#include <check.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>

enum { UNIT_SECONDS = 600 };

#define TEST(name) START_TEST(name)

/* What holds costs a comparison: Check's own macros write to a file each time. */
#define CHECK_MSG(claim, ...)          \
    do {                               \
        if (!(claim)) {                \
            ck_abort_msg(__VA_ARGS__); \
        }                              \
    } while (0)
#define CHECK(claim) CHECK_MSG(claim, "'%s' is not so", #claim)
#define CHECK_INT(got, expected)                                                  \
    do {                                                                          \
        intmax_t unit_is = (intmax_t)(got), unit_want = (intmax_t)(expected);     \
        CHECK_MSG(unit_is == unit_want, "%s is %jd, not %jd (%s)", #got, unit_is, \
                  unit_want, #expected);                                          \
    } while (0)
#define CHECK_PTR(got, expected)                                                 \
    do {                                                                         \
        const void *unit_at = (got), *unit_meant = (expected);                   \
        CHECK_MSG(unit_at == unit_meant, "%s is %p, not %p (%s)", #got, unit_at, \
                  unit_meant, #expected);                                        \
    } while (0)
#define CHECK_TEXT(got, expected)                                                 \
    do {                                                                          \
        const char *unit_text = (got), *unit_other = (expected);                  \
        CHECK_MSG(unit_text &&unit_other &&strcmp(unit_text, unit_other) == 0,    \
                  "%s is '%s', not '%s'", #got, unit_text ? unit_text : "(null)", \
                  unit_other ? unit_other : "(null)");                            \
    } while (0)
#define CHECK_STATUS(got, expected) \
    CHECK_TEXT(ig_status_name(got), ig_status_name(expected))
#define CHECK_OK(got) CHECK_STATUS(got, IG_OK)
/* An ig_str against a zero-terminated text. */
#define CHECK_STR(got, expected)                                           \
    do {                                                                   \
        ig_str unit_got = (got);                                           \
        CHECK_MSG(ig_str_is(unit_got, (expected)), "got '%.*s', not '%s'", \
                  IG_STR_ARG(unit_got), (expected));                       \
    } while (0)

#define UNIT_SUITE(name, ...) UNIT_SUITE_WITH(name, NULL, __VA_ARGS__)

/* With `void add(TCase *)`, which adds what needs more than a name (signals, loops). */
#define UNIT_SUITE_WITH(name, add, ...)                                   \
    int main(void) {                                                      \
        const TTest *const unit_tests[] = { __VA_ARGS__ };                \
        return unit_run(#name, unit_tests, IG_COUNT_OF(unit_tests), add); \
    }

typedef struct unit_skip_count {
    int tests, parts;
} unit_skip_count;

/* What was skipped, in memory that the processes of all tests share; one for all files
 * that a test is made of. */
extern unit_skip_count *unit_skip_memory;
__attribute__((weak)) unit_skip_count *unit_skip_memory;

static inline unit_skip_count *unit_skips(void) {
    unit_skip_count *count = unit_skip_memory;
    if (!count) {
        void *shared = mmap(NULL, sizeof(*count), PROT_READ | PROT_WRITE,
                            MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        if (shared == MAP_FAILED) {
            perror("unit.h");
            exit(1);
        }
        count = unit_skip_memory = shared;
    }
    return count;
}

#define UNIT_PRINT_SKIP(format)             \
    do {                                    \
        va_list unit_arguments;             \
        va_start(unit_arguments, (format)); \
        printf("skip: ");                   \
        vprintf((format), unit_arguments);  \
        printf("\n");                       \
        va_end(unit_arguments);             \
    } while (0)

/* Counts the test that calls it as skipped; at most once in a test, as its last act. */
IG_PRINTF(1, 2)
static inline void unit_skip(const char *format, ...) {
    UNIT_PRINT_SKIP(format);
    unit_skips()->tests++;
}

/* Counts a part of the test that calls it as skipped, beside the test itself. */
IG_PRINTF(1, 2)
static inline void unit_skip_part(const char *format, ...) {
    UNIT_PRINT_SKIP(format);
    unit_skips()->parts++;
}

static inline int unit_run(const char *name, const TTest *const *tests, size_t count,
                           void (*add)(TCase *)) {
    Suite *suite = suite_create(name);
    TCase *tcase = tcase_create(name);
    /* A test that computes forever ends by CPU time, one that waits forever by the
     * clock, so late that other work on the machine makes none fail. */
    struct rlimit cpu = { UNIT_SECONDS, UNIT_SECONDS };
    if (setrlimit(RLIMIT_CPU, &cpu) != 0) {
        perror("unit.h");
    }
    tcase_set_timeout(tcase, 10 * UNIT_SECONDS);
    for (size_t i = 0; i < count; i++) {
        tcase_add_test(tcase, tests[i]);
    }
    if (add) {
        add(tcase);
    }
    suite_add_tcase(suite, tcase);
    SRunner *runner = srunner_create(suite);
    unit_skip_count *skips = unit_skips(); /* before the first process is made */
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    int passed = srunner_ntests_run(runner) - failed - skips->tests;
    srunner_free(runner);
    printf("%d passed, %d failed, %d skipped\n", passed, failed,
           skips->tests + skips->parts);
    return failed != 0;
}

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define UNIT_SANITIZED true
#endif
#endif
#ifndef UNIT_SANITIZED
#define UNIT_SANITIZED false
#endif

/* scripts/test --full: every case of all. */
static inline bool unit_is_full(void) {
    const char *full = getenv("INGOT_FULL");
    return full && strcmp(full, "1") == 0;
}

/* A sample is enough of many cases alike: sanitizers make each dear, and see neither
 * libLLVM nor the code that comes of it. */
static inline bool unit_is_sampled(void) {
    return UNIT_SANITIZED && !unit_is_full();
}

/* For suites in which threads compile.  libLLVM is not instrumented: ThreadSanitizer
 * cannot see what orders its threads. */
#define UNIT_WITH_LLVM                                                              \
    __attribute__((visibility("default"))) const char *__tsan_default_suppressions( \
        void);                                                                      \
    const char *__tsan_default_suppressions(void) {                                 \
        return "race:libLLVM\nmutex:libLLVM\n";                                     \
    }

#endif
