/* The preprocessor makes Python of this: what the module torch knows of operators and
 * layers is what the compiler knows.  SPDX-License-Identifier: Apache-2.0 */
#define OP(schema, ...) schema,
SCHEMAS = (
#include "frontend/torch/aten/aten.def"
    )
#undef OP

#define FALSE False
#define NONE None
#define TEXT_NONE "none"
#define MODULE(modules, classes, parameters, body) (modules, classes, parameters, body),
#define WRITTEN(modules, classes, parameters, write) \
    (modules, classes, parameters, None),
#define ABSENT(modules, classes, attribute, value)
    LAYERS = (
#include "frontend/torch/package/modules.def"
        )
#undef MODULE
#undef WRITTEN
#undef ABSENT

#define MODULE(modules, classes, parameters, body)
#define WRITTEN(modules, classes, parameters, write)
#define ABSENT(modules, classes, attribute, value) (modules, classes, attribute, value),
        ABSENT_ATTRIBUTES = (
#include "frontend/torch/package/modules.def"
        )
