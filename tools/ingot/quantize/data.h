/* Calibration data: inputs of calls, and labels, from files.
 * SPDX-License-Identifier: Apache-2.0
 *
 *     x.npz                          arrays by the names of inputs; labels among them
 *     DIR with x.npz, y.npz …        one of these each
 *     DIR/test_data_set_K/           input_0.npy|.pb … or by name, labels.npy
 *     DIR/input_0.npy …              one such folder itself
 *
 * An array with more rows than a model of fixed extents takes is cut into calls; so are
 * all with --batch.
 */
#ifndef IG_TOOLS_INGOT_QUANTIZE_DATA_H
#define IG_TOOLS_INGOT_QUANTIZE_DATA_H

#include "tools/ingot/values/bound_inputs.h"

#include <ingot/quantize.h>

typedef struct data_paths {
    char **items;
    size_t count;
} data_paths;

typedef struct calibration_data {
    bound_inputs *samples; /* by path */
    ig_argument *labels;   /* by path; dtype NULL: none */
    ig_arguments **label_owners;
    size_t sample_count;
    ig_quantize_batch *batches;
    size_t batch_count;
    void **parts; /* memory of cut arguments */
    size_t part_count;
} calibration_data;

/* The files and folders that --calibration names, in order.  IG_INVALID after a message
 * where there are none. */
ig_status data_list(const char *calibration, data_paths *out);
void data_paths_free(data_paths *which);
/* Binds every one of them; `first` are the inputs that the model was opened for, if it
 * was, and is taken over. */
ig_status data_bind(const settings *given, const model *m, const data_paths *paths,
                    bound_inputs *first, calibration_data *out);
void data_free(calibration_data *which);

#endif
