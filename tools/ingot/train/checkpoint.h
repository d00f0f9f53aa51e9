/* Checkpoints of a training: folders of torch.distributed.checkpoint.
 * SPDX-License-Identifier: Apache-2.0
 *
 *     DIR/step-000000000500      a checkpoint, whole as soon as it has that name
 *
 *     model.NAME                             a weight
 *     optim.state.NAME.TABLE.momentum1       a state of the table NAME, as TorchRec's
 *     optim.state.NAME.exp_avg               of another weight, as torch.optim's
 *     step                                   how many steps there were
 *     ranks                                  by how many ranks
 */
#ifndef IG_TOOLS_INGOT_TRAIN_CHECKPOINT_H
#define IG_TOOLS_INGOT_TRAIN_CHECKPOINT_H

#include "tools/ingot/train/parts.h"

/* Writes the checkpoint of the trainer's step into `folder`, and removes all there but
 * it and the one before.  `about` describes the training: its optimizers say what torch
 * calls their states.  Every rank calls it, and rank 0 writes.  False after a
 * message. */
bool checkpoint_save(const trainer *t, ig_context *context, const char *folder,
                     const json_t *about);
/* The last whole checkpoint in the folder, or the folder itself where it is one; NULL:
 * there is none.  free() it. */
char *checkpoint_last(const char *folder);
/* Weights, states and the number of steps become those of the checkpoint, by names that
 * are equal or of which one ends in the other after a dot; a rank takes its parts of
 * them.  *out_ranks: how many ranks wrote it.  False after a message. */
bool checkpoint_load(trainer *t, ig_context *context, const char *checkpoint,
                     const json_t *about, int64_t *out_ranks);

#endif
