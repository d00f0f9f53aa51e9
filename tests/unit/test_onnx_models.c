/* Real models: imported, and interpreted to the outputs that other engines gave.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Cases lie in models/onnx below INGOT_CASES (or ../shared); absent ones are skipped.
 */
#include "onnx_case.h"
#include "unit.h"

static void check_case(const char *name, double atol) {
    char        folder[500], path[600];
    const char *cases = getenv("INGOT_CASES");
    if (cases) {
        snprintf(folder, sizeof(folder), "%s/models/onnx/%s", cases, name);
    } else {
        snprintf(folder, sizeof(folder), "%s/../shared/models/onnx/%s",
                 INGOT_SOURCE_DIR, name);
    }
    snprintf(path, sizeof(path), "%s/model.onnx", folder);
    if (!ig_file_exists(path)) {
        printf("skipped: no %s\n", path);
        return;
    }
    onnx_case c;
    onnx_case_init(&c);
    c.atol = atol;
    ig_status status = onnx_case_run(&c, folder);
    CHECK_MSG(status == IG_OK, "%s: %s: %s", name, ig_status_name(status), c.why);
    onnx_case_fini(&c);
}

TEST(dlrm_onehot) {
    check_case("dlrm_onehot", 1e-5);
}
END_TEST

TEST(dlrm_dcnv2) {
    check_case("dlrm_dcnv2", 1e-5);
}
END_TEST

TEST(dlrm_dcnv2_bag2d) {
    check_case("dlrm_dcnv2_bag2d", 1e-5);
}
END_TEST

TEST(dlrm_criteo_legacy) {
    check_case("dlrm_criteo_legacy", 1e-5);
}
END_TEST

TEST(dlrm_criteo_dynamo) {
    check_case("dlrm_criteo_dynamo", 1e-5);
}
END_TEST

TEST(control_flow) {
    check_case("flow_if", 1e-5);
    check_case("flow_loop", 1e-5);
    check_case("flow_scan", 1e-5);
    check_case("flow_scripted", 1e-5);
    check_case("flow_sequence", 1e-5);
}
END_TEST

TEST(external_data) {
    check_case("external_aligned", 1e-5);
    check_case("external_packed", 1e-5);
    check_case("embedding_int8_rowwise", 1e-5);
}
END_TEST

UNIT_SUITE(onnx_models, dlrm_onehot, dlrm_dcnv2, dlrm_dcnv2_bag2d, dlrm_criteo_legacy,
           dlrm_criteo_dynamo, control_flow, external_data)
