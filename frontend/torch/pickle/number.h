/* Integers of any size and escaped text.  Private to the pickle's files.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_FRONTEND_TORCH_PICKLE_NUMBER_H
#define IG_FRONTEND_TORCH_PICKLE_NUMBER_H

#include "frontend/torch/pickle/vm.h"

/* Sets `item` (INT or BIG) from little-endian two's complement. */
ig_status ig_pickle_int_of_bytes(ig_pickle_vm *vm, ig_str bytes, ig_py *item);
/* The same from a decimal. */
ig_status ig_pickle_int_of_text(ig_pickle_vm *vm, ig_str text, ig_py *item);
/* Python's escapes: \n \t \\ \' \" \xNN \NNN of a str literal, and with `is_raw` only
 * \uNNNN and \UNNNNNNNN, all else as Latin-1. */
ig_status ig_pickle_unescape(ig_pickle_vm *vm, ig_str text, bool is_raw,
                             ig_str *out_text);

#endif
