/* What the library's own side does with any engine: one without threads, here.
 * SPDX-License-Identifier: Apache-2.0 */
#include "ingot/interp.h"
#include "tests/unit/unit.h"

static char why[256];
static ig_interp_call how = { .size = sizeof how,
                              .message = why,
                              .message_size = sizeof why };

static ig_status make_manager(uint32_t count, ig_interp_manager **out_manager) {
    ig_interp_options options = { .size = sizeof options,
                                  .engine = "stub",
                                  .count = count };
    *out_manager = NULL;
    return ig_interp_create(&options, &how, out_manager);
}

/* The text that the stub answers with: how often this interpreter was asked. */
static void check_runs(ig_interp_manager *manager, int64_t index, const char *wanted) {
    ig_interp *interp = NULL;
    CHECK_OK(ig_interp_acquire(manager, &how, index, &interp));
    CHECK_STATUS(ig_interp_run(interp, &how, "x", "x"), IG_INVALID);
    CHECK_TEXT(why, wanted);
    ig_interp_release(interp);
}

TEST(each_interpreter_has_its_state) {
    ig_interp_manager *manager;
    CHECK_OK(make_manager(2, &manager));
    check_runs(manager, 0, "x, run 1");
    check_runs(manager, 1, "x, run 1");
    check_runs(manager, 1, "x, run 2");
    check_runs(manager, -1, "x, run 3"); /* the one given back last */
    how.deadline_ns = 1;
    check_runs(manager, 0, "x, run 2, in time");
    how.deadline_ns = 0;
    ig_interp_destroy(manager);
    CHECK_OK(make_manager(1, &manager)); /* what that manager held is gone with it */
    check_runs(manager, 0, "x, run 1");
    ig_interp_destroy(manager);
}
END_TEST

TEST(one_that_does_not_start_leaves_nothing) {
    ig_interp_manager *manager;
    (void)setenv("INGOT_TEST_STUB", "none", 1);
    CHECK_STATUS(make_manager(3, &manager), IG_LIMIT);
    CHECK(strstr(why, "no thread or memory"));
    (void)setenv("INGOT_TEST_STUB", "late", 1);
    CHECK_STATUS(make_manager(3, &manager), IG_UNSUPPORTED);
    CHECK_TEXT(why, "it is late");
    (void)unsetenv("INGOT_TEST_STUB");
    CHECK_OK(make_manager(3, &manager));
    CHECK_INT(ig_interp_count(manager), 3);
    ig_interp_destroy(manager);
}
END_TEST

UNIT_SUITE(interp_engine, each_interpreter_has_its_state,
           one_that_does_not_start_leaves_nothing)
