/* Real models: imported, and interpreted to the outputs that other engines gave.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Cases lie in models/onnx below INGOT_CASES (or ../shared); absent ones are skipped.
 */
#include "tests/unit/onnx/onnx_case.h"
#include "tests/unit/unit.h"

static void find_folder(char *folder, size_t size, const char *name) {
    const char *cases = getenv("INGOT_CASES");
    if (cases) {
        snprintf(folder, size, "%s/models/onnx/%s", cases, name);
    } else {
        snprintf(folder, size, "%s/../shared/models/onnx/%s", INGOT_SOURCE_DIR, name);
    }
}

static void check_case(const char *name, const char *folder) {
    onnx_case c;
    onnx_case_init(&c);
    c.atol = 1e-5;
    ig_status status = onnx_case_run(&c, folder);
    CHECK_MSG(status == IG_OK, "%s: %s: %s", name, ig_status_name(status), c.why);
    onnx_case_fini(&c);
}

/* Checks the cases of a zero-terminated list, or as many of them as there are. */
static void check_cases(const char *const *names) {
    char folder[500], path[600], missing[600] = "";
    for (; *names; names++) {
        find_folder(folder, sizeof(folder), *names);
        snprintf(path, sizeof(path), "%s/model.onnx", folder);
        if (ig_file_exists(path)) {
            check_case(*names, folder);
        } else {
            memcpy(missing, path, sizeof(missing));
        }
    }
    if (missing[0]) {
        unit_skip("no %s", missing);
    }
}

#define CHECK_CASES(...) check_cases((const char *const[]){ __VA_ARGS__, NULL })

TEST(dlrm_onehot) {
    CHECK_CASES("dlrm_onehot");
}
END_TEST

TEST(dlrm_dcnv2) {
    CHECK_CASES("dlrm_dcnv2");
}
END_TEST

TEST(dlrm_dcnv2_bag2d) {
    CHECK_CASES("dlrm_dcnv2_bag2d");
}
END_TEST

TEST(dlrm_criteo_legacy) {
    CHECK_CASES("dlrm_criteo_legacy");
}
END_TEST

TEST(dlrm_criteo_dynamo) {
    CHECK_CASES("dlrm_criteo_dynamo");
}
END_TEST

TEST(control_flow) {
    CHECK_CASES("flow_if", "flow_loop", "flow_scan", "flow_scripted", "flow_sequence");
}
END_TEST

TEST(external_data) {
    CHECK_CASES("external_aligned", "external_packed", "embedding_int8_rowwise");
}
END_TEST

UNIT_SUITE(onnx_models, dlrm_onehot, dlrm_dcnv2, dlrm_dcnv2_bag2d, dlrm_criteo_legacy,
           dlrm_criteo_dynamo, control_flow, external_data)
