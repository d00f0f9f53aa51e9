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
 */
#ifndef IG_TESTS_UNIT_H
#define IG_TESTS_UNIT_H

#include "base/str.h"

#include <check.h>
#include <stdio.h>
#include <string.h>

#define TEST(name) START_TEST(name)

#define CHECK(claim) ck_assert(claim)
#define CHECK_MSG(claim, ...) ck_assert_msg(claim, __VA_ARGS__)
#define CHECK_INT(got, expected) ck_assert_int_eq((intmax_t)(got), (intmax_t)(expected))
#define CHECK_PTR(got, expected) ck_assert_ptr_eq((got), (expected))
#define CHECK_TEXT(got, expected) ck_assert_str_eq((got), (expected))
#define CHECK_STATUS(got, expected) \
    ck_assert_str_eq(ig_status_name(got), ig_status_name(expected))
#define CHECK_OK(got) CHECK_STATUS(got, IG_OK)
/* An ig_str against a zero-terminated text. */
#define CHECK_STR(got, expected)                                               \
    do {                                                                       \
        ig_str unit_got = (got);                                               \
        ck_assert_msg(ig_str_is(unit_got, (expected)), "got '%.*s', not '%s'", \
                      IG_STR_ARG(unit_got), (expected));                       \
    } while (0)

#define UNIT_SUITE(name, ...) UNIT_SUITE_WITH(name, NULL, __VA_ARGS__)

/* With `void add(TCase *)`, which adds what needs more than a name (signals, loops). */
#define UNIT_SUITE_WITH(name, add, ...)                                   \
    int main(void) {                                                      \
        const TTest *const unit_tests[] = { __VA_ARGS__ };                \
        return unit_run(#name, unit_tests, IG_COUNT_OF(unit_tests), add); \
    }

static inline int unit_run(const char *name, const TTest *const *tests, size_t count,
                           void (*add)(TCase *)) {
    Suite *suite = suite_create(name);
    TCase *tcase = tcase_create(name);
    tcase_set_timeout(tcase, 120);
    for (size_t i = 0; i < count; i++) {
        tcase_add_test(tcase, tests[i]);
    }
    if (add) {
        add(tcase);
    }
    suite_add_tcase(suite, tcase);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    int passed = srunner_ntests_run(runner) - failed;
    srunner_free(runner);
    printf("%d passed, %d failed, 0 skipped\n", passed, failed);
    return failed != 0;
}

#endif
