/* Inputs of a call from the command line and from files.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_TOOLS_INGOT_VALUES_INPUTS_H
#define IG_TOOLS_INGOT_VALUES_INPUTS_H

#include "tools/ingot/model/call.h"
#include "tools/ingot/model/extent.h"

bool text_ends(const char *text, const char *ending);
/* Arrays of numpy in one file: x.npz, or standard input. */
bool is_archive(const char *path);

/* Parses `text` as the value of input `index`. */
ig_status input_give(const model *m, call *with, size_t index, const char *text);
/* Values from --inputs alone; an archive's stay in *out_archive. */
ig_status inputs_from_files(const settings *given, const model *m, call *with,
                            ig_arguments **out_archive);
/* Values from --inputs and --input; an archive's stay in *out_archive, which the caller
 * closes.  Reports; lists the inputs when one has no value. */
ig_status inputs_take(const settings *given, const model *m, call *with,
                      ig_arguments **out_archive);
bool input_is_given(const ig_argument *value);
/* Has every input a value?  Else reports, and lists the inputs. */
ig_status inputs_check(const model *m, const call *with);
/* Values for measurements: those of --input, whose names may be patterns and whose
 * types may be absent, else random reals and zeros. */
ig_status inputs_fill(const settings *given, const model *m, const extents *with,
                      call *out);

#endif
