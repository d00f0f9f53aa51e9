/* Numbers and names of the schema of torch.export, and what they are in TorchScript.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_FRONTEND_PT2_CODES_H
#define IG_FRONTEND_PT2_CODES_H

#include <stdint.h>

/* Codes as torch/_export/serde/schema.py has them -> TorchScript's; -1: none. */
int64_t ig_pt2_dtype_code(int64_t code);
int64_t ig_pt2_layout_code(int64_t code);
/* "sparse_coo"; NULL: the code is of no sparse layout. */
const char *ig_pt2_layout_name(int64_t code);
int64_t ig_pt2_memory_format_code(int64_t code);

/* The expression that a function of Python on numbers is, with $0, $1 … for its
 * arguments ("_operator.add" -> "$0 + $1"); "": the node says nothing that has to be
 * done; NULL: the target is none of these. */
const char *ig_pt2_form_of(const char *target);

#endif
