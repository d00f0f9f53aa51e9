/* Values and signature trees as text and as JSON.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_TOOLS_INGOT_VALUES_SHOW_H
#define IG_TOOLS_INGOT_VALUES_SHOW_H

#include "tools/ingot/model/call.h"

/* "f32[2, 3]" or "list of 3"; free() it. */
char *type_text(const ig_argument *value);
/* The shortest text that reads back as the element. */
void element_text(const ig_argument *tensor, size_t index, char *out, size_t size);
/* Names, types and values, for people; long tensors are cut. */
void show_values(const ig_argument *values, const char *const *names, size_t count);
void show_values_json(const ig_argument *values, const char *const *names,
                      size_t count);
/* More than a flat list of tensors? */
bool tree_is_structured(const model *m);
size_t tree_result(const model *m); /* its node */
/* The tree from node `at` on, with types of leaves: "kjt(keys=["a"], …)"; free() it. */
char *tree_text(const model *m, size_t at);
void put_tree_json(const model *m, size_t at);

#endif
