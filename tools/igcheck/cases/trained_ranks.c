/* Verifying steps of ranks that train together against TorchRec's.
 * SPDX-License-Identifier: Apache-2.0
 *
 *     CASE/case.json     world, sharding, tables, optimiser, dense_optimiser, placement
 *     CASE/initial.npz   tables and weights of the layers over.0 and over.2
 *     CASE/inputs.npz    stepS_rankR_{dense,values,lengths,label}
 *     CASE/final.npz     losses [rank, step]; joined weights and states after all steps
 *
 * The model is over(concat(dense, bags)): Linear, SiLU, Linear; the loss is the mean
 * binary cross-entropy of its logits.  Ranks are threads that meet in shared memory.
 */
#include "tools/igcheck/cases/fields.h"
#include "tools/igcheck/cases/kinds.h"
#include "tools/ingot/model/call.h"

#include <ingot/group.h>
#include <ingot/train.h>

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MAX_RANKS = 64, RANK_INPUTS = 4, TIMEOUT_MS = 60000 };

typedef struct ranks_case ranks_case;

typedef struct trained_rank {
    const ranks_case *c;
    uint32_t index;
    ig_program *parts[IG_TRAIN_PARTS];
    pthread_t thread;
    ig_group *group;
    ig_trainer *trainer;
    double *losses;
    ig_status status;
    message why;
} trained_rank;

struct ranks_case {
    verification *v;
    json_t *json;
    case_arrays stored, final; /* before the first step; after the last */
    size_t world;
    int64_t steps, batch;
    trained_rank ranks[MAX_RANKS];
};

bool is_ranks_case(const char *folder) {
    json_t *json = case_load(folder);
    bool is = json_is_object(json_object_get(json, "placement")) &&
              json_is_object(json_object_get(json, "dense_optimiser")) &&
              integer_in(json, "world") > 0;
    json_decref(json);
    return is;
}

static const ig_argument *stored(const ranks_case *c, const char *name) {
    return arrays_find(&c->stored, name);
}

static const ig_argument *wanted(const ranks_case *c, const char *name) {
    return arrays_find(&c->final, name);
}

/* ---- the model ---- */

static bool put_weight(const ranks_case *c, const char *name, FILE *to) {
    const ig_argument *w = stored(c, name);
    if (!w || strcmp(w->dtype, "f32") != 0 || w->rank < 1 || w->rank > 2) {
        return verify_fail(c->v, name, "there is no such array of f32");
    }
    fprintf(to, "weight @%s : f32[%lld", name, (long long)w->dims[0]);
    if (w->rank == 2) {
        fprintf(to, ", %lld", (long long)w->dims[1]);
    }
    fputs("] = inline(0x", to);
    for (size_t i = 0; i < w->size; i++) {
        fprintf(to, "%02x", ((const unsigned char *)w->data)[i]);
    }
    fputs(")\n", to);
    return true;
}

static bool put_weights(const ranks_case *c, FILE *to) {
    static const char *const layers[] = { "over.0.weight", "over.0.bias",
                                          "over.2.weight", "over.2.bias" };
    size_t i;
    json_t *table;
    json_array_foreach(json_object_get(c->json, "tables"), i, table) {
        if (!put_weight(c, text_in(table, "name"), to)) {
            return false;
        }
    }
    for (i = 0; i < sizeof layers / sizeof *layers; i++) {
        if (!put_weight(c, layers[i], to)) {
            return false;
        }
    }
    return true;
}

/* One bag op for all tables, whose results are %r0, %r1 … */
static void put_bags(const ranks_case *c, FILE *to) {
    const json_t *tables = json_object_get(c->json, "tables");
    size_t i, count = json_array_size(tables);
    json_t *table;
    long long batch = (long long)c->batch;
    fputs("%off = cumsum %lengths {axis = 0, complete}\n", to);
    for (i = 0; i < count; i++) {
        fprintf(to, "%%o%zu = slice %%off {starts = [%lld], sizes = [%lld]}\n", i,
                (long long)i * batch, batch + 1);
    }
    for (i = 0; i < count; i++) {
        fprintf(to, "%s%%r%zu", i ? ", " : "", i);
    }
    fputs(" = bag ", to);
    json_array_foreach(tables, i, table) {
        fprintf(to, "%s@%s, %%values, %%o%zu", i ? ", " : "", text_in(table, "name"),
                i);
    }
    for (int list = 0; list < 3; list++) {
        static const char *const begins[] = { " {operands = [", "], pool = [",
                                              "], last = [" };
        fputs(begins[list], to);
        json_array_foreach(tables, i, table) {
            fprintf(to, "%s%s", i ? ", " : "",
                    list == 0   ? "1"
                    : list == 1 ? text_in(table, "pooling")
                                : "offset");
        }
    }
    fputs("]}\n", to);
}

static bool put_model(const ranks_case *c, FILE *to) {
    size_t count = json_array_size(json_object_get(c->json, "tables"));
    long long batch = (long long)c->batch;
    fputs("module @m {\n", to);
    if (!put_weights(c, to)) {
        return false;
    }
    fprintf(to,
            "graph @main(%%dense: f32[%lld, %lld], %%values: i64[V], "
            "%%lengths: i64[%lld]) -> (f32[%lld] \"logit\") {\n",
            batch, (long long)integer_in(c->json, "dense"), (long long)count * batch,
            batch);
    put_bags(c, to);
    fputs("%x = concat %dense", to);
    for (size_t i = 0; i < count; i++) {
        fprintf(to, ", %%r%zu", i);
    }
    fprintf(to,
            " {axis = 1}\n%%a = matmul %%x, @over.0.weight {transpose_b}\n"
            "%%b = add %%a, @over.0.bias\n%%s = sigmoid %%b\n%%h = mul %%b, %%s\n"
            "%%y = matmul %%h, @over.2.weight {transpose_b}\n"
            "%%z = add %%y, @over.2.bias\n%%logit = reshape %%z {to = [%lld]}\n"
            "ret %%logit\n}\n}\n",
            batch);
    return true;
}

static char *model_text(const ranks_case *c) {
    char *text = NULL;
    size_t size = 0;
    FILE *to = need(open_memstream(&text, &size));
    bool is_good = put_model(c, to);
    fclose(to);
    if (!is_good) {
        free(text);
    }
    return is_good ? need(text) : NULL;
}

/* ---- the plan ---- */

/* The shards of a weight that ranks have parts of; NULL: all have all of it. */
static const json_t *shards_of(const ranks_case *c, const char *kind,
                               const char *table) {
    char *name = text_of(kind, table, table);
    const json_t *shards = json_object_get(json_object_get(c->json, "placement"), name);
    free(name);
    return json_is_array(shards) ? shards : NULL;
}

static const char weight_name[] = "ebc.embedding_bags.%s.weight";
static const char state_name[] = "state/ebc.embedding_bags.%s.weight/%s.momentum1";

static char *plan_text(const ranks_case *c) {
    size_t i, k;
    json_t *table, *shard, *tables = need(json_array());
    json_t *plan = need(
        json_pack("{s:I, s:o}", "world_size", (json_int_t)c->world, "tables", tables));
    json_array_foreach(json_object_get(c->json, "tables"), i, table) {
        json_t *list = need(json_array());
        const json_t *shards = shards_of(c, weight_name, text_in(table, "name"));
        json_array_foreach(shards, k, shard) {
            json_t *one = json_pack("{s:O, s:O, s:O}", "rank",
                                    json_object_get(shard, "rank"), "size",
                                    json_object_get(shard, "sizes"), "offset",
                                    json_object_get(shard, "offsets"));
            (void)json_array_append_new(list, need(one));
        }
        json_t *entry = json_pack("{s:s, s:s, s:o}", "name", text_in(table, "name"),
                                  "sharding_type", shards ? "any" : "data_parallel",
                                  "shards", list);
        (void)json_array_append_new(tables, need(entry));
    }
    char *text = need(json_dumps(plan, 0));
    json_decref(plan);
    return text;
}

/* ---- programs ---- */

/* Tables whose kernel is dense change in all their rows, as torch.optim has it. */
static char *optimizer_text(const ranks_case *c, const char *pattern, const char *key) {
    const json_t *how = json_object_get(c->json, key);
    const char *rule = optimizer_rule(text_in(how, "name"));
    bool is_adam = strcmp(rule, "adam") == 0;
    return text_of("%s=%s(lr=%.17g%s", pattern, rule, number_in(how, "lr", 0),
                   is_adam ? ",dense=1" : "");
}

static char *optimizer_with(const ranks_case *c, const char *pattern, const char *key) {
    char *begun = optimizer_text(c, pattern, key);
    double eps = number_in(json_object_get(c->json, key), "eps", -1);
    char *text = eps >= 0 ? text_of("%s,eps=%.17g)", begun, eps)
                          : text_of("%s)", begun);
    free(begun);
    return text;
}

static bool compile_rank(ranks_case *c, trained_rank *r, ig_module *module,
                         const char *plan) {
    char *tables = optimizer_with(c, "t*", "optimiser");
    char *rest = optimizer_with(c, "over*", "dense_optimiser");
    const char *optimizers[] = { tables, rest };
    bool divides = !json_is_false(json_object_get(c->json, "gradient_division"));
    ig_train_options how = { .size = sizeof how,
                             .loss = "bce_logits:logit=label",
                             .optimizers = optimizers,
                             .optimizer_count = 2,
                             .plan = plan,
                             .rank = r->index,
                             .division = divides ? IG_DIVIDE_AS_LOSS
                                                 : IG_DIVIDE_DENSE };
    ig_compile_options compile = compile_options(c->v->given);
    ig_status status = ig_compile_train(module, &how, &compile, IG_TRAIN_STEP,
                                        &r->parts[IG_TRAIN_STEP]);
    if (status == IG_OK) {
        status = ig_compile_train(module, &how, &compile, IG_TRAIN_INITIAL,
                                  &r->parts[IG_TRAIN_INITIAL]);
    }
    free(tables);
    free(rest);
    c->v->compiled += status == IG_OK;
    return status == IG_OK || verify_fail(c->v, "the step of a rank", NULL);
}

static bool compile_ranks(ranks_case *c) {
    ig_module *module = NULL;
    ig_import_options import = { .size = sizeof import, .keeps_weights = 1 };
    char *text = model_text(c), *plan = text ? plan_text(c) : NULL;
    bool is_good = text && ig_import_memory(c->v->context, text, strlen(text), NULL,
                                            &import, &module) == IG_OK;
    is_good = is_good || verify_fail(c->v, "the model", NULL);
    for (size_t r = 0; r < c->world && is_good; r++) {
        c->ranks[r].c = c;
        c->ranks[r].index = (uint32_t)r;
        is_good = compile_rank(c, &c->ranks[r], module, plan);
    }
    ig_module_close(module);
    free(text);
    free(plan);
    return is_good;
}

/* ---- steps ---- */

static bool read_batch(const trained_rank *r, int64_t step, ig_view *views) {
    static const char *const names_of[RANK_INPUTS] = { "dense", "values", "lengths",
                                                       "label" };
    bool is_good = true;
    for (size_t i = 0; i < RANK_INPUTS; i++) {
        char *name = text_of("step%lld_rank%u_%s", (long long)step, r->index,
                             names_of[i]);
        const ig_argument *value = stored(r->c, name);
        is_good = is_good && value && view_of(value, &views[i]);
        free(name);
    }
    return is_good;
}

static ig_status open_rank(trained_rank *r, const char *group) {
    ig_group_options how = { .size = sizeof how,
                             .rank = r->index,
                             .world = (uint32_t)r->c->world,
                             .timeout_ms = TIMEOUT_MS,
                             .message = r->why.text,
                             .message_size = sizeof r->why.text };
    ig_status status = ig_group_open(group, &how, &r->group);
    ig_trainer_options options = { .size = sizeof options,
                                   .message = r->why.text,
                                   .message_size = sizeof r->why.text,
                                   .threads = (int)r->c->v->given->threads,
                                   .ranks = r->group ? ig_group_ranks(r->group)
                                                     : NULL };
    return status == IG_OK ? ig_trainer_create(r->parts, &options, &r->trainer)
                           : status;
}

static void *run_rank(void *argument) {
    trained_rank *r = argument;
    char *group = text_of("shm:igcheck-ranks-%d", (int)getpid());
    ig_view views[RANK_INPUTS];
    r->status = open_rank(r, group);
    for (int64_t i = 0; i < r->c->steps && r->status == IG_OK; i++) {
        r->status = read_batch(r, i, views)
                        ? ig_trainer_step(r->trainer, views, RANK_INPUTS, &r->losses[i],
                                          NULL)
                        : IG_INVALID;
    }
    if (r->status != IG_OK && !r->why.text[0]) {
        const char *said = r->trainer ? ig_trainer_error(r->trainer) : "";
        snprintf(r->why.text, sizeof r->why.text, "%s",
                 said[0] ? said : "the case has no such batch");
    }
    free(group);
    return NULL;
}

static bool run_ranks(ranks_case *c) {
    size_t started = 0;
    bool is_good = true;
    for (; started < c->world && is_good; started++) {
        trained_rank *r = &c->ranks[started];
        r->losses = need(calloc((size_t)c->steps + 1, sizeof *r->losses));
        is_good = pthread_create(&r->thread, NULL, run_rank, r) == 0 ||
                  verify_fail(c->v, "ranks", "cannot start a thread for each");
    }
    for (size_t i = 0; i < started; i++) {
        trained_rank *r = &c->ranks[i];
        pthread_join(r->thread, NULL);
        if (is_good && r->status != IG_OK) {
            char *about = text_of("rank %zu", i);
            is_good = verify_fail(c->v, about, r->why.text);
            free(about);
        }
    }
    return is_good;
}

/* ---- comparing ---- */

/* The loss that is trained on is the mean of those of the ranks. */
static bool check_losses(const ranks_case *c, const tolerance *within) {
    const ig_argument *want = wanted(c, "losses");
    for (int64_t step = 0; want && step < c->steps; step++) {
        double mean = 0, room, got = c->ranks[0].losses[step];
        for (size_t r = 0; r < c->world; r++) {
            mean += ig_argument_number(want, r * (size_t)c->steps + (size_t)step) /
                    (double)c->world;
            if (c->ranks[r].losses[step] != got) {
                return verify_fail(c->v, "the loss", "it differs from rank to rank");
            }
        }
        room = within->atol + within->rtol * fabs(mean);
        if (!(fabs(got - mean) <= room)) {
            char *why = text_of("of step %lld is %.9g, not %.9g", (long long)step, got,
                                mean);
            verify_fail(c->v, "the loss", why);
            free(why);
            return false;
        }
    }
    return want || verify_fail(c->v, "final.npz", "it has no losses");
}

/* The rank's share of a table or a state: by the name of all of it, or of its only
 * part. */
static bool find_own(const trained_rank *r, const char *table, const char *state,
                     ig_argument *out) {
    int found = -1;
    ig_trained value;
    for (int part = -1; found < 0 && part < (int)r->c->world; part++) {
        char *name = part < 0 ? text_of("%s%s", table, state)
                              : text_of("%s.%d%s", table, part, state);
        found = ig_trainer_find(r->trainer, name);
        free(name);
    }
    if (found >= 0) {
        value = ig_trainer_get(r->trainer, (size_t)found);
        argument_of(&value.view, out);
    }
    return found >= 0;
}

/* Rows and columns of `want`, one after the other: allocated. */
static float *cut_rows(const ig_argument *want, const json_t *shard, ig_argument *out) {
    int64_t first[2] = { 0, 0 }, size[2] = { 1, 1 };
    for (size_t d = 0; d < want->rank && d < 2; d++) {
        first[d] =
            json_integer_value(json_array_get(json_object_get(shard, "offsets"), d));
        size[d] =
            json_integer_value(json_array_get(json_object_get(shard, "sizes"), d));
    }
    int64_t width = want->rank == 2 ? want->dims[1] : 1;
    float *cut = need(calloc((size_t)(size[0] * size[1]) + 1, sizeof *cut));
    for (int64_t row = 0; row < size[0]; row++) {
        memcpy(cut + row * size[1],
               (const float *)want->data + (first[0] + row) * width + first[1],
               (size_t)size[1] * sizeof *cut);
    }
    *out = (ig_argument){ .dtype = "f32",
                          .rank = 1,
                          .data = cut,
                          .size = (size_t)(size[0] * size[1]) * sizeof *cut };
    return cut;
}

static bool check_shard(const ranks_case *c, const char *table, const char *state,
                        const ig_argument *want, const json_t *shard,
                        const tolerance *within) {
    size_t rank = (size_t)integer_in(shard, "rank");
    ig_argument got, part;
    char *about = text_of("rank %zu, '%s%s'", rank, table, state);
    float *cut = cut_rows(want, shard, &part);
    int64_t count = (int64_t)(part.size / sizeof *cut);
    part.dims = &count;
    bool is_good = rank < c->world && find_own(&c->ranks[rank], table, state, &got)
                       ? check_elements(c->v, about, &got, &part, within)
                       : verify_fail(c->v, about, "it is not trained");
    free(cut);
    free(about);
    return is_good;
}

static bool check_whole(const ranks_case *c, size_t rank, const char *name,
                        const char *state, const ig_argument *want,
                        const tolerance *within) {
    ig_argument got;
    char *about = text_of("rank %zu, '%s%s'", rank, name, state);
    bool is_good = find_own(&c->ranks[rank], name, state, &got)
                       ? check_elements(c->v, about, &got, want, within)
                       : verify_fail(c->v, about, "it is not trained");
    free(about);
    return is_good;
}

/* A weight, or its joined state. */
static bool check_joined(const ranks_case *c, const char *kind, const char *table,
                         const char *state, const tolerance *within) {
    char *name = text_of(kind, table, table);
    const ig_argument *want = wanted(c, name);
    const json_t *shards = shards_of(c, kind, table);
    bool is_good = want || state[0] || verify_fail(c->v, name, "it is not stored");
    json_t *shard;
    size_t i;
    free(name);
    json_array_foreach(shards, i, shard) {
        is_good = is_good &&
                  (!want || check_shard(c, table, state, want, shard, within));
    }
    for (size_t r = 0; !shards && want && is_good && r < c->world; r++) {
        is_good = check_whole(c, r, table, state, want, within);
    }
    return is_good;
}

/* torch.optim's states of the tables that a rank has parts of, by their numbers. */
static bool check_local_states(const ranks_case *c, const char *table, size_t index,
                               const tolerance *within) {
    static const char *const kinds[][2] = { { "sum", ".momentum1" },
                                            { "exp_avg", ".momentum1" },
                                            { "exp_avg_sq", ".momentum2" } };
    bool is_good = true;
    for (size_t r = 0; r < c->world; r++) {
        for (size_t k = 0; k < sizeof kinds / sizeof *kinds && is_good; k++) {
            char *name = text_of("local_state/rank%zu/%zu/%s", r, index, kinds[k][0]);
            const ig_argument *want = wanted(c, name);
            is_good = !want || check_whole(c, r, table, kinds[k][1], want, within);
            free(name);
        }
    }
    return is_good;
}

static bool check_final(const ranks_case *c) {
    static const char *const layers[] = { "over.0.weight", "over.0.bias",
                                          "over.2.weight", "over.2.bias" };
    tolerance within = case_tolerance(c->json), states = within;
    states.rtol = number_in(json_object_get(c->json, "tolerance"), "states_rtol",
                            states.rtol);
    bool is_good = check_losses(c, &within);
    size_t i;
    json_t *table;
    for (i = 0; i < sizeof layers / sizeof *layers && is_good; i++) {
        is_good = check_joined(c, "%s", layers[i], "", &within);
    }
    json_array_foreach(json_object_get(c->json, "tables"), i, table) {
        const char *name = text_in(table, "name");
        is_good = is_good && check_joined(c, weight_name, name, "", &within) &&
                  check_joined(c, state_name, name, ".momentum1", &states) &&
                  check_local_states(c, name, i, &states);
    }
    return is_good;
}

/* ---- the case ---- */

static bool open_case(ranks_case *c) {
    c->json = case_load(c->v->test.folder);
    c->world = (size_t)integer_in(c->json, "world");
    c->steps = integer_in(c->json, "steps");
    c->batch = integer_in(c->json, "batch");
    if (c->world > MAX_RANKS) {
        return verify_fail(c->v, "case.json", "at most 64 ranks are run");
    }
    const char *folder = c->v->test.folder;
    return arrays_add(c->v, &c->stored, text_of("%s/initial.npz", folder), NULL) &&
           arrays_add(c->v, &c->stored, text_of("%s/inputs.npz", folder), NULL) &&
           arrays_add(c->v, &c->final, text_of("%s/final.npz", folder), NULL);
}

static void close_case(ranks_case *c) {
    for (size_t r = 0; r < c->world && r < MAX_RANKS; r++) {
        ig_trainer_close(c->ranks[r].trainer);
        ig_group_close(c->ranks[r].group);
        free(c->ranks[r].losses);
        for (size_t k = 0; k < IG_TRAIN_PARTS; k++) {
            ig_program_close(c->ranks[r].parts[k]);
        }
    }
    arrays_close(&c->stored);
    arrays_close(&c->final);
    json_decref(c->json);
}

outcome check_ranks_case(verification *v, const char *folder) {
    if (!test_case_open(&v->test, folder, &v->why)) {
        return FAILED;
    }
    ranks_case *c = need(calloc(1, sizeof *c));
    c->v = v;
    bool is_good = open_case(c) && compile_ranks(c) && run_ranks(c) && check_final(c);
    if (is_good) {
        snprintf(v->did, sizeof v->did, "%zu ranks, %lld steps", c->world,
                 (long long)c->steps);
    }
    close_case(c);
    free(c);
    return is_good ? PASSED : FAILED;
}
