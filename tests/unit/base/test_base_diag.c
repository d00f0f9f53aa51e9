/* Diagnostics and contexts.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/context.h"
#include "base/diag.h"
#include "tests/unit/unit.h"

typedef struct record {
    int calls;
    ig_diagnostic last;
    char message[4096];
    char text[512];
} record;

static void keep(void *user, const ig_diagnostic *diagnostic) {
    record *kept = user;
    kept->calls++;
    kept->last = *diagnostic;
    snprintf(kept->message, sizeof(kept->message), "%s", diagnostic->message);
    ig_diagnostic_format(diagnostic, kept->text, sizeof(kept->text));
}

static record kept; /* each test runs in a process of its own */
static ig_diag diag = { .sink = keep, .user = &kept };

TEST(errors_name_the_node_as_the_user_does) {
    ig_location where = {
        .file = "model.onnx", .node = "conv1", .op = "Conv", .node_id = 12
    };
    ig_status status = ig_error(&diag, IG_INVALID, &where, "pads has %d entries", 3);
    CHECK_STATUS(status, IG_INVALID);
    CHECK_TEXT(kept.text, "model.onnx: node 12 'conv1' (Conv): pads has 3 entries");
    CHECK_INT(diag.error_count, 1);
    CHECK(kept.last.severity == IG_ERROR && kept.last.status == IG_INVALID);
}

TEST(every_part_of_a_location_may_be_absent) {
    ig_error(&diag, IG_IO, NULL, "bare");
    CHECK_TEXT(kept.text, "bare");
    ig_error(&diag, IG_IO, &(ig_location){ .file = "a.ig", .line = 3, .column = 9 },
             "x");
    CHECK_TEXT(kept.text, "a.ig:3:9: x");
    ig_error(&diag, IG_IO, &(ig_location){ .file = "a.ig", .line = 3 }, "x");
    CHECK_TEXT(kept.text, "a.ig:3: x");
    ig_error(&diag, IG_IO, &(ig_location){ .graph = "body", .op = "Add" }, "x");
    CHECK_TEXT(kept.text, "in 'body': node (Add): x");
    ig_error(&diag, IG_IO, &(ig_location){ .node_id = 4 }, "x");
    CHECK_TEXT(kept.text, "node 4: x");
}

TEST(an_exceeded_limit_is_named_with_its_value_and_how_to_raise_it) {
    ig_limits limits = ig_limits_default;
    limits.graph_depth = 3;
    ig_location where = { .file = "a.ig", .line = 2 };
    CHECK_STATUS(ig_error_limit(&diag, &where, &limits, IG_LIMIT_graph_depth,
                                "nesting of '%s'", "main"),
                 IG_LIMIT);
    CHECK_TEXT(kept.text, "a.ig:2: nesting of 'main' exceeds limit graph_depth (3)\n"
                          "  hint: raise it with --limit graph_depth=N");
    CHECK_INT(ig_limit_value(&ig_limits_default, IG_LIMIT_rank), 32);
    CHECK_INT(ig_limit_value(&ig_limits_default, IG_LIMIT_pickle_depth), 500);
}

TEST(hints_and_warnings) {
    ig_error_hint(&diag, IG_LIMIT, NULL, "raise it", "too %s", "deep");
    CHECK_TEXT(kept.text, "too deep\n  hint: raise it");
    ig_error_hint(&diag, IG_LIMIT, NULL, NULL, "plain");
    CHECK_TEXT(kept.text, "plain");
    ig_warn(&diag, &(ig_location){ .file = "m" }, "odd %d", 1);
    CHECK_TEXT(kept.text, "m: warning: odd 1");
    CHECK_INT(diag.error_count, 2);
    CHECK_INT(diag.warning_count, 1);
}

TEST(listing_stops_but_counting_goes_on) {
    for (int i = 0; i < 50; i++) {
        ig_error(&diag, IG_INVALID, NULL, "again");
    }
    CHECK_INT(kept.calls, 20);
    CHECK_INT(diag.error_count, 50);
    diag.error_limit = 60;
    for (int i = 0; i < 50; i++) {
        ig_error(&diag, IG_INVALID, NULL, "again");
    }
    CHECK_INT(kept.calls, 30);
}

TEST(no_sink_and_no_diag_are_fine) {
    ig_diag silent = { 0 };
    CHECK_STATUS(ig_error(&silent, IG_INVALID, NULL, "x"), IG_INVALID);
    ig_warn(&silent, NULL, "x");
    CHECK_INT(silent.error_count, 1);
    CHECK_STATUS(ig_error(NULL, IG_INTERNAL, NULL, "x"), IG_INTERNAL);
    ig_warn(NULL, NULL, "x");
}

TEST(long_messages_are_cut) {
    static char name[10000];
    memset(name, 'n', sizeof(name) - 1);
    ig_error(&diag, IG_INVALID, &(ig_location){ .node = name }, "%s", name);
    CHECK_INT(strlen(kept.message), 2047);
    CHECK_INT(strlen(kept.text), sizeof(kept.text) - 1);
    ig_diagnostic diagnostic = { .severity = IG_ERROR, .message = "abc" };
    char buffer[3] = "zz";
    CHECK_INT(ig_diagnostic_format(&diagnostic, buffer, 3), 2);
    CHECK_TEXT(buffer, "ab");
    CHECK_INT(ig_diagnostic_format(&diagnostic, buffer, 1), 0);
    CHECK_TEXT(buffer, "");
    CHECK_INT(ig_diagnostic_format(&diagnostic, buffer, 0), 0);
}

TEST(names_cannot_steer_a_terminal) {
    ig_location where = { .node = "a\x1b[2J\nmodel.onnx: fine" };
    ig_error(&diag, IG_INVALID, &where, "bad \x1b[31m%s", "b\x7f\nx");
    CHECK_TEXT(kept.text,
               "node 'a\\x1b[2J\\x0amodel.onnx: fine': bad \\x1b[31mb\\x7f\n    x");
    ig_error(&diag, IG_INVALID, NULL, "a\xc2\x9bm b\xe2\x80\xae c");
    CHECK_TEXT(kept.text, "a\\xc2\\x9bm b\\xe2\\x80\\xae c");
}

TEST(what_is_written_is_utf8) {
    ig_location where = { .file = "gr\xc3\xbc\xc3\x9f.pt", .op = "\xff\xc3(" };
    ig_error_hint(&diag, IG_INVALID, &where, "\x80", "\xe2\x82\xac \xe2\x82");
    CHECK_TEXT(
        kept.text,
        "gr\xc3\xbc\xc3\x9f.pt: node (\\xff\\xc3(): \xe2\x82\xac \\xe2\\x82\n  hint: \\x80");
    static char name[3000];
    for (size_t i = 0; i + 3 < sizeof(name); i += 3) {
        memcpy(name + i, "\xe2\x82\xac", 3);
    }
    ig_error(&diag, IG_INVALID, NULL, "%s", name);
    CHECK_INT(strlen(kept.message), 2046);
    ig_diagnostic diagnostic = { .severity = IG_ERROR, .message = name };
    char buffer[6];
    CHECK_INT(ig_diagnostic_format(&diagnostic, buffer, 6), 3);
}

static int progress_calls;

static void count_progress(void *user, const char *stage, uint64_t done,
                           uint64_t total) {
    CHECK_PTR(user, &progress_calls);
    CHECK_TEXT(stage, "import");
    CHECK_INT(done, 3);
    CHECK_INT(total, 7);
    progress_calls++;
}

TEST(contexts_cancel_and_tell_progress) {
    ig_context context = { 0 };
    CHECK_OK(ig_context_poll(&context));
    ig_context_progress(&context, "import", 3, 7);
    context.progress = count_progress;
    context.progress_user = &progress_calls;
    ig_context_progress(&context, "import", 3, 7);
    CHECK_INT(progress_calls, 1);
    atomic_store(&context.cancelled, true);
    CHECK_STATUS(ig_context_poll(&context), IG_CANCELLED);
}

UNIT_SUITE(base_diag, errors_name_the_node_as_the_user_does,
           every_part_of_a_location_may_be_absent, hints_and_warnings,
           an_exceeded_limit_is_named_with_its_value_and_how_to_raise_it,
           listing_stops_but_counting_goes_on, no_sink_and_no_diag_are_fine,
           long_messages_are_cut, names_cannot_steer_a_terminal,
           what_is_written_is_utf8, contexts_cancel_and_tell_progress)
