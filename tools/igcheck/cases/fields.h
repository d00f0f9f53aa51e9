/* Readers shared by the kinds of cases: case.json, and arrays by name.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_TOOLS_IGCHECK_CASES_FIELDS_H
#define IG_TOOLS_IGCHECK_CASES_FIELDS_H

#include "tools/ingot/verify/verify.h"

/* CASE/case.json; NULL: there is none. */
json_t *case_load(const char *folder);
const char *text_in(const json_t *object, const char *key); /* "": no such text */
int64_t integer_in(const json_t *object, const char *key);  /* 0: no such number */
double number_in(const json_t *object, const char *key, double absent);

/* The rule that is Ingot's by torch.optim's name, with its module or without; other
 * names as they are. */
const char *optimizer_rule(const char *name);

/* Arrays by name: of one .npz, or of files of their own. */
typedef struct case_arrays {
    ig_arguments **files;
    char **names; /* of the one in each file; NULL: as the file says */
    size_t count;
} case_arrays;

/* Opens a file of arrays, or of the one called `name`; takes both texts over.  False:
 * v->why tells. */
bool arrays_add(verification *v, case_arrays *to, char *path, char *name);
/* NULL: there is none. */
const ig_argument *arrays_find(const case_arrays *all, const char *name);
void arrays_close(case_arrays *which);
/* Elements alone, as states of rows have an axis of 1 more.  False: v->why tells. */
bool check_elements(verification *v, const char *what, const ig_argument *got,
                    const ig_argument *want, const tolerance *within);
/* Of a case: 1e-5 where it says nothing. */
tolerance case_tolerance(const json_t *json);

#endif
