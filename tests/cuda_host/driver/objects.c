/* Objects that callers have handles of; contexts of threads.
 * SPDX-License-Identifier: Apache-2.0 */
#include "state.h"

#include <stdlib.h>

object *objects;

enum { MAX_CONTEXTS = 16 }; /* that one thread has pushed */

static _Thread_local context *pushed[MAX_CONTEXTS];
static _Thread_local int depth;

void *make_object(object_kind kind, size_t size, context *in) {
    object *made = calloc(1, size);
    if (made) {
        *made = (object){ kind, in, objects, &objects };
        if (objects) {
            objects->link = &made->next;
        }
        objects = made;
    }
    return made;
}

void drop_object(void *made) {
    object *o = made;
    *o->link = o->next;
    if (o->next) {
        o->next->link = o->link;
    }
    free(o);
}

void *find_object(object_kind kind, const void *handle) {
    for (object *o = objects; o; o = o->next) {
        if (o == handle) {
            return o->kind == kind ? o : NULL;
        }
    }
    return NULL;
}

void *find_ours(object_kind kind, const void *handle) {
    object *found = find_object(kind, handle);
    return found && found->context == current_context() ? found : NULL;
}

context *current_context(void) {
    return depth ? pushed[depth - 1] : NULL;
}

int push_context(context *c) {
    if (depth == MAX_CONTEXTS) {
        return INVALID_VALUE;
    }
    pushed[depth++] = c;
    return SUCCESS;
}

context *pop_context(void) {
    return depth ? pushed[--depth] : NULL;
}
