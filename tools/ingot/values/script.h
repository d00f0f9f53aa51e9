/* Lua before and after a call of a model: ingot run --script.
 * SPDX-License-Identifier: Apache-2.0
 *
 *     function pre(inputs)        -- a table: name -> tensor, of those that were given
 *       inputs.x = ...            -- require "ingot": tensors (docs/interpreters.md)
 *       return inputs -- the arguments of the model
 *     end
 *     function post(outputs)      -- the same of the model's outputs
 *       return { label = ... }    -- tensors, which are shown or written instead
 *     end
 *
 * Either may be missing.  Scripts have no files and processes, and end by budget.
 */
#ifndef IG_TOOLS_INGOT_VALUES_SCRIPT_H
#define IG_TOOLS_INGOT_VALUES_SCRIPT_H

#include "tools/ingot/values/bound_inputs.h"

/* As run_once, with the script that --script names before and after the call. */
ig_status run_scripted(const settings *given, const model *m, bound_inputs *values,
                       results_work work, message *why);

#endif
