/* Verifying plans and estimates against those of TorchRec's planner.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A case is a JSON file: "input" as ig_shard_plan takes it, and of the planner's
 * results "best_options" (types, kernels, shards with ranks, memory and time),
 * "per_rank", "num_proposals", "num_plans", "plan_text" and "all_options", or an
 * "error".  Our own choice is to be no worse by either objective.
 */
#include "tools/ingot/values/plan_text.h"
#include "tools/igcheck/cases/kinds.h"

#include <ingot/shard.h>

#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

typedef struct planned {
    verification *v;
    const char *path;
    json_t *golden;
    char *input; /* its text */
    size_t options;
} planned;

static const char *text_in(const json_t *object, const char *key) {
    const char *text = json_string_value(json_object_get(object, key));
    return text ? text : "";
}

bool is_planned_case(const char *path) {
    const char *ending = strrchr(path, '.');
    if (!ending || strcmp(ending, ".json") != 0) {
        return false;
    }
    json_t *json = json_load_file(path, 0, NULL);
    bool is_plan = json_is_object(json_object_get(json, "input")) &&
                   (json_is_array(json_object_get(json, "best_options")) ||
                    json_is_object(json_object_get(json, "error")));
    json_decref(json);
    return is_plan;
}

static bool fail_at(const planned *p, const char *what, const char *format, ...)
    IG_PRINTF(3, 4);

static bool fail_at(const planned *p, const char *what, const char *format, ...) {
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return verify_fail(p->v, what, text);
}

/* ---- numbers ---- */

/* Both programs add up in double, but not in one order. */
#define PLAN_RTOL 1e-13

static bool check_value(const planned *p, const json_t *got, const json_t *want,
                        const char *what, const char *key) {
    double rtol = p->v->given->has_rtol ? p->v->given->rtol : PLAN_RTOL;
    double a = json_number_value(got), b = json_number_value(want);
    return (json_is_number(got) && json_is_number(want) &&
            fabs(a - b) <= rtol * fabs(b)) ||
           fail_at(p, what, "%s is %.17g, not %.17g", key, a, b);
}

static bool check_key(const planned *p, const json_t *got, const json_t *want,
                      const char *key, const char *what) {
    return check_value(p, json_object_get(got, key), json_object_get(want, key), what,
                       key);
}

static bool check_keys(const planned *p, const json_t *got, const json_t *want,
                       const char *const *keys, const char *what) {
    for (size_t i = 0; keys[i]; i++) {
        if (!check_key(p, got, want, keys[i], what)) {
            return false;
        }
    }
    return true;
}

static bool check_pair(const planned *p, const json_t *got, const json_t *want,
                       const char *key, const char *what) {
    const json_t *a = json_object_get(got, key), *b = json_object_get(want, key);
    for (size_t i = 0; i < 2; i++) {
        if (!check_value(p, json_array_get(a, i), json_array_get(b, i), what, key)) {
            return false;
        }
    }
    return true;
}

/* ---- options ---- */

static bool is_same_option(const json_t *a, const json_t *b) {
    static const char *const keys[] = { "name", "sharding_type", "compute_kernel" };
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        if (strcmp(text_in(a, keys[i]), text_in(b, keys[i])) != 0) {
            return false;
        }
    }
    return true;
}

static bool check_option(const planned *p, const json_t *got, const json_t *want,
                         const char *what) {
    static const char *const memory[] = { "hbm", "ddr", NULL };
    static const char *const times[] = { "fwd_compute", "fwd_comms", "bwd_compute",
                                         "bwd_comms",   "total",     NULL };
    const json_t *a = json_object_get(got, "shards"),
                 *b = json_object_get(want, "shards");
    if (json_array_size(a) != json_array_size(b)) {
        return fail_at(p, what, "%zu shards, not %zu", json_array_size(a),
                       json_array_size(b));
    }
    for (size_t i = 0; i < json_array_size(b); i++) {
        const json_t *x = json_array_get(a, i), *y = json_array_get(b, i);
        if (!check_pair(p, x, y, "size", what) ||
            !check_pair(p, x, y, "offset", what) ||
            !check_keys(p, json_object_get(x, "storage"), json_object_get(y, "storage"),
                        memory, what) ||
            !check_keys(p, json_object_get(x, "perf"), json_object_get(y, "perf"),
                        times, what)) {
            return false;
        }
    }
    return true;
}

/* Each wanted option is among ours, with the same numbers. */
static bool check_list(planned *p, const json_t *got, const json_t *wanted) {
    size_t i;
    json_t *want;
    json_array_foreach(wanted, i, want) {
        size_t k = 0;
        while (k < json_array_size(got) &&
               !is_same_option(json_array_get(got, k), want)) {
            k++;
        }
        char *what = text_of("%s %s %s", text_in(want, "name"),
                             text_in(want, "sharding_type"),
                             text_in(want, "compute_kernel"));
        bool is_good = k < json_array_size(got)
                           ? check_option(p, json_array_get(got, k), want, what)
                           : fail_at(p, what, "is not offered");
        free(what);
        if (!is_good) {
            return false;
        }
        p->options++;
    }
    return true;
}

static bool check_options(planned *p) {
    const char *text = NULL;
    if (ig_shard_options(p->v->context, p->path, p->input, &text) != IG_OK) {
        return verify_fail(p->v, "", NULL);
    }
    json_t *got = need(json_loads(text, 0, NULL));
    const json_t *all = json_object_get(p->golden, "all_options");
    bool is_good = !all || json_array_size(all) == json_array_size(got) ||
                   fail_at(p, "options", "%zu, not %zu", json_array_size(got),
                           json_array_size(all));
    is_good = is_good && check_list(p, got, all) &&
              check_list(p, got, json_object_get(p->golden, "best_options"));
    json_decref(got);
    return is_good;
}

/* ---- the plan ---- */

static json_t *plan_by(const planned *p, ig_shard_objective objective) {
    const char *text = NULL;
    ig_status status = ig_shard_plan(p->v->context, p->path, p->input, objective,
                                     &text);
    if (status != IG_OK) {
        verify_fail(p->v, "", NULL);
        return NULL;
    }
    return need(json_loads(text, 0, NULL));
}

static bool check_choice(const planned *p, const json_t *got, const json_t *want) {
    const char *name = text_in(want, "name");
    const json_t *a = json_object_get(got, "shards"),
                 *b = json_object_get(want, "shards");
    if (!is_same_option(got, want) || json_array_size(a) != json_array_size(b)) {
        return fail_at(p, name, "%s %s in %zu shards, not %s %s in %zu",
                       text_in(got, "sharding_type"), text_in(got, "compute_kernel"),
                       json_array_size(a), text_in(want, "sharding_type"),
                       text_in(want, "compute_kernel"), json_array_size(b));
    }
    for (size_t i = 0; i < json_array_size(b); i++) {
        if (!check_key(p, json_array_get(a, i), json_array_get(b, i), "rank", name)) {
            return false;
        }
    }
    return true;
}

static bool check_choices(const planned *p, const json_t *plan) {
    const json_t *got = json_object_get(plan, "tables");
    const json_t *want = json_object_get(p->golden, "best_options");
    if (json_array_size(got) != json_array_size(want)) {
        return fail_at(p, "plan", "%zu tables, not %zu", json_array_size(got),
                       json_array_size(want));
    }
    for (size_t i = 0; i < json_array_size(want); i++) {
        if (!check_choice(p, json_array_get(got, i), json_array_get(want, i))) {
            return false;
        }
    }
    return true;
}

static bool check_sums(const planned *p, const json_t *plan) {
    static const char *const keys[][2] = { { "total", "perf_total" },
                                           { "hbm", "hbm" },
                                           { "ddr", "ddr" } };
    const json_t *ranks = json_object_get(plan, "ranks");
    const json_t *wanted = json_object_get(p->golden, "per_rank");
    for (size_t k = 0; wanted && k < sizeof keys / sizeof *keys; k++) {
        const json_t *want = json_object_get(wanted, keys[k][1]);
        if (json_array_size(want) != json_array_size(ranks)) {
            return fail_at(p, "plan", "%zu ranks, not %zu", json_array_size(ranks),
                           json_array_size(want));
        }
        for (size_t i = 0; i < json_array_size(want); i++) {
            char what[32];
            snprintf(what, sizeof what, "rank %zu", i);
            if (!check_value(p, json_object_get(json_array_get(ranks, i), keys[k][0]),
                             json_array_get(want, i), what, keys[k][0])) {
                return false;
            }
        }
    }
    return true;
}

/* Of the text from *at on: the next line that is not blank, without blanks around. */
static size_t next_line(const char **at, const char **out) {
    for (;;) {
        const char *begin = *at, *end = begin + strcspn(begin, "\n");
        *at = *end ? end + 1 : end;
        while (begin < end && isspace((unsigned char)*begin)) {
            begin++;
        }
        while (end > begin && isspace((unsigned char)end[-1])) {
            end--;
        }
        *out = begin;
        if (end > begin || !**at) {
            return (size_t)(end - begin);
        }
    }
}

/* Line by line, whatever the blanks at their ends. */
static bool check_text(const planned *p, const json_t *plan) {
    const char *want = json_string_value(json_object_get(p->golden, "plan_text"));
    char *text = NULL;
    size_t size = 0;
    FILE *to = need(open_memstream(&text, &size));
    put_plan_text(to, plan);
    fclose(to);
    const char *got = need(text), *a, *b;
    bool is_good = true;
    while (want && is_good && (*want || *got)) {
        size_t a_size = next_line(&got, &a), b_size = next_line(&want, &b);
        if (a_size != b_size || memcmp(a, b, a_size) != 0) {
            is_good = fail_at(p, "plan_text", "\"%.*s\", not \"%.*s\"", (int)a_size, a,
                              (int)b_size, b);
        }
    }
    free(text);
    return is_good;
}

static bool check_ours(const planned *p, const json_t *theirs) {
    static const char *const keys[] = { "critical_path", "worst_rank" };
    json_t *ours = plan_by(p, IG_SHARD_CRITICAL_PATH);
    bool is_good = ours != NULL;
    for (size_t i = 0; is_good && i < sizeof keys / sizeof *keys; i++) {
        double is = json_number_value(json_object_get(ours, keys[i]));
        double must = json_number_value(json_object_get(theirs, keys[i]));
        is_good = is <= must * (1 + PLAN_RTOL) ||
                  fail_at(p, "our plan", "%s is %.17g, and TorchRec's %.17g", keys[i],
                          is, must);
    }
    json_decref(ours);
    return is_good;
}

static bool check_plan(const planned *p) {
    json_t *plan = plan_by(p, IG_SHARD_TORCHREC);
    bool is_good =
        plan && check_choices(p, plan) && check_sums(p, plan) &&
        check_value(p, json_object_get(plan, "proposals"),
                    json_object_get(p->golden, "num_proposals"), "plan", "proposals") &&
        check_value(p, json_object_get(plan, "plans"),
                    json_object_get(p->golden, "num_plans"), "plan", "plans") &&
        check_text(p, plan) && check_ours(p, plan);
    json_decref(plan);
    return is_good;
}

/* Where TorchRec found no plan there is to be none. */
static bool check_error(const planned *p) {
    const char *text = NULL;
    ig_status status = ig_shard_plan(p->v->context, p->path, p->input,
                                     IG_SHARD_TORCHREC, &text);
    p->v->errors->text[0] = '\0';
    return status == IG_INVALID ||
           fail_at(p, "plan", "TorchRec finds none (%s)",
                   text_in(json_object_get(p->golden, "error"), "type"));
}

static char *case_name(const char *path) {
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    return text_of("%.*s", (int)(strlen(name) - strlen(".json")), name);
}

outcome check_planned_case(verification *v, const char *path) {
    planned p = { .v = v, .path = path, .golden = json_load_file(path, 0, NULL) };
    v->test.name = case_name(path);
    p.input =
        need(json_dumps(json_object_get(p.golden, "input"), JSON_REAL_PRECISION(17)));
    bool is_good = json_object_get(p.golden, "error")
                       ? check_error(&p)
                       : check_options(&p) && check_plan(&p);
    if (is_good) {
        snprintf(v->did, sizeof v->did, "%zu tables, %zu options",
                 json_array_size(json_object_get(p.golden, "best_options")), p.options);
    }
    free(p.input);
    json_decref(p.golden);
    return is_good ? PASSED : FAILED;
}
