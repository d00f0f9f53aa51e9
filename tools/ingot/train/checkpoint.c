/* Checkpoints of a training: see checkpoint.h.  SPDX-License-Identifier: Apache-2.0 */
#include "tools/ingot/train/checkpoint.h"

#include "tools/ingot/verify/case.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { KEPT = 2 }; /* checkpoints: should the last one be lost, one is left */

static const char name_begin[] = "step-", momentum[] = ".momentum";

/* ---- names ---- */

/* Of a state's input, "NAME.momentum1": where the weight's name ends, and its number;
 * NULL: it is none. */
static const char *state_mark(const char *name, int *out_number) {
    const char *dot = strrchr(name, '.');
    bool is_state = dot && strncmp(dot, momentum, strlen(momentum)) == 0;
    *out_number = is_state ? atoi(dot + strlen(momentum)) : 0;
    return is_state ? dot : NULL;
}

/* "T" of the weight "a.embedding_bags.T.weight", a table of TorchRec's modules; NULL:
 * it is none. */
static char *table_of(const char *weight) {
    static const char *const lists[] = { "embedding_bags.", "embeddings." };
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        const char *at = strstr(weight, lists[i]);
        const char *table = at ? at + strlen(lists[i]) : "";
        size_t size = strcspn(table, ".");
        if (size > 0 && strcmp(table + size, ".weight") == 0) {
            return text_of("%.*s", (int)size, table);
        }
    }
    return NULL;
}

/* torch.optim's name for state `number` of a rule; NULL: it has no such rule. */
static const char *torch_state(const char *rule, int index) {
    static const char *const rules[][3] = { { "sgd", "momentum_buffer", NULL },
                                            { "adagrad", "sum", NULL },
                                            { "adam", "exp_avg", "exp_avg_sq" },
                                            { "adamw", "exp_avg", "exp_avg_sq" } };
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
        if (strcmp(rules[i][0], rule) == 0 && index >= 1 && index <= 2) {
            return rules[i][index];
        }
    }
    return NULL;
}

/* The rule of a weight's optimizer, in `out`. */
static void find_rule(const json_t *about, const char *weight, char *out, size_t size) {
    const char *equal = strchr(optimizer_of(about, weight), '=');
    const char *rule = equal ? equal + 1 : "";
    snprintf(out, size, "%.*s", (int)strcspn(rule, "("), rule);
}

/* The path of the weight or state that the input `name` holds. */
static char *path_of(const json_t *about, const char *name) {
    char rule[64];
    int index;
    const char *mark = state_mark(name, &index);
    if (!mark) {
        return text_of("model/%s", name);
    }
    char *weight = text_of("%.*s", (int)(mark - name), name);
    char *table = table_of(weight);
    find_rule(about, weight, rule, sizeof rule);
    const char *torch = torch_state(rule, index);
    char *path = table
                     ? text_of("optim/state/%s/%s%s%d", weight, table, momentum, index)
                 : torch ? text_of("optim/state/%s/%s", weight, torch)
                         : text_of("optim/state/%s/momentum%d", weight, index);
    free(weight);
    free(table);
    return path;
}

/* ---- the folder ---- */

static bool is_whole(const char *checkpoint) {
    char *metadata = text_of("%s/.metadata", checkpoint);
    bool is = access(metadata, F_OK) == 0;
    free(metadata);
    return is;
}

/* Whole checkpoints by their paths, the oldest first. */
static void list_checkpoints(const char *folder, names *out) {
    DIR *all = opendir(folder);
    *out = (names){ 0 };
    for (struct dirent *entry; all && (entry = readdir(all)) != NULL;) {
        const char *number = entry->d_name + strlen(name_begin);
        char *path = text_of("%s/%s", folder, entry->d_name);
        bool is_one = strncmp(entry->d_name, name_begin, strlen(name_begin)) == 0 &&
                      *number && strspn(number, "0123456789") == strlen(number) &&
                      is_whole(path);
        if (is_one) {
            names_add(out, path);
        } else {
            free(path);
        }
    }
    if (all) {
        closedir(all);
    }
    names_sort(out);
}

char *checkpoint_last(const char *folder) {
    names all;
    if (is_whole(folder)) {
        return text_of("%s", folder);
    }
    list_checkpoints(folder, &all);
    char *last = all.count ? text_of("%s", all.items[all.count - 1]) : NULL;
    names_free(&all);
    return last;
}

/* Its metadata first, without which it is none. */
static void remove_checkpoint(const char *path) {
    char *metadata = text_of("%s/.metadata", path);
    (void)unlink(metadata);
    free(metadata);
    DIR *all = opendir(path);
    for (struct dirent *entry; all && (entry = readdir(all)) != NULL;) {
        if (entry->d_name[0] != '.') {
            (void)unlinkat(dirfd(all), entry->d_name, 0);
        }
    }
    if (all) {
        closedir(all);
    }
    (void)rmdir(path);
}

static void remove_old(const char *folder) {
    names all;
    list_checkpoints(folder, &all);
    for (size_t i = 0; i + KEPT < all.count; i++) {
        remove_checkpoint(all.items[i]);
    }
    names_free(&all);
}

/* ---- writing ---- */

typedef struct tensors {
    ig_argument *values;
    char **paths;
    size_t count;
    float step;          /* as torch.optim has it */
    int64_t counters[2]; /* steps, ranks */
} tensors;

static void add_tensor(tensors *to, const ig_argument *value, char *path) {
    to->values[to->count] = *value;
    to->paths[to->count++] = path;
}

/* One number for each row is a list for TorchRec, and [rows, 1] in a step. */
static void flatten_rows(tensors *to) {
    ig_argument *last = &to->values[to->count - 1];
    const char *path = to->paths[to->count - 1];
    bool is_table = strstr(path, momentum) != NULL;
    if (is_table && last->rank == 2 && last->dims[1] == 1) {
        last->rank = 1;
    }
}

/* torch.optim counts the steps of each weight, as f32. */
static void add_step(tensors *to, int64_t step) {
    const char *path = to->paths[to->count - 1], *slash = strrchr(path, '/');
    ig_argument value = { .dtype = "f32", .data = &to->step, .size = sizeof to->step };
    to->step = (float)step;
    if (strcmp(slash, "/exp_avg") == 0 || strcmp(slash, "/sum") == 0) {
        add_tensor(to, &value, text_of("%.*s/step", (int)(slash - path), path));
    }
}

static void list_tensors(const whole_values *all, const json_t *about, int64_t step,
                         tensors *to) {
    size_t room = 2 * all->count + sizeof to->counters / sizeof *to->counters;
    to->values = need(calloc(room, sizeof *to->values));
    to->paths = need(calloc(room, sizeof *to->paths));
    for (size_t i = 0; i < all->count; i++) {
        add_tensor(to, &all->items[i].value, path_of(about, all->items[i].name));
        flatten_rows(to);
        add_step(to, step);
    }
    to->counters[0] = step;
    to->counters[1] = json_integer_value(json_object_get(about, "world_size"));
    for (size_t i = 0; i < 2; i++) {
        ig_argument counter = { .dtype = "i64",
                                .data = &to->counters[i],
                                .size = sizeof to->counters[i] };
        add_tensor(to, &counter, text_of("%s", i ? "ranks" : "step"));
    }
}

static bool write_checkpoint(ig_context *context, const char *path,
                             const whole_values *wholes, const json_t *about,
                             int64_t step) {
    tensors all = { 0 };
    list_tensors(wholes, about, step, &all);
    bool is_good = is_whole(path) || ig_checkpoint_write(context, path, all.values,
                                                         (const char *const *)all.paths,
                                                         all.count) == IG_OK;
    for (size_t i = 0; i < all.count; i++) {
        free(all.paths[i]);
    }
    free(all.values);
    free(all.paths);
    return is_good;
}

bool checkpoint_save(const trainer *t, ig_context *context, const char *folder,
                     const json_t *about) {
    whole_values all;
    char *path = text_of("%s/%s%012lld", folder, name_begin, (long long)t->step);
    bool is_good = wholes_gather(t, about, &all);
    if (is_good && t->given->rank == 0) {
        is_good = write_checkpoint(context, path, &all, about, t->step);
        if (is_good) {
            remove_old(folder);
        }
    }
    wholes_free(&all);
    free(path);
    return is_good;
}

/* ---- reading ---- */

static bool ends_in(const char *name, const char *end) {
    size_t a = strlen(name), b = strlen(end);
    return a > b && name[a - b - 1] == '.' && strcmp(name + a - b, end) == 0;
}

/* The tensor of that name, else the only one of which one name ends in the other. */
static const ig_argument *find_tensor(const ig_arguments *all, const char *name) {
    const ig_argument *found = NULL;
    size_t count = 0;
    for (size_t i = 0; i < ig_arguments_count(all); i++) {
        const char *own = ig_arguments_name(all, i);
        if (strcmp(own, name) == 0) {
            return ig_arguments_at(all, i);
        }
        if (ends_in(own, name) || ends_in(name, own)) {
            found = ig_arguments_at(all, i);
            count++;
        }
    }
    return count == 1 ? found : NULL;
}

/* A state by all the names that torch and TorchRec have for it. */
static const ig_argument *find_state(const ig_arguments *all, const char *weight,
                                     int index) {
    static const char *const first[] = { "momentum1", "momentum_buffer", "sum",
                                         "exp_avg" };
    static const char *const second[] = { "momentum2", "exp_avg_sq" };
    static const char *const third[] = { "momentum3" };
    const char *const *kinds = index == 1 ? first : index == 2 ? second : third;
    size_t count = index == 1   ? sizeof first / sizeof *first
                   : index == 2 ? sizeof second / sizeof *second
                                : 1;
    char *table = table_of(weight);
    const ig_argument *found = NULL;
    for (size_t i = 0; i < 2 * count && !found; i++) {
        bool is_of_table = i % 2 == 0;
        char *name = text_of("%s%s%s.%s", weight, is_of_table && table ? "." : "",
                             is_of_table && table ? table : "", kinds[i / 2]);
        found = find_tensor(all, name);
        free(name);
    }
    free(table);
    return found;
}

static const ig_argument *find_value(const ig_arguments *all, const char *name) {
    int index;
    const char *mark = state_mark(name, &index);
    if (!mark) {
        return find_tensor(all, name);
    }
    char *weight = text_of("%.*s", (int)(mark - name), name);
    const ig_argument *found = find_state(all, weight, index);
    free(weight);
    return found;
}

static bool load_value(trainer *t, const ig_arguments *all, size_t index,
                       const char *checkpoint, const json_t *about) {
    char *name = whole_name(t, about, index);
    const ig_argument *value = find_value(all, name);
    t->why = (message){ "" };
    bool is_good = value && whole_give(t, about, index, value);
    if (!value) {
        complain(0, "%s: there is no '%s' in the checkpoint", checkpoint, name);
    } else if (!is_good) {
        complain(0, "%s: '%s' is of another size or type", checkpoint, name);
    }
    free(name);
    return is_good;
}

/* torch.optim counts steps for each weight, all alike. */
static int64_t load_step(const ig_arguments *all) {
    int64_t step = 0;
    for (size_t i = 0; i < ig_arguments_count(all); i++) {
        const char *name = ig_arguments_name(all, i);
        const ig_argument *value = ig_arguments_at(all, i);
        bool is_step = strcmp(name, "step") == 0 || ends_in(name, "step");
        if (is_step && element_count(value) == 1) {
            step = (int64_t)ig_argument_number(value, 0);
        }
        if (strcmp(name, "step") == 0) {
            break;
        }
    }
    return step;
}

bool checkpoint_load(trainer *t, ig_context *context, const char *checkpoint,
                     const json_t *about, int64_t *out_ranks) {
    ig_arguments *all = NULL;
    bool is_good = ig_checkpoint_open(context, checkpoint, &all) == IG_OK;
    for (size_t i = 0; i < t->with.count && is_good; i++) {
        is_good = !t->memory[i] || load_value(t, all, i, checkpoint, about);
    }
    *out_ranks = 1;
    if (is_good) {
        const ig_argument *ranks = find_tensor(all, "ranks");
        t->step = load_step(all);
        *out_ranks = ranks ? (int64_t)ig_argument_number(ranks, 0) : 1;
    }
    ig_arguments_close(all);
    return is_good;
}
