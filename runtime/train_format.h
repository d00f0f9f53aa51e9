/* The entries of an artifact that trains: it is that of a step, with these in it.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_RUNTIME_TRAIN_FORMAT_H
#define IG_RUNTIME_TRAIN_FORMAT_H

/* Each an artifact, of the ig_train_part of its name. */
#define IG_ENTRY_EVALUATE "evaluate"
#define IG_ENTRY_PREDICT "predict"
#define IG_ENTRY_INITIAL "initial"
/* The description of the training, JSON (driver/train/describe.c). */
#define IG_ENTRY_ABOUT "train.json"

#endif
