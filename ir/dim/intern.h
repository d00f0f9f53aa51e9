/* Bytes that a module keeps once: equal ones are the same pointer, as long as it lives.
 * Names of symbols are such, and payloads of attributes.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_IR_DIM_INTERN_H
#define IG_IR_DIM_INTERN_H

#include "base/str.h"

typedef struct ig_module ig_module;

const void *ig_module_bytes(ig_module *module, const void *bytes, size_t size);
const char *ig_module_string(ig_module *module, ig_str text);

#endif
