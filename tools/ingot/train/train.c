/* ingot train: trains a model on files of arrays.
 * SPDX-License-Identifier: Apache-2.0 */
#include "tools/ingot/cli/streams.h"
#include "tools/ingot/model/ahead.h"
#include "tools/ingot/model/ranks.h"
#include "tools/ingot/train/checkpoint.h"
#include "tools/ingot/train/curve.h"
#include "tools/ingot/train/feed.h"
#include "tools/ingot/train/schedule.h"
#include "tools/ingot/train/stored.h"
#include "tools/ingot/values/inputs.h"

#include <ingot/group.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const option_row options[] = {
    TEXT("loss", 'l', loss, "KIND:OUTPUT=LABEL",
         "the loss: bce, bce_logits, mse or cross_entropy of an output and an "
         "array of the data; or sum:OUTPUT (needed)"),
    TEXT(
        "data", 'd', data, "DIR|x.npz|x.tsv",
        "arrays by the names of inputs, and the label, or Criteo's text (.txt, .tsv); of a folder each; without it "
        "-o OUT.ingot is the compiled step, which is a MODEL to train, too"),
    LIST("optimizer", optimizers, "PATTERN=RULE(KEY=NUMBER,…)",
         "how the weights of such names change; the first that fits; may be repeated "
         "(*=adam)"),
    TEXT("schedule", 0, schedule, "constant|linear:N|step:N:FACTOR|cosine:N",
         "of all learning rates: rising for N steps, times FACTOR each N steps, or "
         "falling to 0 within N (constant)"),
    REAL("clip-norm", clip_norm, has_clip_norm, "X",
         "bound of the norm of all gradients but those of tables"),
    COUNT("accumulate", 0, accumulate, 1, INT32_MAX,
          "weights change in each N calls, by the gradients of all of them (1)"),
    COUNT("batch", 'b', batch_size, 1, INT32_MAX,
          "rows of the arrays in each step; else a file is a step"),
    COUNTS(
        "modulo", 0, modulo, 1, INT64_MAX,
        "rows of the tables, by which Criteo's categories become ids: one number, or "
        "26"),
    COUNT("epochs", 'e', epochs, 1, INT32_MAX,
          "how many times the data is gone through (1)"),
    COUNT("steps", 0, steps, 1, INT64_MAX, "how many steps there are at most"),
    TEXT("eval", 0, eval, "DIR|x.npz", "data that the trained model is tried on"),
    TEXT("begin", 0, begin, "x.npz|CHECKPOINT",
         "begin with what -o x.npz wrote, or with a checkpoint"),
    TEXT("checkpoint", 0, checkpoints, "DIR",
         "where checkpoints of torch.distributed go, DIR/step-N: at the end, and"),
    COUNT("checkpoint-every", 0, checkpoint_every, 1, INT64_MAX, "after each N steps"),
    FLAG("resume", resume,
         "continue after the last checkpoint of DIR, if there is one"),
    TEXT("output", 'o', output, "OUT.npz|OUT.ig|OUT.ingot",
         "where weights and states go; or the trained model"),
    TEXT("svg", 0, svg, "FILE.svg", "the learning curve as a picture"),
    ROW_ENTRY,
    ROW_RESOURCE,
    ROW_OPS,
    ROW_FIX,
    LIST("input", inputs, "NAME=TYPE", "fix an input's type"),
    COUNT("threads", 'j', threads, 1, MAX_THREADS, "threads of a step (all)"),
    LIST(
        "store", stores, "TABLE=URL",
        "train a table whose rows are in a store, to which changed rows are written; TABLE may be a pattern such as '*'; may be repeated"),
    COUNT("store-memory", 0, store_memory, 1, 1 << 24,
          "MB of rows in memory, of all tables in stores (256)"),
    ROWS_RANKS,
    ROWS_COMPILE,
    ROW_QUIET,
    ROW_JSON,
    ROW_HELP,
    OPTIONS_END,
};

static const char step_name[] = "step";

typedef struct run {
    const settings *given;
    ig_context *context;
    const char *path; /* of the model */
    char *plan;       /* of ranks, or NULL */
    json_t *about;    /* describes the training; NULL: nobody asks */
    trainer t;
    stored_rows stored; /* of --store */
    feed data;
    double *rates;  /* as the optimizers say */
    double *losses; /* of all steps so far */
    size_t loss_count, loss_room;
    int64_t passed;         /* batches of other ranks before the next */
    bool is_ahead;          /* the next batch was read while its rows are fetched: */
    bool is_read, has_read; /* without a fault, and there was one */
    double eval_loss, auc;  /* NaN: none */
    int64_t skipped;        /* steps that there were before the checkpoint */
    int64_t saved;          /* the step of the last checkpoint; -1: none */
} run;

/* ---- the loop ---- */

static void keep_loss(run *r) {
    if (r->loss_count == r->loss_room) {
        r->loss_room = r->loss_room ? 2 * r->loss_room : 256;
        r->losses = need(realloc(r->losses, r->loss_room * sizeof *r->losses));
    }
    r->losses[r->loss_count++] = trainer_loss(&r->t);
}

/* Of the last `count` steps. */
static double mean_loss(const run *r, size_t count) {
    double sum = 0;
    for (size_t i = r->loss_count - count; i < r->loss_count; i++) {
        sum += r->losses[i];
    }
    return count ? sum / (double)count : NAN;
}

/* After 1, 2, 5, 10 … steps, and each hundred. */
static bool is_given(size_t step) {
    size_t first = step;
    while (first >= 10 && first % 10 == 0) {
        first /= 10;
    }
    return step % 100 == 0 || first == 1 || first == 2 || first == 5;
}

static void tell_step(const run *r) {
    size_t count = r->loss_count < 50 ? r->loss_count : 50;
    if (!r->given->json && !r->given->quiet && is_given(r->loss_count)) {
        printf("step %6lld  loss %.6g  mean of %zu: %.6g\n", (long long)r->t.step,
               r->losses[r->loss_count - 1], count, mean_loss(r, count));
        (void)fflush(stdout);
    }
}

static bool save_checkpoint(run *r) {
    r->saved = r->t.step;
    bool is_good = stored_save(&r->stored, r->t.step) &&
                   checkpoint_save(&r->t, r->context, r->given->checkpoints, r->about);
    if (is_good) {
        stored_settle(&r->stored);
    }
    return is_good;
}

/* Is there to be a checkpoint after that step? */
static bool is_due(const run *r, int64_t step) {
    return r->given->checkpoints && r->given->checkpoint_every &&
           step % r->given->checkpoint_every == 0;
}

/* While a step runs, the rows of the next batch come from the stores; of one that is
 * before a checkpoint none, whose rows are those of its steps. */
static void read_ahead(run *r) {
    int64_t next = r->t.step + 1;
    bool is_last = r->given->steps && next >= r->given->steps;
    if (is_last || is_due(r, next) || !stored_keep(&r->stored, &r->t)) {
        return;
    }
    r->is_ahead = true;
    r->is_read = feed_next(&r->data, &r->has_read);
    stored_begin_ahead(&r->stored, &r->t, r->is_read && r->has_read);
}

static bool step_once(run *r, const schedule *s) {
    double share = schedule_share(s, (double)r->t.step);
    for (size_t i = 0; i < r->t.group_count; i++) {
        r->t.rates[i] = share * r->rates[i];
    }
    if (!stored_fetch(&r->stored, &r->t)) {
        return false;
    }
    read_ahead(r);
    bool is_good = trainer_step(&r->t);
    stored_release(&r->stored, &r->t);
    if (!is_good) {
        complain(0, "step %lld: %s", (long long)r->t.step + 1, r->t.why.text);
        return false;
    }
    keep_loss(r);
    tell_step(r);
    return !is_due(r, r->t.step) || save_checkpoint(r);
}

/* Whether there is a next step; ranks go by the largest. */
typedef enum turn { GOES_ON, DATA_ENDED, STEPS_DONE, IS_STOPPED, IS_BROKEN } turn;

static bool take_batch(run *r, bool *out_has) {
    if (!r->is_ahead) {
        return feed_next(&r->data, out_has);
    }
    r->is_ahead = false;
    *out_has = r->has_read;
    return r->is_read;
}

static bool pass_batches(run *r, int64_t count, bool *out_has) {
    bool is_good = true;
    for (int64_t i = 0; i < count && is_good && *out_has; i++) {
        is_good = take_batch(r, out_has);
    }
    return is_good;
}

/* Ranks whose data are the same take its batches in turn; a round that is not full is
 * left out. */
static bool next_batch(run *r, bool *out_has) {
    const settings *given = r->given;
    int64_t others = given->world && !given->has_own_data ? given->world - 1 : 0;
    int64_t before = others ? given->rank : 0;
    *out_has = true;
    return pass_batches(r, r->passed, out_has) && pass_batches(r, before, out_has) &&
           pass_batches(r, 1, out_has) && ((r->passed = others - before), true);
}

static turn find_turn(run *r) {
    bool has_next;
    if (was_interrupted()) {
        return IS_STOPPED;
    }
    if (r->given->steps && r->t.step >= r->given->steps) {
        return STEPS_DONE;
    }
    if (!next_batch(r, &has_next)) {
        return IS_BROKEN;
    }
    return has_next ? GOES_ON : DATA_ENDED;
}

static turn next_turn(run *r) {
    int64_t own = find_turn(r), all[MAX_RANKS] = { 0 }, max = own;
    if (r->given->world &&
        ig_group_all_gather(ranks_group(), &own, sizeof own, all) != IG_OK) {
        complain(0, "%s", r->t.why.text);
        return IS_BROKEN;
    }
    for (int64_t i = 0; i < r->given->world; i++) {
        max = all[i] > max ? all[i] : max;
    }
    return (turn)max;
}

/* True at the end of the data, of --steps, and when the user stops it. */
static bool train_epoch(run *r, const schedule *s, bool *out_is_done) {
    turn now;
    feed_rewind(&r->data);
    r->passed = 0;
    while ((now = next_turn(r)) == GOES_ON) {
        if (r->skipped > 0) {
            r->skipped--;
        } else if (!step_once(r, s)) {
            return was_interrupted();
        }
    }
    *out_is_done = now == STEPS_DONE || now == IS_STOPPED;
    return now != IS_BROKEN;
}

static bool train_all(run *r) {
    schedule s;
    bool is_done = false;
    int64_t epochs = r->given->epochs ? r->given->epochs : 1;
    if (!schedule_read(r->given->schedule, &s)) {
        return false;
    }
    if (!r->given->epochs && r->given->steps) {
        epochs = INT64_MAX;
    }
    for (int64_t i = 0; i < epochs && !is_done && !was_interrupted(); i++) {
        size_t before = r->loss_count;
        int64_t skipped = r->skipped;
        if (!train_epoch(r, &s, &is_done)) {
            return false;
        }
        bool is_empty = r->loss_count == before && r->skipped == skipped;
        if (is_empty && !is_done && !was_interrupted()) {
            complain(0, "%s: there is no batch in it", r->given->data);
            return false;
        }
    }
    return true;
}

/* ---- results ---- */

/* Weights, states and the number of steps. */
static bool write_arrays(run *r, const whole_values *all) {
    ig_argument *values = need(calloc(all->count + 1, sizeof *values));
    const char **labels = need(calloc(all->count + 1, sizeof *labels));
    for (size_t i = 0; i < all->count; i++) {
        values[i + 1] = all->items[i].value;
        labels[i + 1] = all->items[i].name;
    }
    values[0] = (ig_argument){ .dtype = "i64", .data = &r->t.step, .size = 8 };
    labels[0] = step_name;
    bool is_good = ig_arguments_write(r->context, r->given->output, values, labels,
                                      all->count + 1) == IG_OK;
    free(values);
    free(labels);
    return is_good;
}

static bool import_model(run *r, ig_module **out) {
    ig_import_options how = import_options(r->given);
    return ig_import(r->context, r->path, &how, out) == IG_OK;
}

static size_t index_of_input(const run *r, const char *name) {
    const ig_argument *input = trainer_find(&r->t, name);
    return input ? (size_t)(input - r->t.with.inputs) : r->t.with.count;
}

/* The model with its trained weights. */
static bool write_model(run *r, const whole_values *all) {
    ig_module *module = NULL;
    bool is_good = import_model(r, &module);
    for (size_t i = 0; i < all->count && is_good; i++) {
        const char *name = all->items[i].name, *dot = strrchr(name, '.');
        bool is_state = dot && strncmp(dot, ".momentum", strlen(".momentum")) == 0;
        bool is_input = index_of_input(r, name) < r->t.step_at;
        is_good = is_state || is_input ||
                  ig_module_set_weight(module, name, &all->items[i].value) == IG_OK;
    }
    ig_compile_options how = compile_options(r->given);
    if (is_good) {
        const char *to = r->given->output;
        is_good = (r->given->stores.count    ? ahead_compile(r->given, module, to)
                   : text_ends(to, ".ingot") ? ig_compile_file(module, to, &how)
                                             : ig_module_write(module, to)) == IG_OK;
    }
    ig_module_close(module);
    return is_good;
}

/* Every rank gives its parts to rank 0, which writes. */
static bool write_trained(run *r) {
    whole_values all;
    bool is_good = wholes_gather(&r->t, r->about, &all);
    if (is_good && r->given->rank == 0) {
        is_good = text_ends(r->given->output, ".npz") ? write_arrays(r, &all)
                                                      : write_model(r, &all);
    }
    wholes_free(&all);
    return is_good;
}

static bool write_result(run *r) {
    int64_t first = r->t.step - (int64_t)r->loss_count + 1;
    if (r->given->svg && r->given->rank == 0 &&
        !curve_write(r->given->svg, r->losses, r->loss_count, first)) {
        return false;
    }
    if (r->given->checkpoints && r->saved != r->t.step && !save_checkpoint(r)) {
        return false;
    }
    return stored_end(&r->stored) && (!r->given->output || write_trained(r));
}

static const ig_argument *find_array(const ig_arguments *file, const char *name) {
    for (size_t i = 0; i < ig_arguments_count(file); i++) {
        if (strcmp(ig_arguments_name(file, i), name) == 0) {
            return ig_arguments_at(file, i);
        }
    }
    return NULL;
}

/* Each weight and state by its name. */
static bool load_arrays(run *r) {
    ig_arguments *file = NULL;
    bool is_good = ig_arguments_open(r->context, r->given->begin, &file) == IG_OK;
    for (size_t i = 0; is_good && i < r->t.with.count; i++) {
        if (!r->t.memory[i]) {
            continue;
        }
        char *name = whole_name(&r->t, r->about, i);
        const ig_argument *value = find_array(file, name);
        is_good = value && whole_give(&r->t, r->about, i, value);
        if (!is_good) {
            complain(0, "%s: '%s' is not in it, or of another size or type",
                     r->given->begin, name);
        }
        free(name);
    }
    const ig_argument *step = is_good ? find_array(file, step_name) : NULL;
    r->t.step = step ? (int64_t)ig_argument_number(step, 0) : r->t.step;
    ig_arguments_close(file);
    return is_good;
}

static bool begin(run *r) {
    const char *from = r->given->begin;
    if (text_ends(from, ".npz")) {
        return load_arrays(r);
    }
    char *last = checkpoint_last(from);
    int64_t ranks;
    bool is_good = last && checkpoint_load(&r->t, r->context, last, r->about, &ranks);
    if (!last) {
        complain(0, "%s: there is no checkpoint (a folder with .metadata)", from);
    }
    free(last);
    return is_good;
}

static bool is_resumable(const run *r, const char *last) {
    bool has_begun = last || stored_has_begun(&r->stored, r->t.step);
    if (has_begun && !r->given->resume) {
        complain(0, "%s: there are %s in it; --resume continues after the last",
                 r->given->checkpoints,
                 last ? "checkpoints" : "rows of a training that did not end");
        return false;
    }
    return true;
}

/* Batches up to the checkpoint are passed over, so that the next one follows. */
static bool resume(run *r) {
    char *last = checkpoint_last(r->given->checkpoints);
    bool is_good = is_resumable(r, last);
    if (last && is_good) {
        int64_t ranks, world = r->given->world ? r->given->world : 1;
        is_good = checkpoint_load(&r->t, r->context, last, r->about, &ranks);
        ranks = r->given->has_own_data ? world : ranks;
        r->saved = r->t.step;
        r->skipped = (r->t.step * ranks + world - 1) / world;
        if (is_good && r->given->stores.count &&
            !stored_has_begun(&r->stored, r->t.step)) {
            complain(0, "%s: the stores have rows of another step than it", last);
            is_good = false;
        }
    }
    is_good = is_good && stored_resume(&r->stored, r->t.step);
    free(last);
    return is_good;
}

/* ---- trying the trained model ---- */

typedef struct scores {
    double *outputs, *labels;
    size_t count, room;
    double loss_sum;
    size_t batches;
} scores;

/* Labels of 0 and 1 have an AUC.  An artifact does not say what its loss is. */
static bool has_classes(const run *r) {
    const ig_argument *label = &r->t.with.inputs[r->t.data_count - 1];
    size_t count = element_count(label);
    bool has = count == element_count(&r->t.out.items[1]);
    for (size_t i = 0; has && !r->given->loss && i < count; i++) {
        double number = ig_argument_number(label, i);
        has = number == 0 || number == 1;
    }
    return has && (!r->given->loss || strncmp(r->given->loss, "bce", 3) == 0);
}

static void add_scores(scores *s, const run *r) {
    const trainer *t = &r->t;
    const ig_argument *out = &t->out.items[1];
    const ig_argument *label = &t->with.inputs[t->data_count - 1];
    size_t count = has_classes(r) ? element_count(out) : 0;
    for (size_t i = 0; i < count; i++) {
        if (s->count == s->room) {
            s->room = s->room ? 2 * s->room : 1024;
            s->outputs = need(realloc(s->outputs, s->room * sizeof(double)));
            s->labels = need(realloc(s->labels, s->room * sizeof(double)));
        }
        s->outputs[s->count] = ig_argument_number(out, i);
        s->labels[s->count++] = ig_argument_number(label, i);
    }
    s->loss_sum += trainer_loss(t);
    s->batches++;
}

static bool evaluate(run *r) {
    feed data;
    scores s = { 0 };
    bool has_next = true;
    bool is_good = feed_open(&data, r->context, &r->t, r->given->eval,
                             r->given->batch_size);
    while (is_good && !was_interrupted()) {
        is_good = feed_next(&data, &has_next);
        if (!is_good || !has_next) {
            break;
        }
        if (!stored_fetch(&r->stored, &r->t)) {
            is_good = false;
            break;
        }
        is_good = trainer_try(&r->t);
        stored_release(&r->stored, &r->t);
        if (is_good) {
            add_scores(&s, r);
        } else {
            complain(0, "%s: %s", r->given->eval, r->t.why.text);
        }
    }
    size_t *order = need(calloc(s.count + 1, sizeof *order));
    r->eval_loss = s.batches ? s.loss_sum / (double)s.batches : NAN;
    r->auc = s.count ? ig_metric_auc(s.outputs, s.labels, order, s.count) : NAN;
    free(order);
    free(s.outputs);
    free(s.labels);
    feed_close(&data);
    return is_good;
}

/* ---- the report ---- */

static void put_json_number(const char *key, double number) {
    if (isfinite(number)) {
        printf(", \"%s\": %.9g", key, number);
    } else {
        printf(", \"%s\": null", key);
    }
}

static void tell_end(const run *r, int64_t steps) {
    if (r->given->rank > 0) {
        return;
    }
    size_t last = r->loss_count < 50 ? r->loss_count : 50;
    if (!r->given->json) {
        printf("%lld steps, loss %.6g, mean of the last %zu: %.6g\n", (long long)steps,
               r->loss_count ? r->losses[r->loss_count - 1] : NAN, last,
               mean_loss(r, last));
        if (r->given->eval) {
            printf("eval: loss %.6g", r->eval_loss);
            printf(isnan(r->auc) ? "\n" : ", AUC %.6g\n", r->auc);
        }
        return;
    }
    printf("{\"steps\": %lld, \"losses\": [", (long long)steps);
    for (size_t i = 0; i < r->loss_count; i++) {
        printf(isfinite(r->losses[i]) ? "%s%.9g" : "%snull", i ? ", " : "",
               r->losses[i]);
    }
    printf("]");
    put_json_number("eval_loss", r->eval_loss);
    put_json_number("auc", r->auc);
    if (r->stored.stored) {
        printf(", \"fetched_ahead\": %lld", (long long)r->stored.ahead.count);
    }
    printf("}\n");
}

/* ---- the verb ---- */

static ig_train_options train_options(const run *r) {
    static const char *const all[] = { "*=adam" };
    const text_list *named = &r->given->optimizers;
    return (ig_train_options){ .size = sizeof(ig_train_options),
                               .loss = r->given->loss,
                               .optimizers = named->count ? named->items
                                                          : (const char **)all,
                               .optimizer_count = named->count ? named->count : 1,
                               .clip_norm = r->given->clip_norm,
                               .accumulate = r->given->accumulate,
                               .plan = r->plan,
                               .plan_name = r->given->plan,
                               .rank = (size_t)r->given->rank };
}

/* Of ranks and checkpoints: the ranks' parts of the tables, and the rules. */
static bool describe(run *r, ig_module *module, const ig_train_options *how) {
    const char *text = NULL;
    ig_compile_options compile = compile_options(r->given);
    if (!r->given->world && !r->given->checkpoints) {
        return true;
    }
    ig_status status = module ? ig_train_describe(module, how, &compile, &text)
                              : ig_artifact_train(r->context, r->path, &text);
    r->about = status == IG_OK ? need(json_loads(text, 0, NULL)) : NULL;
    return status == IG_OK;
}

/* An artifact that was made for another rank is told before it meets the others. */
static bool check_rank(const run *r) {
    int64_t world = json_integer_value(json_object_get(r->about, "world_size"));
    int64_t rank = json_integer_value(json_object_get(r->about, "rank"));
    int64_t wanted = r->given->world ? r->given->world : 1;
    if (r->about && (world != wanted || rank != r->given->rank)) {
        complain(0,
                 "%s is the step of rank %lld of %lld, and this is rank %lld of %lld",
                 r->path, (long long)rank, (long long)world, (long long)r->given->rank,
                 (long long)wanted);
        return false;
    }
    return true;
}

static bool open_trainer(run *r) {
    ig_module *module = NULL;
    if (is_artifact(r->path)) {
        return describe(r, NULL, NULL) && check_rank(r) &&
               trainer_open_file(&r->t, r->given, r->context, r->path);
    }
    if (!ranks_training_plan(r->given, &r->plan) || !import_model(r, &module)) {
        return false;
    }
    ig_train_options how = train_options(r);
    if (!describe(r, module, &how)) {
        ig_module_close(module);
        return false;
    }
    if (!r->given->stores.count) {
        return trainer_open(&r->t, r->given, r->context, module, &how, NULL);
    }
    if (!stored_open(&r->stored, r->given, r->context, module, &how)) {
        stored_close(&r->stored);
        ig_module_close(module);
        return false;
    }
    return trainer_open(&r->t, r->given, r->context, module, &how, &r->stored.keeper);
}

static bool open_run(run *r) {
    if (!open_trainer(r)) {
        if (r->t.why.text[0]) {
            complain(0, "%s: %s", r->path, r->t.why.text);
        }
        return false;
    }
    r->rates = need(calloc(r->t.group_count + 1, sizeof *r->rates));
    memcpy(r->rates, r->t.rates, r->t.group_count * sizeof *r->rates);
    return (!r->given->begin || begin(r)) && (!r->given->checkpoints || resume(r)) &&
           feed_open(&r->data, r->context, &r->t, r->given->data, r->given->batch_size);
}

/* Ranks and other forms hold whole tables. */
static int check_stores(const settings *given) {
    const char *out = given->output ? given->output : "";
    if (!given->stores.count) {
        return 0;
    }
    if (given->ranks || given->plan || is_interpret(given->target) || !given->data ||
        is_artifact(given->arguments.items[0]) || text_ends(out, ".ig")) {
        return complain(
            EXIT_USAGE,
            "--store trains a model on --data by compiled steps: leave out --ranks "
            "and --plan, and write to .npz or .ingot");
    }
    return ahead_check(given);
}

/* An artifact has its loss and optimizers. */
static int check_words(const settings *given) {
    bool is_made = is_artifact(given->arguments.items[0]);
    const char *out = given->output ? given->output : "";
    if (is_made && (given->loss || given->optimizers.count || given->has_clip_norm)) {
        return complain(EXIT_USAGE,
                        "%s has its loss and optimizers: leave out --loss, "
                        "--optimizer and --clip-norm",
                        given->arguments.items[0]);
    }
    if (is_made && *out && !text_ends(out, ".npz")) {
        return complain(EXIT_USAGE,
                        "-o %s: an artifact holds no model, so that weights go to .npz",
                        out);
    }
    if (!is_made && !given->loss) {
        return complain(EXIT_USAGE, "--loss is needed: ingot train --help tells of it");
    }
    return given->data || (!is_made && text_ends(out, ".ingot"))
               ? 0
               : complain(EXIT_USAGE,
                          "--data is needed: ingot train --help tells of it");
}

static ig_status compile_step(run *r) {
    if (!ranks_training_plan(r->given, &r->plan)) {
        return IG_INVALID;
    }
    ig_train_options how = train_options(r);
    ig_compile_options compile = compile_options(r->given);
    ig_module *module = NULL;
    ig_import_options import = import_options(r->given);
    ig_status status = ig_import(r->context, r->path, &import, &module);
    if (status == IG_OK) {
        status = ig_compile_train_file(module, &how, r->given->output, &compile);
    }
    ig_module_close(module);
    return status;
}

static int check_train(const settings *given) {
    const char *out = given->output;
    int exit_status = check_words(given);
    if (exit_status) {
        return exit_status;
    }
    if (!given->checkpoints && (given->resume || given->checkpoint_every)) {
        return complain(EXIT_USAGE, "--checkpoint DIR says where checkpoints are");
    }
    if (out && given->data && strstr(out, "%r")) {
        return complain(EXIT_USAGE,
                        "-o %s: rank 0 writes the values of all ranks; leave out %%r",
                        out);
    }
    if (out && !text_ends(out, ".npz") && !text_ends(out, ".ig") &&
        !text_ends(out, ".ingot")) {
        return complain(EXIT_USAGE, "-o %s: the name must end in .npz, .ig or .ingot",
                        out);
    }
    exit_status = check_stores(given);
    return exit_status ? exit_status : output_check(given);
}

static int train_model(const settings *given) {
    int exit_status = check_train(given);
    if (exit_status) {
        return exit_status;
    }
    run r = { .given = given,
              .path = given->arguments.items[0],
              .eval_loss = NAN,
              .auc = NAN,
              .saved = -1 };
    r.context = context_open(given, NULL, &exit_status);
    if (!r.context) {
        return exit_status;
    }
    if (!given->data) {
        exit_status = exit_of(compile_step(&r));
        free(r.plan);
        context_close(r.context);
        return exit_status;
    }
    bool is_good = open_run(&r) && train_all(&r);
    int64_t steps = r.t.step;
    is_good = is_good && write_result(&r);
    is_good = is_good && (!given->eval || was_interrupted() || evaluate(&r));
    if (is_good) {
        tell_end(&r, steps);
    }
    feed_close(&r.data);
    stored_close(&r.stored);
    trainer_close(&r.t);
    free(r.rates);
    free(r.losses);
    free(r.plan);
    json_decref(r.about);
    context_close(r.context);
    return was_interrupted()     ? exit_of(IG_CANCELLED)
           : is_good             ? 0
           : r.t.status != IG_OK ? exit_of(r.t.status)
                                 : EXIT_FAILED;
}

/* Ranks of one model are checked once; of artifacts each has its own. */
static int run_train(const settings *given) {
    bool is_one = !strstr(given->arguments.items[0], "%r");
    int exit_status = is_one ? check_train(given) : 0;
    return exit_status ? exit_status : ranks_work(given, train_model);
}

const verb verb_train = {
    .name = "train",
    .arguments = "MODEL --loss KIND:OUTPUT=LABEL --data DIR|x.npz",
    .help = "trains a model's weights on arrays",
    .details =
        "A step is a program like any other (docs/training.md). Ctrl-C ends training "
        "after the step that runs; what -o names is written all the same. Ranks take the "
        "batches of --data in turn, or each its own (%r).",
    .options = options,
    .min_arguments = 1,
    .max_arguments = 1,
    .run = run_train,
};
