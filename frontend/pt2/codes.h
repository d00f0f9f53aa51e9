/* Numbers and names of the schema of torch.export, and their names in TorchScript.
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

/* A function of Python on numbers: the operator that computes it, of so many
 * arguments.  None of both: the node says nothing that has to be done. */
enum { IG_PT2_FORM_ARGUMENTS = 2 };
typedef struct ig_pt2_form {
    const char *target, *op;
    uint32_t arguments;
    enum { IG_PT2_AS_IT_IS, IG_PT2_TO_INT, IG_PT2_TO_FLOAT } to; /* without operator */
} ig_pt2_form;
/* "_operator.add"; NULL: the target is none of these. */
const ig_pt2_form *ig_pt2_form_of(const char *target);

#endif
