/* Model cases: a model with stored inputs and outputs, and how exact they must be.
 * SPDX-License-Identifier: Apache-2.0
 *
 *     CASE/model.onnx
 *     CASE/case.json                                tolerance, exact outputs (optional)
 *     CASE/test_data_set_K/input_I.pb|.npy          in the order of the model's inputs
 *     CASE/test_data_set_K/output_I.pb|.npy
 *     CASE/test_data_set_K/after_input_I.pb|.npy    input I after the call
 */
#ifndef IG_TOOLS_INGOT_VERIFY_CASE_H
#define IG_TOOLS_INGOT_VERIFY_CASE_H

#include "tools/ingot/cli/console.h"

struct verification;

typedef struct names {
    char **items;
    size_t count;
} names;

void names_add(names *to, char *name); /* takes it over */
void names_sort(names *which);         /* "set_2" before "set_10" */
void names_free(names *which);
bool names_have(const names *which, const char *name);

typedef struct test_case {
    char *name, *folder, *model; /* model: path, or NULL when there is none */
    double rtol, atol;
    bool has_tolerance; /* its own, from case.json */
    bool is_stateful;   /* sets are calls in order on one session */
    char *resource;     /* of a torch.package, or NULL */
    names exact;        /* outputs that must be equal */
    names sets;         /* folders */
} test_case;

typedef enum outcome { PASSED, FAILED, SKIPPED, INTERRUPTED } outcome;

/* A kind of case that is not a model with data sets; a list of them ends with { 0 }. */
typedef struct case_kind {
    bool (*takes)(const char *path);
    outcome (*check)(struct verification *v, const char *path);
} case_kind;

/* The kind that takes the path, or NULL. */
const case_kind *case_kind_of(const case_kind *kinds, const char *path);

/* False when `folder` cannot be read; `why` gets a phrase. */
bool test_case_open(test_case *out, const char *folder, message *why);
void test_case_close(test_case *which);
/* Folders below `suite` that hold data sets, and what another kind takes, sorted; also
 * those of groups in it.  False when it cannot be read. */
bool suite_list(const char *suite, const case_kind *kinds, names *out);

/* "SET/KIND_INDEX.npy" or ".pb", whichever is there; NULL: neither.  free() it. */
char *data_file(const char *set, const char *kind, size_t index);
size_t data_count(const char *set, const char *kind);

#endif
