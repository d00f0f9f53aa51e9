/* Ingot, values of calls: what tools and tests read, write and compare.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef INGOT_VALUES_H
#define INGOT_VALUES_H

#include <stddef.h>
#include <stdint.h>

#include <ingot/status.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ig_context ig_context; /* ingot.h */

typedef enum ig_argument_kind {
    IG_ARGUMENT_TENSOR,
    IG_ARGUMENT_LIST,
    IG_ARGUMENT_OPTIONAL, /* a list of none or one */
} ig_argument_kind;

/* A tensor, or a list of values. */
typedef struct ig_argument ig_argument;
struct ig_argument {
    ig_argument_kind kind;
    const char *dtype; /* "f32"; the rest of a tensor: row-major, 4- and 2-bit */
    uint32_t rank;     /* elements packed, low bits first */
    const int64_t *dims;
    const void *data;
    size_t size;              /* bytes at data */
    const ig_argument *items; /* of a list */
    size_t item_count;
};

/* Values that own their memory. */
typedef struct ig_arguments ig_arguments;

/* Reads a value: "@FILE" (.npy or .pb), "f32[2,3]=1,2,3,4,5,6", "i64[4]=0" (one number
 * fills), "f32[8,13]=random", "i64[4]=iota", or JSON.  `type` is the declared one
 * ("seq<f32[N]>"), by which .pb and JSON are read; NULL: a tensor. */
IG_API IG_MUST_USE ig_status ig_arguments_parse(ig_context *context, const char *text,
                                                const char *type,
                                                ig_arguments **out_arguments);
/* Reads every array of an .npz file; their names are kept. */
IG_API IG_MUST_USE ig_status ig_arguments_open(ig_context *context, const char *path,
                                               ig_arguments **out_arguments);
IG_API void ig_arguments_close(ig_arguments *arguments);
IG_API size_t ig_arguments_count(const ig_arguments *arguments);
IG_API const ig_argument *ig_arguments_at(const ig_arguments *arguments, size_t index);
IG_API const char *ig_arguments_name(const ig_arguments *arguments, size_t index);
/* Writes .npy or .pb (one value) or .npz, by the name of the file. */
IG_API IG_MUST_USE ig_status ig_arguments_write(ig_context *context, const char *path,
                                                const ig_argument *arguments,
                                                const char *const *names, size_t count);
/* Reads a checkpoint of torch.distributed, the folder: its tensors by their names, and
 * its counters, which are not tensors, as i64 or f64.  Nothing of it is run. */
IG_API IG_MUST_USE ig_status ig_checkpoint_open(ig_context *context, const char *folder,
                                                ig_arguments **out_arguments);
/* Writes one, which torch.distributed.checkpoint loads.  A name is the path of a tensor
 * in nested dicts, "model/over.0.weight", and "model.over.0.weight" in the checkpoint.
 * The folder, of which there must be none, gets its name when all is written and
 * synced; a process that is killed leaves none. */
IG_API IG_MUST_USE ig_status ig_checkpoint_write(ig_context *context,
                                                 const char *folder,
                                                 const ig_argument *tensors,
                                                 const char *const *names,
                                                 size_t count);
/* Element `index` (row-major) of a tensor as a number. */
IG_API double ig_argument_number(const ig_argument *tensor, size_t index);
/* The dtype of an ig_dtype_code of runtime.h, "f32", or NULL; and the reverse, or 0. */
IG_API const char *ig_dtype_text(int32_t code);
IG_API int32_t ig_dtype_number(const char *text);

/* The area under the ROC curve: the chance that a label of 1 has the larger score; ties
 * count a half.  NaN where all labels are alike.  `order`, room for `count` indices,
 * receives those of the scores from the smallest up. */
IG_API double ig_metric_auc(const double *scores, const double *labels, size_t *order,
                            size_t count);

#ifdef __cplusplus
}
#endif
#endif
