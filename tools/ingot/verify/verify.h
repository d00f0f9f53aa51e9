/* Verifying a case: what flat and structured data sets share.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_TOOLS_INGOT_VERIFY_VERIFY_H
#define IG_TOOLS_INGOT_VERIFY_VERIFY_H

#include "tools/ingot/verify/case.h"
#include "tools/ingot/values/structured.h"

/* A model compiled for one signature. */
typedef struct variant {
    char *key;
    model m;
    ig_session *session; /* of a stateful case */
    struct variant *next;
} variant;

typedef struct verification {
    const settings *given;
    const case_kind *kinds; /* beside models with data sets */
    ig_context *context;
    test_case test;
    model declared; /* as the file says: names and types of inputs */
    variant *variants;
    size_t compiled;
    bool is_opened; /* calls in order, whose extents differ: they are open */
    double arena;   /* the largest ratio of arena to its minimum, of all sets */
    message why;
    char did[128];   /* the checks of a case of another kind; "" for data sets */
    message *errors; /* of the context, not told yet */
} verification;

/* Statements of a form; their text is the signature's key. */
typedef struct signature {
    names inputs;           /* statements */
    names constants, files; /* folded inputs */
    const char *entry;      /* or NULL */
    char *key;
} signature;

/* ---- verify.c ---- */

extern const option_row verify_options[];
/* Verifies the model that the arguments name; the exit status. */
int verify_run(const settings *given, const case_kind *kinds);

/* Puts the words of a failed call into v->why: `what`, or the context's errors. */
bool verify_fail(verification *v, const char *about, const char *what);
bool verify_is_form(const verification *v, const char *form);
/* Is it an artifact, whose signature and code are fixed? */
bool verify_is_program(const verification *v);
tolerance verify_tolerance(const verification *v, const char *output);
bool verify_read(verification *v, const char *path, const char *type,
                 ig_arguments **out);
/* The variant of that signature, made when there is none (takes the key over); NULL:
 * v->why tells. */
variant *verify_variant(verification *v, signature *s);
void verify_close_variants(verification *v);
/* After a run: notes the session's arena, and holds it against --arena. */
bool verify_arena(verification *v, const char *set, const ig_session *session);

/* ---- call.c: MODEL --inputs X --expected Y ---- */

/* Runs the model once; the exit status. */
int verify_call(const settings *given);

/* ---- structured.c: data sets with a values.json ---- */

/* A call as values.json tells it. */
typedef struct structured_call {
    const char *folder, *name; /* of the data set */
    json_t *json;              /* the rest borrows from it */
    structured arguments;      /* a tuple; keyword arguments have names */
    structured result;
} structured_call;

/* False: v->why tells.  To be closed either way. */
bool verify_call_open(verification *v, const char *folder, structured_call *out);
void verify_call_close(structured_call *which);

bool verify_is_structured(const verification *v, const char *model_path);
outcome verify_structured_sets(verification *v);

/* ---- interpreted.c: packages whose Python runs ---- */

outcome verify_interpreted_sets(verification *v);

#endif
