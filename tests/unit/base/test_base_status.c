/* Status codes and default limits.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/limits.h"
#include "base/status.h"
#include "tests/unit/unit.h"

TEST(names_are_the_enum_s) {
    CHECK_TEXT(ig_status_name(IG_OK), "OK");
    CHECK_TEXT(ig_status_name(IG_UNSUPPORTED), "UNSUPPORTED");
    CHECK_TEXT(ig_status_name(IG_INTERNAL), "INTERNAL");
}

TEST(exit_statuses_are_those_of_the_manual) {
    CHECK_INT(ig_status_exit(IG_OK), 0);
    CHECK_INT(ig_status_exit(IG_INVALID), 3);
    CHECK_INT(ig_status_exit(IG_UNSUPPORTED), 4);
    CHECK_INT(ig_status_exit(IG_LIMIT), 5);
    CHECK_INT(ig_status_exit(IG_IO), 6);
    CHECK_INT(ig_status_exit(IG_CANCELLED), 130);
    CHECK_INT(ig_status_exit(IG_INTERNAL), 70);
}

TEST(unknown_values_are_our_defect) {
    CHECK_TEXT(ig_status_name((ig_status)99), "INTERNAL");
    CHECK_TEXT(ig_status_name((ig_status)-1), "INTERNAL");
    CHECK_INT(ig_status_exit((ig_status)7), 70);
}

TEST(meanings_are_words) {
    for (int i = 0; i <= (int)IG_INTERNAL; i++) {
        CHECK(strlen(ig_status_meaning((ig_status)i)) > 3);
    }
}

TEST(default_limits_are_positive) {
#define LIMIT_CHECK(field, value, meaning) CHECK(ig_limits_default.field > 0);
    IG_LIMIT_LIST(LIMIT_CHECK)
#undef LIMIT_CHECK
    CHECK_INT(ig_limits_default.memory_bytes, 8LL << 30);
}

UNIT_SUITE(base_status, names_are_the_enum_s, exit_statuses_are_those_of_the_manual,
           unknown_values_are_our_defect, meanings_are_words,
           default_limits_are_positive)
