/* Texts in numpy's format: dtype U has 4 bytes a character, dtype S one, and each
 * element as many as the longest, the rest of which are zeros.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_DRIVER_VALUES_NPY_TEXT_H
#define IG_DRIVER_VALUES_NPY_TEXT_H

#include "base/writer.h"
#include "ir/tensor/tensor.h"

typedef struct ig_npy_texts {
    size_t characters; /* of an element */
    bool is_wide;      /* U */
} ig_npy_texts;

/* "U12" or "S3"; false for anything else. */
bool ig_npy_parse_texts(ig_str name, ig_npy_texts *out);
/* Bytes of a character. */
size_t ig_npy_character(const ig_npy_texts *texts);
/* Fills `out`, which is allocated, from rows of little-endian characters.  Returns
 * NULL, or the error in one of them. */
const char *ig_npy_take_texts(const ig_npy_texts *texts, const char *data,
                              ig_arena *arena, ig_tensor *out);

/* The form in which the texts of a tensor are written: dtype U. */
ig_npy_texts ig_npy_measure_texts(const ig_tensor *tensor);
/* False: a text is no UTF-8. */
bool ig_npy_put_texts(const ig_npy_texts *texts, const ig_tensor *tensor,
                      ig_writer *out);

#endif
