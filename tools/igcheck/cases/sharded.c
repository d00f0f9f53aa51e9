/* Verifies the results of the ranks of a sharded collection.
 * SPDX-License-Identifier: Apache-2.0 */
#include "tools/igcheck/cases/sharded.h"

#include "tools/igcheck/cases/kinds.h"

#include "tools/ingot/values/show.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- the files of a case ---- */

static json_t *read_json(const sharded_case *c, const char *name) {
    json_error_t error;
    char *path = text_of("%s/%s", c->folder, name);
    json_t *json = json_load_file(path, 0, &error);
    if (!json) {
        verify_fail(c->v, path, error.text);
    }
    free(path);
    return json;
}

bool is_sharded_case(const char *folder) {
    char *path = text_of("%s/case.json", folder);
    char *rank = text_of("%s/rank0.json", folder);
    json_t *json = access(rank, F_OK) == 0 ? json_load_file(path, 0, NULL) : NULL;
    bool is_sharded = json_is_object(json_object_get(json, "plan")) &&
                      json_is_integer(json_object_get(json, "world_size"));
    json_decref(json);
    free(path);
    free(rank);
    return is_sharded;
}

static bool read_inputs(sharded_case *c, size_t rank) {
    static const char *const names_of[RANK_INPUTS] = { "values", "lengths", "weights" };
    sharded_rank *r = &c->ranks[rank];
    for (size_t i = 0; i < c->input_count; i++) {
        char *path = text_of("%s/rank%zu_input_%s.npy", c->folder, rank, names_of[i]);
        bool is_read = verify_read(c->v, path, NULL, &r->owners[i]);
        free(path);
        if (!is_read) {
            return false;
        }
        r->inputs[i] = *ig_arguments_at(r->owners[i], 0);
        if (strcmp(r->inputs[i].dtype, c->ranks[0].inputs[i].dtype) != 0) {
            return verify_fail(c->v, names_of[i], "ranks have other types than rank 0");
        }
    }
    return true;
}

static bool open_rank_files(sharded_case *c, size_t rank) {
    char *name = text_of("rank%zu.json", rank);
    c->ranks[rank].json = read_json(c, name);
    c->ranks[rank].outputs = need(calloc(c->output_count, sizeof(ig_argument)));
    free(name);
    return c->ranks[rank].json && read_inputs(c, rank);
}

static size_t count_features(const json_t *json) {
    size_t i, count = 0;
    json_t *table;
    json_array_foreach(json_object_get(json, "tables"), i, table) {
        count += json_array_size(json_object_get(table, "features"));
    }
    return count;
}

static bool open_case(sharded_case *c) {
    c->json = read_json(c, "case.json");
    if (!c->json) {
        return false;
    }
    json_int_t world = json_integer_value(json_object_get(c->json, "world_size"));
    c->batch = json_integer_value(json_object_get(c->json, "batch_per_rank"));
    c->output_count = count_features(c->json);
    c->input_count = json_is_true(json_object_get(c->json, "weighted")) ? 3 : 2;
    if (world < 1 || world > MAX_CASE_RANKS || c->batch < 0 || !c->output_count) {
        return verify_fail(c->v, "case.json",
                           "\"world_size\" is from 1 to 1024, \"batch_per_rank\" not "
                           "below 0, and \"tables\" have features");
    }
    c->world = (size_t)world;
    c->ranks = need(calloc(c->world, sizeof *c->ranks));
    for (size_t r = 0; r < c->world; r++) {
        if (!open_rank_files(c, r)) {
            return false;
        }
    }
    return true;
}

static void close_case(sharded_case *c) {
    for (size_t r = 0; c->ranks && r < c->world; r++) {
        for (size_t i = 0; i < RANK_INPUTS; i++) {
            ig_arguments_close(c->ranks[r].owners[i]);
        }
        json_decref(c->ranks[r].json);
        free(c->ranks[r].outputs);
    }
    free(c->ranks);
    json_decref(c->json);
}

/* ---- comparing ---- */

/* Columns from `first` on of the rank's result, against `got`. */
static bool check_columns(const sharded_case *c, const ig_argument *want, int64_t first,
                          const ig_argument *got, const char *what) {
    tolerance within = verify_tolerance(c->v, NULL);
    int64_t width = got->dims[1];
    size_t bytes = element_bits(want->dtype) / 8;
    for (int64_t b = 0; b < got->dims[0]; b++) {
        ig_argument a = *got, w = *want;
        int64_t dims[] = { 1, width };
        message why = { "" };
        a.dims = w.dims = dims;
        a.size = w.size = (size_t)width * bytes;
        a.data = (const char *)got->data + (size_t)(b * width) * bytes;
        w.data = (const char *)want->data + (size_t)(b * want->dims[1] + first) * bytes;
        if (!values_agree(&a, &w, &within, &why)) {
            char *where = text_of("%s, sample %lld", what, (long long)b);
            verify_fail(c->v, where, why.text);
            free(where);
            return false;
        }
    }
    return true;
}

/* The next columns are those of `key`; adds their number to *column. */
static bool check_key(const sharded_case *c, size_t rank, const char *key,
                      const ig_argument *want, int64_t *column) {
    size_t index = sharded_output_of(c, key);
    char *what = text_of("rank %zu, '%s'", rank, key);
    const ig_argument *got = &c->ranks[rank].outputs[index];
    bool is_good = false;
    if (index == c->output_count) {
        verify_fail(c->v, what, "no table has such a feature");
    } else if (got->rank != 2 || got->dims[0] != want->dims[0] ||
               *column + got->dims[1] > want->dims[1] ||
               strcmp(got->dtype, want->dtype) != 0) {
        char *type = type_text(got);
        char *text = text_of("got %s, which does not fit the stored result", type);
        verify_fail(c->v, what, text);
        free(text);
        free(type);
    } else {
        is_good = check_columns(c, want, *column, got, what);
        *column += got->dims[1];
    }
    free(what);
    return is_good;
}

static bool check_rank(const sharded_case *c, size_t rank, const ig_argument *want) {
    size_t i;
    json_t *key;
    int64_t column = 0;
    char *what = text_of("rank %zu", rank);
    bool is_good = want->rank == 2 || verify_fail(c->v, what, "no [batch, columns]");
    const json_t *keys = json_object_get(c->ranks[rank].json, "output_keys");
    json_array_foreach(keys, i, key) {
        const char *text = json_string_value(key);
        is_good = is_good && check_key(c, rank, text ? text : "", want, &column);
    }
    if (is_good && column != want->dims[1]) {
        is_good = verify_fail(c->v, what, "there are columns of no output key");
    }
    free(what);
    return is_good;
}

static bool check_ranks(const sharded_case *c) {
    for (size_t r = 0; r < c->world; r++) {
        ig_arguments *want = NULL;
        char *path = text_of("%s/rank%zu_output.npy", c->folder, r);
        bool is_good = verify_read(c->v, path, NULL, &want) &&
                       check_rank(c, r, ig_arguments_at(want, 0));
        ig_arguments_close(want);
        free(path);
        if (!is_good) {
            return false;
        }
    }
    return true;
}

outcome check_sharded_case(verification *v, const char *folder) {
    if (!test_case_open(&v->test, folder, &v->why)) {
        return FAILED;
    }
    sharded_case c = { .v = v, .folder = v->test.folder };
    bool is_good = open_case(&c) && sharded_run(&c, check_ranks);
    if (is_good) {
        snprintf(v->did, sizeof v->did, "%zu ranks, %zu compiled", c.world,
                 v->compiled);
    }
    close_case(&c);
    return is_good ? PASSED : FAILED;
}
