/* Reading what users write about training: losses and optimizers.
 * SPDX-License-Identifier: Apache-2.0 */
#include "driver/train/train.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *copy_text(ig_arena *arena, const char *begin, size_t size) {
    return ig_arena_printf(arena, "%.*s", (int)size, begin);
}

/* ---- losses ---- */

static const char *const loss_names[IG_LOSS_KINDS] = {
    [IG_LOSS_KIND_bce] = "bce",   [IG_LOSS_KIND_bce_logits] = "bce_logits",
    [IG_LOSS_KIND_mse] = "mse",   [IG_LOSS_KIND_cross_entropy] = "cross_entropy",
    [IG_LOSS_KIND_total] = "sum",
};

static bool find_loss(const char *text, size_t size, ig_loss_kind *out) {
    for (int i = 0; i < IG_LOSS_KINDS; i++) {
        if (strlen(loss_names[i]) == size && strncmp(loss_names[i], text, size) == 0) {
            *out = (ig_loss_kind)i;
            return true;
        }
    }
    return false;
}

ig_status ig_train_read_loss(ig_diag *diag, ig_arena *arena, const char *text,
                             ig_train_loss *out) {
    static const char hint[] =
        "KIND:OUTPUT=LABEL, where KIND is bce, bce_logits, mse or cross_entropy; or "
        "sum:OUTPUT";
    if (!text) {
        return ig_error_hint(diag, IG_INVALID, NULL, hint, "the loss is not named");
    }
    size_t size = strcspn(text, ":");
    if (!find_loss(text, size, &out->kind)) {
        return ig_error_hint(diag, IG_INVALID, NULL, hint, "no loss is called '%.*s'",
                             (int)size, text);
    }
    const char *output = text + size + (text[size] == ':');
    const char *equal = strrchr(output, '=');
    bool is_sum = out->kind == IG_LOSS_KIND_total;
    if (is_sum ? equal != NULL : !equal || !equal[1]) {
        return ig_error_hint(diag, IG_INVALID, NULL, hint, "the loss '%s' %s", text,
                             is_sum ? "has no label" : "does not name a label");
    }
    size_t end = equal ? (size_t)(equal - output) : strlen(output);
    out->output = end ? copy_text(arena, output, end) : NULL;
    out->label = equal ? copy_text(arena, equal + 1, strlen(equal + 1)) : NULL;
    return IG_OK;
}

/* ---- optimizers ---- */

typedef struct words {
    ig_diag *diag;
    const char *text; /* the whole, for messages */
    ig_train_group *group;
} words;

static const char keys_hint[] =
    "lr, eps, beta1, beta2, momentum, eta, max_gradient, weight_decay; decay=l2 or "
    "decay=decoupled; nesterov and dense, 0 or 1";

static double *number_of_key(ig_train_group *g, const char *key, size_t size) {
    const struct {
        const char *name;
        double *number;
    } keys[] = { { "lr", &g->rate },
                 { "eps", &g->how.epsilon },
                 { "beta1", &g->how.beta1 },
                 { "beta2", &g->how.beta2 },
                 { "momentum", &g->how.momentum },
                 { "eta", &g->how.eta },
                 { "max_gradient", &g->how.max_gradient },
                 { "weight_decay", &g->decay } };
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        if (strlen(keys[i].name) == size && strncmp(keys[i].name, key, size) == 0) {
            return keys[i].number;
        }
    }
    return NULL;
}

static bool is_word(const char *text, size_t size, const char *word) {
    return strlen(word) == size && strncmp(text, word, size) == 0;
}

static bool read_number(const char *text, size_t size, double *out) {
    char *end;
    *out = strtod(text, &end);
    return size > 0 && end == text + size && isfinite(*out);
}

static bool read_flag(const char *text, size_t size, bool *out) {
    bool is_good = is_word(text, size, "0") || is_word(text, size, "1");
    *out = is_good && text[0] == '1';
    return is_good;
}

static bool read_decay(const char *text, size_t size, ig_decay *out) {
    static const char *const names[] = { [IG_DECAY_none] = "none",
                                         [IG_DECAY_l2] = "l2",
                                         [IG_DECAY_decoupled] = "decoupled" };
    for (int i = 0; i < 3; i++) {
        if (is_word(text, size, names[i])) {
            *out = (ig_decay)i;
            return true;
        }
    }
    return false;
}

/* Reads one KEY=VALUE of `size` bytes. */
static ig_status read_setting(const words *w, const char *text, size_t size) {
    const char *equal = memchr(text, '=', size);
    size_t key = equal ? (size_t)(equal - text) : size;
    const char *value = equal ? equal + 1 : text + size;
    size_t rest = size - key - (equal != NULL);
    double *number = number_of_key(w->group, text, key);
    bool is_good;
    if (is_word(text, key, "decay")) {
        is_good = read_decay(value, rest, &w->group->how.decay);
    } else if (is_word(text, key, "nesterov")) {
        is_good = read_flag(value, rest, &w->group->how.is_nesterov);
    } else if (is_word(text, key, "dense")) {
        is_good = read_flag(value, rest, &w->group->is_dense);
    } else {
        is_good = number && read_number(value, rest, number);
    }
    return is_good ? IG_OK
                   : ig_error_hint(w->diag, IG_INVALID, NULL, keys_hint,
                                   "'%.*s' of the optimizer '%s' is not KEY=NUMBER",
                                   (int)size, text, w->text);
}

static ig_status read_settings(const words *w, const char *text) {
    for (const char *at = text; *at && *at != ')';) {
        size_t size = strcspn(at, ",)");
        IG_TRY(read_setting(w, at, size));
        at += size + (at[size] == ',');
    }
    const char *end = text + strcspn(text, ")");
    if (*end != ')' || end[1]) {
        return ig_error_hint(w->diag, IG_INVALID, NULL, "PATTERN=RULE(KEY=NUMBER,…)",
                             "the optimizer '%s' does not end with its ')'", w->text);
    }
    return IG_OK;
}

/* adamw is Adam whose decay is apart from the gradient. */
static bool read_rule(const char *name, ig_update_rule *out_rule, ig_decay *out_decay) {
    bool is_adamw = strcmp(name, "adamw") == 0;
    *out_decay = is_adamw ? IG_DECAY_decoupled : IG_DECAY_none;
    return ig_update_rule_of(is_adamw ? "adam" : name, out_rule);
}

/* Without words about its kind a decay is that of the rule's origin: apart from the
 * gradient where tables' rules and LAMB have it so, else in it. */
static void settle_decay(ig_train_group *g) {
    bool is_given = g->how.decay != IG_DECAY_none;
    if (is_given || g->decay == 0) {
        return;
    }
    bool is_apart = g->how.rule == IG_UPDATE_lamb ||
                    g->how.rule == IG_UPDATE_partial_rowwise_lamb ||
                    g->how.rule == IG_UPDATE_partial_rowwise_adam;
    g->how.decay = is_apart ? IG_DECAY_decoupled : IG_DECAY_l2;
}

ig_status ig_train_read_group(ig_diag *diag, ig_arena *arena, const char *text,
                              ig_train_group *out) {
    static const char hint[] =
        "PATTERN=RULE(KEY=NUMBER,…), such as 'table*=rowwise_adagrad(lr=0.02)'; rules are "
        "sgd, adagrad, rowwise_adagrad, adam, adamw, partial_rowwise_adam, lamb, "
        "partial_rowwise_lamb, lars";
    words w = { .diag = diag, .text = text ? text : "", .group = out };
    const char *equal = strchr(w.text, '=');
    const char *rule = equal ? equal + 1 : "";
    size_t size = strcspn(rule, "(");
    ig_update_rule known;
    ig_decay decay;
    if (!equal || equal == w.text ||
        !read_rule(copy_text(arena, rule, size), &known, &decay)) {
        return ig_error_hint(diag, IG_INVALID, NULL, hint, "'%s' is not an optimizer",
                             w.text);
    }
    *out =
        (ig_train_group){ .pattern = copy_text(arena, w.text, (size_t)(equal - w.text)),
                          .how = ig_optimizer_of(known),
                          .rate = 0.01 };
    out->how.decay = decay;
    if (rule[size] == '(') {
        IG_TRY(read_settings(&w, rule + size + 1));
    }
    settle_decay(out);
    return IG_OK;
}
