/* Broken and hostile ONNX files: each is answered with words, quickly and in little
 * memory.
 * SPDX-License-Identifier: Apache-2.0
 *
 * The files and what to expect of them lie in models/onnx/bad below INGOT_CASES (or
 * ../shared); without that folder the test is skipped.
 */
#include "tests/unit/onnx/onnx_case.h"
#include "tests/unit/unit.h"

static void find_folder(char *folder, size_t size) {
    const char *cases = getenv("INGOT_CASES");
    if (cases) {
        snprintf(folder, size, "%s/models/onnx/bad", cases);
    } else {
        snprintf(folder, size, "%s/../shared/models/onnx/bad", INGOT_SOURCE_DIR);
    }
}

/* The text behind `key` in a JSON object of plain strings; moves `*at` behind it. */
static bool next_text(const char **at, const char *key, char *out, size_t size) {
    char quoted[32];
    snprintf(quoted, sizeof(quoted), "\"%s\": \"", key);
    const char *found = strstr(*at, quoted);
    if (!found) {
        return false;
    }
    found += strlen(quoted);
    size_t length = strcspn(found, "\"");
    snprintf(out, size, "%.*s", (int)length, found);
    *at = found + length;
    return true;
}

static void check_file(const char *folder, const char *name, const char *expect) {
    char path[700];
    onnx_case c;
    ig_module *module = NULL;
    snprintf(path, sizeof(path), "%s/%s", folder, name);
    onnx_case_init(&c);
    ig_str bytes;
    CHECK_MSG(onnx_case_file(&c, path, &bytes), "%s is missing", path);
    double begin = ig_time_now();
    ig_status status = ig_import_onnx(&c.context, path, NULL, &module);
    double seconds = ig_time_now() - begin;
    bool may_pass = strstr(expect, "accept") || strstr(expect, "symbolic");
    CHECK_MSG(status != IG_OK || may_pass, "%s is accepted", name);
    CHECK_MSG(status == IG_OK || status == IG_INVALID || status == IG_UNSUPPORTED ||
                  status == IG_LIMIT,
              "%s: %s", name, ig_status_name(status));
    CHECK_MSG(status == IG_OK || strstr(c.why, name), "%s says '%s'", name, c.why);
    CHECK_MSG(seconds < 2, "%s takes %.1f s", name, seconds);
    CHECK_MSG(c.context.budget.peak <= 64 * bytes.size + (64u << 20),
              "%s takes %zu bytes", name, c.context.budget.peak);
    if (module) {
        CHECK_OK(ig_verify_module(module));
    }
    ig_module_destroy(module);
    onnx_case_fini(&c);
}

TEST(each_bad_file_is_answered) {
    char folder[400], path[500], name[200], expect[300];
    onnx_case c;
    ig_str list;
    find_folder(folder, sizeof(folder));
    snprintf(path, sizeof(path), "%s/list.json", folder);
    onnx_case_init(&c);
    if (!onnx_case_file(&c, path, &list)) {
        unit_skip("no %s", path);
        onnx_case_fini(&c);
        return;
    }
    int count = 0;
    const char *at = list.data;
    while (next_text(&at, "file", name, sizeof(name)) &&
           next_text(&at, "expect", expect, sizeof(expect))) {
        check_file(folder, name, expect);
        count++;
    }
    CHECK(count > 0);
    onnx_case_fini(&c);
}
END_TEST

UNIT_SUITE(onnx_bad, each_bad_file_is_answered)
