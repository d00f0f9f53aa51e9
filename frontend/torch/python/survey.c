/* Looks through the sources without running them.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Functions wait in a queue; one that is looked through adds those that it may call.
 * Two questions are asked so, after evaluation has ended at the first thing that it
 * does not follow: which operators have no row (survey_dialect.c), and which methods of
 * plain Python will be refused anywhere (survey_plain.c).
 */
#include "frontend/torch/python/survey.h"

enum { NODES_MAX = 1 << 20 };

void ig_python_queue(ig_python_look *look, const void *key, const void *more,
                     ig_python_visit_of visit) {
    const char *name = ig_arena_printf(look->eval->arena, "%p %p", key, more);
    if (!ig_map_get(&look->seen, ig_str_of(name))) {
        ig_map_set(&look->seen, ig_str_of(name), look);
        IG_PUSH(look->eval->arena, &look->queue, visit);
    }
}

static ig_status look_through(ig_python_look *look) {
    for (size_t i = 0; i < look->queue.count && look->nodes < NODES_MAX; i++) {
        look->now = look->queue.items[i];
        (look->now.function ? ig_python_look_at_dialect
                            : ig_python_look_at_plain)(look);
        if (look->status != IG_OK) {
            return IG_OK; /* it was reported, and the findings so far are */
        }
        IG_TRY(ig_context_poll(look->eval->context));
    }
    return IG_OK;
}

ig_status ig_python_survey_lacks(ig_ts_eval *eval, ig_python_lacks *out) {
    ig_python_look look = { .eval = eval, .lacks = out };
    ig_python_visit_of first = { .function = eval->entry, .self = eval->root };
    ig_map_init(&out->by_label, eval->arena);
    ig_map_init(&look.seen, eval->arena);
    if (!eval->entry->plain) { /* whose names tell nothing before it is run */
        ig_python_queue(&look, eval->entry, eval->root, first);
    }
    return look_through(&look);
}

void ig_python_survey(ig_ts_eval *eval, const ig_python_class *const *classes,
                      size_t count) {
    ig_python_look look = { .eval = eval };
    ig_map_init(&look.seen, eval->arena);
    for (size_t i = 0; i < count; i++) {
        ig_python_queue_method(&look, classes[i], "forward");
        ig_python_queue_method(&look, classes[i], "__call__");
    }
    (void)look_through(&look);
}
