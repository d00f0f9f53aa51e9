/* Attributes and locations as text: {name = value, flag}.
 * SPDX-License-Identifier: Apache-2.0 */
#include "ir/text/print.h"

#include "ir/tensor/element.h"

static void put_word(ig_printer *p, const ig_attr_info *info, int64_t value) {
    const char *name = ig_attr_word(info, value);
    ig_put(p->out, "%s", name ? name : "?");
}

/* By name where the slot is a list of an enumeration. */
static void put_ints(ig_printer *p, const ig_attr *attr, const ig_attr_info *info) {
    ig_put_char(p->out, '[');
    for (uint32_t i = 0; i < attr->count; i++) {
        ig_put(p->out, "%s", i ? ", " : "");
        if (info->names) {
            put_word(p, info, attr->as.ints[i]);
        } else {
            ig_put(p->out, "%lld", (long long)attr->as.ints[i]);
        }
    }
    ig_put_char(p->out, ']');
}

static void put_dims(ig_printer *p, const ig_attr *attr) {
    ig_put_char(p->out, '[');
    for (uint32_t i = 0; i < attr->count; i++) {
        ig_put(p->out, "%s", i ? ", " : "");
        ig_dim_print(p->module, attr->as.dims[i], p->out);
    }
    ig_put_char(p->out, ']');
}

static void put_attr(ig_printer *p, const ig_attr *attr, const ig_attr_info *info,
                     const ig_type *implied) {
    switch ((ig_attr_kind)attr->kind) {
    case IG_ATTR_NONE:
        break;
    case IG_ATTR_INT:
        ig_put(p->out, "%lld", (long long)attr->as.i);
        break;
    case IG_ATTR_FLOAT:
        ig_element_print(IG_DT_f64, &attr->as.f, 0, p->out);
        break;
    case IG_ATTR_BOOL:
        ig_put(p->out, "%s", attr->as.i ? "true" : "false");
        break;
    case IG_ATTR_ENUM:
        put_word(p, info, attr->as.i);
        break;
    case IG_ATTR_DTYPE:
        ig_put(p->out, "%s", ig_dtypes[attr->as.i].name);
        break;
    case IG_ATTR_STR:
        ig_put_quoted(p->out, ig_str_of(attr->as.str));
        break;
    case IG_ATTR_SYM:
        ig_print_item(p->out, attr->as.str);
        break;
    case IG_ATTR_INTS:
        put_ints(p, attr, info);
        break;
    case IG_ATTR_DIM:
        ig_dim_print(p->module, attr->as.dim, p->out);
        break;
    case IG_ATTR_DIMS:
        put_dims(p, attr);
        break;
    case IG_ATTR_DATA:
        ig_print_data(p, attr->as.data, implied);
        break;
    }
}

void ig_print_attr(ig_printer *p, const ig_op *op, uint32_t slot) {
    const ig_type *implied = op->result_count ? op->results[0].type : NULL;
    put_attr(p, &op->attrs[slot], &ig_ops[op->code].attrs[slot], implied);
}

void ig_print_attrs(ig_printer *p, const ig_op *op) {
    const ig_op_info *info = &ig_ops[op->code];
    uint32_t shown = 0;
    for (uint32_t i = 0; i < info->attr_count; i++) {
        const ig_attr *attr = &op->attrs[i];
        if (attr->kind == IG_ATTR_NONE) {
            continue;
        }
        ig_put(p->out, "%s%s", shown++ ? ", " : " {", info->attrs[i].name);
        if (attr->kind != IG_ATTR_BOOL || !attr->as.i) {
            ig_put(p->out, " = ");
            ig_print_attr(p, op, i);
        }
    }
    ig_put(p->out, "%s", shown ? "}" : "");
}

/* ---- locations ---- */

typedef struct field_list {
    ig_writer *out;
    uint32_t shown;
} field_list;

static void put_field(field_list *list, const char *name) {
    ig_put(list->out, "%s%s = ", list->shown++ ? ", " : " loc {", name);
}

static void put_text(field_list *list, const char *name, const char *text) {
    if (text) {
        put_field(list, name);
        ig_put_quoted(list->out, ig_str_of(text));
    }
}

static void put_number(field_list *list, const char *name, uint32_t index) {
    if (index) {
        put_field(list, name);
        ig_put(list->out, "%u", index);
    }
}

void ig_print_location(ig_printer *printer, const ig_location *where) {
    field_list list = { printer->out, 0 };
    put_text(&list, "file", where->file);
    put_text(&list, "graph", where->graph);
    put_text(&list, "node", where->node);
    put_text(&list, "op", where->op);
    put_text(&list, "scope", where->scope);
    put_number(&list, "number", where->node_id);
    put_number(&list, "line", where->line);
    put_number(&list, "column", where->column);
    ig_put(printer->out, "%s", list.shown ? "}" : "");
}
