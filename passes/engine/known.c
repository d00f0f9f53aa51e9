/* Reading constants in passes.  SPDX-License-Identifier: Apache-2.0 */
#include "passes/engine/known.h"

#include "base/silence.h"
#include "ir/build/build.h"
#include "ir/data.h"

bool ig_read_constant(const ig_value *value, ig_arena *arena, ig_tensor *out) {
    const ig_data *data = ig_constant_of(value);
    if (!data || !ig_type_is_static(value->type)) {
        return false;
    }
    ig_context *context = ig_op_module(value->def)->context;
    ig_silence silence = ig_silence_begin(context);
    ig_status status = ig_tensor_of_data(data, arena, context, out);
    ig_silence_end(&silence);
    return status == IG_OK;
}
