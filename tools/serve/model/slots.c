/* Slots, and catalogs made of them.  SPDX-License-Identifier: Apache-2.0 */
#include "tools/serve/model/slots.h"

#include <stdlib.h>
#include <string.h>

static int order_of(const slot *a, const char *name, int64_t version) {
    int order = strcmp(a->name, name);
    return order ? order : (a->version < version) - (a->version > version);
}

slot *slots_need(slot_list *in, const char *name, int64_t version) {
    size_t at = 0;
    while (at < in->count && order_of(&in->items[at], name, version) < 0) {
        at++;
    }
    if (at < in->count && order_of(&in->items[at], name, version) == 0) {
        return &in->items[at];
    }
    slot *grown = realloc(in->items, (in->count + 1) * sizeof *grown);
    char *copy = strdup(name);
    if (grown) {
        in->items = grown;
    }
    if (!grown || !copy) {
        free(copy);
        return NULL;
    }
    memmove(grown + at + 1, grown + at, (in->count - at) * sizeof *grown);
    in->count++;
    grown[at] = (slot){ .name = copy, .version = version };
    return &grown[at];
}

served *slots_remove(slot_list *in, size_t index) {
    served *was = in->items[index].served;
    free(in->items[index].name);
    in->count--;
    memmove(in->items + index, in->items + index + 1,
            (in->count - index) * sizeof *in->items);
    return was;
}

catalog *slots_list(const slot_list *in) {
    catalog *list = calloc(1, sizeof *list);
    if (list) {
        list->rows = calloc(in->count + 1, sizeof *list->rows);
    }
    bool is_good = list && list->rows;
    for (size_t i = 0; is_good && i < in->count; i++) {
        const slot *from = &in->items[i];
        catalog_row *row = &list->rows[list->count++];
        *row = (catalog_row){ .name = strdup(from->name),
                              .version = from->version,
                              .is_ready = from->served != NULL,
                              .reason = strdup(from->reason),
                              .served = from->served };
        if (row->served) {
            atomic_fetch_add(&row->served->users, 1);
        }
        is_good = row->name && row->reason;
    }
    if (list && !is_good) {
        catalog_destroy(list);
        list = NULL;
    }
    return list;
}

void catalog_destroy(catalog *of) {
    for (size_t i = 0; i < of->count; i++) {
        if (of->rows[i].served) {
            atomic_fetch_sub(&of->rows[i].served->users, 1);
        }
        free(of->rows[i].name);
        free(of->rows[i].reason);
    }
    free(of->rows);
    free(of);
}

void slots_free(slot_list *of) {
    while (of->count) {
        served *was = slots_remove(of, of->count - 1);
        if (was) {
            served_close(was);
        }
    }
    free(of->items);
    *of = (slot_list){ 0 };
}
