/* The report on classes of plain Python: which were compiled, which stay Python.
 * SPDX-License-Identifier: Apache-2.0 */
#include "frontend/torch/python/inside.h"

#include <string.h>

/* Objects of each class below the root. */
typedef struct counting {
    ig_ts_eval *eval;
    ig_map seen;   /* IG_MAP_PTR(object) */
    ig_map counts; /* IG_MAP_PTR(class) -> their number */
} counting;

/* As deep as modules are in one another: the pickle bounds that. */
static void count_objects(counting *c, const ig_ts_object *object) {
    const ig_class *class = object->class;
    if (ig_map_get_id(&c->seen, IG_MAP_PTR(object))) {
        return;
    }
    ig_map_set_id(&c->seen, IG_MAP_PTR(object), c);
    if (class && class->plain && !class->plain->module->is_stock) {
        uint64_t key = IG_MAP_PTR(class->plain);
        uintptr_t count = (uintptr_t)ig_map_get_id(&c->counts, key);
        ig_map_set_id(&c->counts, key, (void *)(count + 1));
    }
    for (size_t i = 0; i < object->count; i++) {
        if (object->values[i].kind == IG_TS_OBJECT) {
            count_objects(c, object->values[i].as.object);
        }
    }
}

/* " mynet.layers.Scale (3)": those that a call reached, or the others. */
static void put_classes(const counting *c, bool are_called, ig_writer *out) {
    const ig_python_thing *failed = c->eval->python->failed;
    for (size_t i = 0; i < c->counts.count; i++) {
        const ig_python_class *class =
            (const ig_python_class *)(uintptr_t)c->counts.entries[i].id;
        uintptr_t count = (uintptr_t)c->counts.entries[i].value;
        bool is_called = ig_map_get_id(&c->eval->python->called, IG_MAP_PTR(class));
        if (is_called != are_called || (failed && failed->owner == class)) {
            continue;
        }
        ig_put(out, "%s%s", out->size ? ", " : "", class->name);
        if (count > 1) {
            ig_put(out, " (%zu)", (size_t)count);
        }
    }
}

/* Methods that would be refused next. */
static void note_others(const counting *c) {
    const ig_python_class **classes =
        IG_NEW_ARRAY(c->eval->arena, const ig_python_class *, c->counts.count + 1);
    for (size_t i = 0; i < c->counts.count; i++) {
        classes[i] = (const ig_python_class *)(uintptr_t)c->counts.entries[i].id;
    }
    ig_python_survey(c->eval, classes, c->counts.count);
}

static void note_classes(counting *c, const char *resource, const char *words,
                         bool are_called) {
    ig_writer names;
    ig_location where = { .file = c->eval->file, .graph = resource };
    ig_writer_init(&names, c->eval->arena);
    put_classes(c, are_called, &names);
    if (names.size) {
        ig_note(&c->eval->context->diag, &where, words, names.data);
    }
}

void ig_python_report(ig_ts_eval *eval, const char *resource, ig_status status) {
    if (!eval->python->sources || !eval->root) {
        return;
    }
    const ig_python_thing *failed = eval->python->failed;
    counting c = { .eval = eval };
    ig_map_init(&c.seen, eval->arena);
    ig_map_init(&c.counts, eval->arena);
    count_objects(&c, eval->root);
    if (status == IG_OK) {
        note_classes(&c, resource, "plain Python that is compiled: %s", true);
        note_classes(&c, resource, "no call reaches %s", false);
        return;
    }
    ig_location where = { .file = eval->file, .graph = resource };
    if (failed) {
        ig_note(&eval->context->diag, &where,
                "%s stays Python, and with it the model: change the line above, or run "
                "it in an interpreter (docs/interpreters.md)",
                failed->name);
        note_others(&c);
        note_classes(&c, resource, "reached before, and plain enough: %s", true);
    }
}
