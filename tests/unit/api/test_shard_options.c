/* Ways to place tables, against what TorchRec's planner estimated.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Files of tests/golden/shard hold the input and the options with their numbers; those
 * of models/torchrec/planner, beside the tree, too.
 */
#include "tests/unit/api/shard_case.h"

#include <math.h>

/* ---- numbers ---- */

static void check_number(const ig_json *got, const ig_json *wanted, const char *key,
                         const char *what) {
    double is = NAN, must = NAN;
    CHECK_MSG(ig_json_real(ig_json_get(got, key), &is), "%s: no %s", what, key);
    CHECK_MSG(ig_json_real(ig_json_get(wanted, key), &must), "%s: no %s", what, key);
    CHECK_MSG(fabs(is - must) <= 1e-14 * fabs(must), "%s: %s is %.17g, not %.17g", what,
              key, is, must);
}

static void check_pair(const ig_json *got, const ig_json *wanted, const char *key,
                       const char *what) {
    const ig_json *a = ig_json_get(got, key), *b = ig_json_get(wanted, key);
    CHECK_MSG(ig_json_count(a) == 2 && ig_json_count(b) == 2, "%s: %s", what, key);
    for (size_t i = 0; i < 2; i++) {
        CHECK_MSG(a->as.list.items[i].as.i == b->as.list.items[i].as.i,
                  "%s: %s[%zu] is %lld, not %lld", what, key, i,
                  (long long)a->as.list.items[i].as.i,
                  (long long)b->as.list.items[i].as.i);
    }
}

static void check_option(const ig_json *got, const ig_json *wanted, const char *what) {
    static const char *const times[] = { "fwd_compute", "fwd_comms", "bwd_compute",
                                         "bwd_comms", "total" };
    const ig_json *a = ig_json_get(got, "shards"), *b = ig_json_get(wanted, "shards");
    CHECK_MSG(ig_json_count(a) == ig_json_count(b), "%s: %zu shards, not %zu", what,
              ig_json_count(a), ig_json_count(b));
    for (size_t i = 0; i < ig_json_count(a); i++) {
        const ig_json *x = &a->as.list.items[i], *y = &b->as.list.items[i];
        check_pair(x, y, "size", what);
        check_pair(x, y, "offset", what);
        const ig_json *storage = ig_json_get(y, "storage"),
                      *perf = ig_json_get(y, "perf");
        check_number(ig_json_get(x, "storage"), storage, "hbm", what);
        check_number(ig_json_get(x, "storage"), storage, "ddr", what);
        for (size_t k = 0; k < IG_COUNT_OF(times); k++) {
            check_number(ig_json_get(x, "perf"), perf, times[k], what);
        }
    }
}

static bool is_same(const ig_json *a, const ig_json *b) {
    static const char *const keys[] = { "name", "sharding_type", "compute_kernel" };
    for (size_t i = 0; i < IG_COUNT_OF(keys); i++) {
        if (strcmp(ig_json_text(ig_json_get(a, keys[i])),
                   ig_json_text(ig_json_get(b, keys[i])))) {
            return false;
        }
    }
    return true;
}

static void check_list(const ig_json *got, const ig_json *wanted, const char *path) {
    for (size_t i = 0; i < ig_json_count(wanted); i++) {
        const ig_json *option = &wanted->as.list.items[i];
        char what[512];
        snprintf(what, sizeof what, "%s: %s %s %s", path,
                 ig_json_text(ig_json_get(option, "name")),
                 ig_json_text(ig_json_get(option, "sharding_type")),
                 ig_json_text(ig_json_get(option, "compute_kernel")));
        size_t k = 0;
        while (k < ig_json_count(got) && !is_same(&got->as.list.items[k], option)) {
            k++;
        }
        CHECK_MSG(k < ig_json_count(got), "%s is not offered", what);
        check_option(&got->as.list.items[k], option, what);
    }
}

static void check_file(const char *path) {
    fixture f;
    setup(&f, path);
    char *text = read_text(path), *input = cut_input(text);
    const ig_json *golden, *got;
    const char *out;
    CHECK_OK(ig_json_read(f.context, &f.arena, &f.where, ig_str_of(text), &golden));
    ig_status status = ig_shard_options(f.context, path, input, &out);
    CHECK_MSG(status == IG_OK, "%s: %s", path, ig_context_messages(f.context));
    CHECK_OK(ig_json_read(f.context, &f.arena, &f.where, ig_str_of(out), &got));
    const ig_json *all = ig_json_get(golden, "all_options");
    CHECK_MSG(!all || ig_json_count(all) == ig_json_count(got), "%s: %zu options", path,
              ig_json_count(got));
    check_list(got, all, path);
    check_list(got, ig_json_get(golden, "best_options"), path);
    free(text);
    free(input);
    teardown(&f);
}

TEST(stored_options_have_torchrecs_numbers) {
    CHECK(each_file(INGOT_SOURCE_DIR "/tests/golden/shard/*.json", check_file) >= 3);
}

TEST(all_planner_cases_have_torchrecs_numbers) {
    if (each_file(INGOT_SOURCE_DIR "/../shared/models/torchrec/planner/*.json",
                  check_file) == 0) {
        unit_skip("no models/torchrec/planner beside the tree");
    }
}

/* ---- bad input ---- */

#define TABLE "\"tables\": [{\"name\": \"t\", \"rows\": 10, \"dim\": 4}]"
#define PLACE "\"topology\": {\"world_size\": 2, \"compute_device\": \"cuda\"}"

TEST(bad_input_is_named) {
    static const struct {
        const char *text, *words;
        ig_status status;
    } rows[] = {
        { "{", "line 1", IG_INVALID },
        { "[]", "compute_device", IG_INVALID },
        { "{" PLACE "}", "\"tables\"", IG_INVALID },
        { "{" TABLE "}", "topology", IG_INVALID },
        { "{" TABLE ", \"topology\": {\"world_size\": 0, \"compute_device\": \"cpu\"}}",
          "\"world_size\" must be a whole number from 1", IG_INVALID },
        { "{" TABLE ", \"topology\": {\"world_size\": 6, \"local_world_size\": 4,"
          " \"compute_device\": \"cpu\"}}",
          "does not divide", IG_INVALID },
        { "{" TABLE ", \"topology\": {\"world_size\": 6, \"racks\": 4,"
          " \"compute_device\": \"cpu\"}}",
          "racks", IG_UNSUPPORTED },
        { "{" PLACE ", \"tables\": [{\"name\": \"t\", \"rows\": -1, \"dim\": 4}]}",
          "table 't': \"rows\"", IG_INVALID },
        { "{" PLACE "," TABLE ", \"constraints\": {\"t\": {\"sharding_types\":"
          " [\"diagonal\"]}}}",
          "diagonal", IG_UNSUPPORTED },
        { "{" PLACE "," TABLE
          ", \"constraints\": {\"t\": {\"pooling_factors\": [-1]}}}",
          "pooling_factors", IG_INVALID },
        { "{" PLACE "," TABLE ", \"constraints\": {\"t\": {\"compute_kernels\":"
          " [\"dense\"], \"sharding_types\": [\"table_wise\"]}}}",
          "no way to place it", IG_INVALID },
        { "{" PLACE "," TABLE ", \"constraints\": {\"t\": {\"pooling_factors\":"
          " [1, 2], \"num_poolings\": [1]}}}",
          "\"num_poolings\" must be a list", IG_INVALID },
        { "{" TABLE ", \"topology\": {\"world_size\": 2, \"compute_device\":"
          " \"cpu\", \"ddr_mem_bw\": 0}}",
          "\"ddr_mem_bw\" must be a number above 0", IG_INVALID },
        { "{" PLACE "," TABLE ", \"data_type\": \"INT8\"}", "FP32", IG_UNSUPPORTED },
    };
    for (size_t i = 0; i < IG_COUNT_OF(rows); i++) {
        fixture f;
        const char *out;
        setup(&f, "input");
        ig_status status = ig_shard_options(f.context, "a.json", rows[i].text, &out);
        const char *said = ig_context_messages(f.context);
        CHECK_MSG(status == rows[i].status, "%s gives %d: %s", rows[i].text,
                  (int)status, said);
        CHECK_MSG(strstr(said, "a.json") && strstr(said, rows[i].words), "%s: %s",
                  rows[i].text, said);
        teardown(&f);
    }
}

UNIT_SUITE(shard_options, stored_options_have_torchrecs_numbers,
           all_planner_cases_have_torchrecs_numbers, bad_input_is_named)
