/* Batches of training data, from files of arrays.
 * SPDX-License-Identifier: Apache-2.0
 *
 *     x.npz                arrays by the names of inputs, and the label
 *     x.txt, x.tsv         Criteo's click logs (criteo.h), cut into calls of N rows
 *     DIR                  of these files each, in the order of their names
 *
 * With --batch N an array file is cut into calls of N rows; the last one may be
 * smaller.  Without it each file is one call.
 */
#ifndef IG_TOOLS_INGOT_TRAIN_FEED_H
#define IG_TOOLS_INGOT_TRAIN_FEED_H

#include "tools/ingot/model/trainer.h"
#include "tools/ingot/train/criteo.h"
#include "tools/ingot/verify/case.h"

typedef struct feed {
    ig_context *context;
    const trainer *t;
    names paths;
    size_t next;              /* of the paths */
    int64_t batch, row, rows; /* rows: of the open file; 0 batch: all of them */
    ig_arguments *file;
    const char *file_name;
    const char *modulo; /* rows of the tables, for text */
    bool is_text;       /* the open file is `text` */
    criteo text;
    const ig_argument **arrays; /* by input of the trainer */
    int64_t (*dims)[IG_MAX_RANK];
} feed;

/* Finds the files that `from` names.  False after a message. */
bool feed_open(feed *f, ig_context *context, const trainer *t, const char *from,
               int64_t batch);
void feed_close(feed *f);
/* From the first batch again. */
void feed_rewind(feed *f);
/* The trainer's inputs become those of the next batch; *out_has: there was one.  False
 * after a message: the file does not hold the model's inputs. */
bool feed_next(feed *f, bool *out_has);

#endif
