/* Declarations shared by the files of the survey.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_FRONTEND_TORCH_PYTHON_SURVEY_H
#define IG_FRONTEND_TORCH_PYTHON_SURVEY_H

#include "frontend/torch/python/dialect.h"
#include "frontend/torch/python/missing.h"
#include "frontend/torch/python/walk.h"

/* A function that is to be looked through. */
typedef struct ig_python_visit_of {
    const ig_function *function;  /* of the dialect, or without source; else NULL */
    ig_ts_object *self;           /* whose method it is, where that is known */
    const ig_ast *node;           /* of plain Python: its def, */
    ig_python_module *module;     /* its position, */
    const ig_python_class *class; /* and whose it is; NULL: a function of the module */
} ig_python_visit_of;

struct ig_python_look {
    ig_ts_eval *eval;
    IG_VEC(ig_python_visit_of) queue;
    ig_map seen; /* of the queued items */
    ig_python_visit_of now;
    /* of the dialect */
    ig_python_lacks *lacks;
    size_t nodes;
    ig_status status; /* the first failure: of a source that cannot be read */
    ig_map names;     /* IG_MAP_PTR(name) -> known facts about its value */
    uint32_t line;
    const ig_location *where; /* in a function without source; else NULL */
    /* of plain Python */
    const ig_ast *barrier; /* of the method, or NULL */
    const char *why;
};

/* Once for each pair of keys. */
void ig_python_queue(ig_python_look *look, const void *key, const void *more,
                     ig_python_visit_of visit);
/* The method of that name, of the class or a base, where it is not the present one. */
void ig_python_queue_method(ig_python_look *look, const ig_python_class *class,
                            const char *name);
/* One function of the queue: survey_dialect.c, survey_plain.c. */
void ig_python_look_at_dialect(ig_python_look *look);
void ig_python_look_at_plain(ig_python_look *look);

#endif
