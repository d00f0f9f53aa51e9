/* The tensors of an exported program, by their names in the module.
 * SPDX-License-Identifier: Apache-2.0
 *
 *     torch        parameters and buffers               constants
 *     2.1          serialized_state_dict.json           serialized_constants.json
 *     2.2 to 2.7   serialized_state_dict.pt             serialized_constants.pt
 *     2.8          data/weights/NAME.pt                 data/constants/NAME.pt
 *     2.9 and on   data/weights/NAME_weights_config.json  data/constants/…
 *
 * The first three are files of torch.save inside of the archive: pickles, read without
 * running anything.  The last lists raw storages, each an entry, with the view that
 * each tensor has of one: tensors that name one entry share it.
 */
#ifndef IG_FRONTEND_PT2_WEIGHTS_H
#define IG_FRONTEND_PT2_WEIGHTS_H

#include "frontend/torch/pickle/pickle.h"

/* The class of tensors around others: an OBJECT of its tensors by their names. */
#define IG_PT2_MODULE "__torch__"
#define IG_PT2_WRAPPER "WrapperSubclass"

/* The attributes of the program's object: a DICT, name -> TENSOR, or such an object. */
ig_status ig_pt2_weights(ig_archive *archive, ig_pickle_set *set, const char *model,
                         ig_py **out_dict);

#endif
