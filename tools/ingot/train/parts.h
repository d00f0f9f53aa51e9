/* The values of a training, whole: ranks have parts of them.
 * SPDX-License-Identifier: Apache-2.0
 *
 *     rank 0   t0.0 [6, 4]  w   ─▶  t0 [11, 4]  w    on rank 0: into a file
 *     rank 1   t0.0 [5, 4]  w   ─▶
 *
 * The description of the training (ig_train_describe) says which rows and columns are
 * whose.  Of a state with one number a row each part of the columns has its own: they
 * come one after the other, as TorchRec joins them.
 */
#ifndef IG_TOOLS_INGOT_TRAIN_PARTS_H
#define IG_TOOLS_INGOT_TRAIN_PARTS_H

#include "tools/ingot/cli/json_file.h"
#include "tools/ingot/model/trainer.h"

/* A weight or a state of all ranks. */
typedef struct whole_value {
    char *name;
    ig_argument value;
    void *memory; /* of a table that ranks have parts of, or NULL */
    int64_t dims[2];
} whole_value;

typedef struct whole_values {
    whole_value *items;
    size_t count;
} whole_values;

/* All values, on rank 0; other ranks, which are to call it too, get none.  `about` is
 * the description.  False after a message. */
bool wholes_gather(const trainer *t, const json_t *about, whole_values *out);
void wholes_free(whole_values *all);

/* The whole value that input `index` of the step is of: allocated. */
char *whole_name(const trainer *t, const json_t *about, size_t index);
/* Sets input `index` to its part of the whole.  False: it does not fit, or t->why
 * tells. */
bool whole_give(trainer *t, const json_t *about, size_t index,
                const ig_argument *whole);
/* The optimizer of a weight, as it was given; "": there is none. */
const char *optimizer_of(const json_t *about, const char *weight);

#endif
