/* verify MODEL --inputs X --expected Y: one call against stored results.
 * SPDX-License-Identifier: Apache-2.0 */
#include "tools/ingot/values/bound_inputs.h"
#include "tools/ingot/verify/verify.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The model's expected results: arrays of an archive, or files of a folder. */
typedef struct expectation {
    const char *path;
    ig_arguments *archive; /* or NULL */
} expectation;

/* The array for output `index`: by the output's name, else by its position. */
static const ig_argument *find_array(const ig_arguments *archive, const char *name,
                                     size_t index) {
    char usual[2][32];
    snprintf(usual[0], sizeof usual[0], "output_%zu", index);
    snprintf(usual[1], sizeof usual[1], "arr_%zu", index);
    const char *const wanted[] = { name, usual[0], usual[1] };
    for (size_t w = 0; w < 3; w++) {
        for (size_t i = 0; i < ig_arguments_count(archive); i++) {
            if (strcmp(ig_arguments_name(archive, i), wanted[w]) == 0) {
                return ig_arguments_at(archive, i);
            }
        }
    }
    return NULL;
}

static char *find_file(const char *folder, const char *name, size_t index) {
    static const char *const endings[] = { "npy", "pb" };
    for (size_t e = 0; e < 2; e++) {
        char *path = text_of("%s/%s.%s", folder, name, endings[e]);
        if (access(path, F_OK) == 0) {
            return path;
        }
        free(path);
    }
    return data_file(folder, "output", index);
}

static bool fail_output(const char *name, const char *why) {
    complain(0, "output '%s': %s", name, why);
    return false;
}

static bool check_file(const model *m, const expectation *from, size_t index,
                       const ig_argument *got, const tolerance *within) {
    const char *name = model_output_name(m, index);
    char *path = find_file(from->path, name, index);
    if (!path) {
        return fail_output(name, "nothing is stored for it");
    }
    char *text = text_of("@%s", path);
    ig_arguments *want = NULL;
    message why = { "" };
    ig_status status = ig_arguments_parse(m->context, text, model_output_type(m, index),
                                          &want);
    bool is_good = status == IG_OK &&
                   values_agree(got, ig_arguments_at(want, 0), within, &why);
    ig_arguments_close(want);
    free(text);
    free(path);
    return is_good || (status == IG_OK && fail_output(name, why.text));
}

static bool check_output(const model *m, const expectation *from, size_t index,
                         const ig_argument *got, const tolerance *within) {
    if (!from->archive) {
        return check_file(m, from, index, got, within);
    }
    const char *name = model_output_name(m, index);
    const ig_argument *want = find_array(from->archive, name, index);
    message why = { "" };
    if (!want) {
        return fail_output(name, "nothing is stored for it");
    }
    return values_agree(got, want, within, &why) || fail_output(name, why.text);
}

static ig_status check_results(const settings *given, const model *m,
                               const results *got, bool *out_is_good) {
    expectation from = { .path = given->expected };
    tolerance within = default_tolerance(given);
    if (is_archive(from.path)) {
        ig_status status = ig_arguments_open(m->context, from.path, &from.archive);
        if (status != IG_OK) {
            return status;
        }
    }
    *out_is_good = true;
    for (size_t i = 0; i < got->count; i++) {
        *out_is_good &= check_output(m, &from, i, &got->items[i], &within);
    }
    ig_arguments_close(from.archive);
    return IG_OK;
}

static void print_verdict(const settings *given, bool is_good) {
    progress_clear();
    if (given->json) {
        printf("{\"passed\": %d, \"failed\": %d, \"skipped\": 0}\n", is_good, !is_good);
    } else {
        printf("%s %s\n%d passed, %d failed, 0 skipped\n", is_good ? "pass" : "FAIL",
               given->arguments.items[0], is_good, !is_good);
    }
}

static ig_status judge_results(const settings *given, const model *m,
                               const results *got, bound_inputs *values) {
    bool is_good = false;
    ig_status status = check_results(given, m, got, &is_good);
    if (status == IG_OK) {
        print_verdict(given, is_good);
        values->has_failed = !is_good;
    }
    return status;
}

static ig_status verify_model(const settings *given, const model *m,
                              bound_inputs *values, message *why) {
    return run_once(given, m, values, judge_results, why);
}

int verify_call(const settings *given) {
    return work_on_model(given, verify_model);
}
