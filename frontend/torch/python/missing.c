/* Reports all missing operators at once.
 * SPDX-License-Identifier: Apache-2.0 */
#include "frontend/torch/python/missing.h"

#include "compose/custom.h"

#include <assert.h>
#include <string.h>

/* So many are reported one by one, those beyond by name alone. */
enum { MAX_REPORTED = 12 };

static const char advice[] =
    "this is all that is missing on the way of the call and in branches that it may not "
    "take: express it by other operators, or " IG_CUSTOM_ADVICE;

/* " (3 calls, the first in module 'encoder.0')". */
static const char *scope_text(ig_ts_eval *eval, const ig_python_lack *lack) {
    bool is_inside = lack->module && lack->module[0];
    ig_writer w;
    ig_writer_init(&w, eval->arena);
    if (lack->count > 1) {
        ig_put(&w, " (%zu calls, %s", lack->count,
               is_inside ? "the first in module '" : "this is the first");
    } else if (is_inside) {
        ig_put(&w, " (in module '");
    }
    ig_put(&w, "%s%s", is_inside ? lack->module : "",
           is_inside         ? "')"
           : lack->count > 1 ? ")"
                             : "");
    return w.data;
}

static void report_one(ig_ts_eval *eval, const ig_python_lack *lack, const char *hint) {
    ig_location where = lack->first;
    where.op = NULL;
    ig_error_hint(&eval->context->diag, IG_UNSUPPORTED, &where, hint,
                  lack->is_overload ? "no overload of %s is supported yet%s"
                                    : "operator %s is not supported yet%s",
                  lack->label, scope_text(eval, lack));
}

/* Many, by name. */
static void report_rest(ig_ts_eval *eval, const ig_python_lack *const *lacks,
                        size_t count) {
    ig_location where = { .file = eval->file };
    ig_writer w;
    ig_writer_init(&w, eval->arena);
    for (size_t i = 0; i < count; i++) {
        ig_put(&w, "%s%s", i ? ", " : "", lacks[i]->label);
    }
    ig_error_hint(&eval->context->diag, IG_UNSUPPORTED, &where, advice,
                  "%zu further operators are not supported yet: %s", count, w.data);
}

static bool is_same_text(const char *a, const char *b) {
    return a == b || (a && b && strcmp(a, b) == 0);
}

static bool is_at(const ig_python_lack *lack, const ig_location *where) {
    return lack->first.line == where->line && lack->first.file &&
           is_same_text(lack->first.file, where->file) &&
           is_same_text(lack->first.node, where->node);
}

/* The one at a call that no overload takes, or NULL. */
static const ig_python_lack *find_overload(const ig_python_lacks *lacks,
                                           const char *name, const ig_location *where) {
    for (size_t i = 0; i < lacks->by_label.count; i++) {
        const ig_python_lack *lack = lacks->by_label.entries[i].value;
        if (lack->is_overload && is_at(lack, where) &&
            strncmp(lack->label, name, strlen(name)) == 0) {
            return lack;
        }
    }
    return NULL;
}

/* `own` first (or NULL), then all of the list but `done`, which is reported by it. */
static void report_all(ig_ts_eval *eval, const ig_python_lacks *lacks,
                       const ig_python_lack *own, const ig_python_lack *done) {
    IG_VEC(const ig_python_lack *) list = { 0 };
    if (own) {
        IG_PUSH(eval->arena, &list, own);
    }
    for (size_t i = 0; i < lacks->by_label.count; i++) {
        const ig_python_lack *lack = lacks->by_label.entries[i].value;
        if (lack != done) {
            IG_PUSH(eval->arena, &list, lack);
        }
    }
    size_t max = list.count > MAX_REPORTED ? MAX_REPORTED - 1 : list.count;
    for (size_t i = 0; i < max; i++) {
        report_one(eval, list.items[i], i + 1 == list.count ? advice : NULL);
    }
    if (max < list.count) {
        report_rest(eval, list.items + max, list.count - max);
    }
}

ig_status ig_python_report_missing(ig_ts_eval *eval, const char *name,
                                   const ig_location *where) {
    assert(name && where && "an operator and its call");
    ig_python_lacks lacks;
    ig_python_lack own = { .label = name, .first = *where };
    eval->has_failed = true;
    IG_TRY(ig_python_survey_lacks(eval, &lacks));
    const ig_python_lack *found = ig_map_get(&lacks.by_label, ig_str_of(name));
    own.count = found ? found->count : 1;
    own.module = found && is_at(found, where) ? found->module : NULL;
    report_all(eval, &lacks, &own, found);
    return IG_UNSUPPORTED;
}

ig_status ig_python_report_unfit(ig_ts_eval *eval, const char *name,
                                 const ig_location *where) {
    assert(name && where && "an operator and its call");
    ig_python_lacks lacks;
    eval->has_failed = true;
    IG_TRY(ig_python_survey_lacks(eval, &lacks));
    report_all(eval, &lacks, NULL, find_overload(&lacks, name, where));
    return IG_UNSUPPORTED;
}
