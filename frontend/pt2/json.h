/* JSON as a tree in an arena.
 * SPDX-License-Identifier: Apache-2.0
 *
 * jansson reads the text; its tree is copied and freed at once, since an import may end
 * by unwinding, which frees arenas only.  torch 2.1 to 2.6 write bare Infinity,
 * -Infinity and NaN, which JSON does not know: they come out as the strings that later
 * versions write for them.
 */
#ifndef IG_FRONTEND_PT2_JSON_H
#define IG_FRONTEND_PT2_JSON_H

#include "base/context.h"
#include "base/str.h"

typedef enum ig_json_kind {
    IG_JSON_NULL,
    IG_JSON_BOOL,   /* as.b */
    IG_JSON_INT,    /* as.i */
    IG_JSON_REAL,   /* as.f */
    IG_JSON_STRING, /* as.text, UTF-8, zero-terminated */
    IG_JSON_ARRAY,  /* as.list */
    IG_JSON_OBJECT  /* as.list, with keys, in the order of the text */
} ig_json_kind;

typedef struct ig_json ig_json;
struct ig_json {
    ig_json_kind kind;
    union {
        bool b;
        int64_t i;
        double f;
        ig_str text;
        struct {
            const ig_str *keys; /* of an OBJECT, else NULL */
            const ig_json *items;
            size_t count;
        } list;
    } as;
};

/* Errors are reported at `where`, with the line of the text.  Nested more than
 * limits.source_depth deep: IG_LIMIT. */
ig_status ig_json_read(ig_context *context, ig_arena *arena, const ig_location *where,
                       ig_str text, const ig_json **out_value);

/* The member of an OBJECT; NULL: `value` is NULL or no object, there is none, or it is
 * null. */
const ig_json *ig_json_get(const ig_json *value, const char *key);
/* Items of an ARRAY or members of an OBJECT; 0 of anything else, and of NULL. */
size_t ig_json_count(const ig_json *value);
/* Item or member `index` of them; NULL where there are fewer. */
const ig_json *ig_json_at(const ig_json *value, size_t index);
/* The text of a STRING, else "". */
const char *ig_json_text(const ig_json *value);
/* False where it is not INT. */
bool ig_json_int(const ig_json *value, int64_t *out_value);
/* A number, or one of the strings "Infinity", "-Infinity", "NaN". */
bool ig_json_real(const ig_json *value, double *out_value);
bool ig_json_is_true(const ig_json *value);

#endif
