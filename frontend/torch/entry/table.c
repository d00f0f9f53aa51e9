/* The op tables.
 * SPDX-License-Identifier: Apache-2.0 */
#include "frontend/torch/aten/aten.h"
#include "frontend/torch/container/container.h"
#include "frontend/torch/entry/table.h"

#define OP(schema, hook, ...) ig_status ig_ts_op_##hook(ig_ts_call *call);
#include "frontend/torch/entry/families.def"
#undef OP

static const ig_ts_row rows[] = {
#define OP(text, function, ...) \
    { .schema = text, .hook = ig_ts_op_##function, .variant = __VA_ARGS__ },
#define NEEDS(text) .needs = text
#define PARTS(names) .parts = names
#define ROWS .layout = IG_TS_LAYOUT_ROWS
#define KEEP .layout = IG_TS_LAYOUT_KEEP
#define SELF .layout = IG_TS_LAYOUT_SELF
#include "frontend/torch/entry/families.def"
#undef SELF
#undef KEEP
#undef ROWS
#undef PARTS
#undef NEEDS
#undef OP
};
const ig_ts_table ig_ts_operators = { rows, IG_COUNT_OF(rows) };
