/* Declarations shared by the host functions on texts.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_RUNTIME_TEXT_TEXT_H
#define IG_RUNTIME_TEXT_TEXT_H

#include "runtime/plugin/plugin.h"
#include "runtime/plugin/texts.h"

/* The rows of the library: name, buffers, params.  A list is texts one after the other;
 * destinations come first. */
#define IG_TEXT_FUNCTIONS(T)                                                       \
    T(text_same, 2, 1)        /* y, x; how many: addresses as they are */          \
    T(text_of, 2, 1)          /* y, list; how many */                              \
    T(text_eq, 3, 1)          /* bools, two of texts; how many */                  \
    T(text_join, 3, 1)        /* y, two of texts; how many */                      \
    T(text_find, 3, 1)        /* i64 (-1: not in it), x, list; how many */         \
    T(text_order, 2, 1)       /* i64, x; how many */                               \
    T(text_match, 3, 1)       /* bools, x, list of a pattern; how many */          \
    T(text_parse, 2, 1)       /* i64, x; how many */                               \
    T(text_parse_real, 2, 1)  /* f64, x; how many */                               \
    T(text_print, 2, 2)       /* y, x; how many, dtype code of x */                \
    T(text_split_count, 3, 2) /* i64, x, list of the delimiter; how many, max */   \
    T(text_split, 4, 3)       /* y, i64, x, list; how many, max, parts of a row */ \
    T(text_clean_count, 4, 2) /* i64, x, words, locale; how many, insensitive */   \
    T(text_clean, 4, 4) /* y, x, words, locale; of x, of y, letters, insensitive */

#define IG_TEXT_DECLARE(name, buffers, params) ig_host_fn ig_host_##name;
IG_TEXT_FUNCTIONS(IG_TEXT_DECLARE)
#undef IG_TEXT_DECLARE

/* Has buffer `index` room for `count` elements of so many bytes? */
static inline bool ig_text_fits(const ig_host_call *call, uint32_t index, int64_t count,
                                int64_t bytes) {
    return count >= 0 && count <= call->bytes[index] / bytes;
}

static inline const char *ig_text_at(const ig_host_call *call, uint32_t buffer,
                                     int64_t index) {
    const char *text = ((const char *const *)call->buffers[buffer])[index];
    return text ? text : "";
}

/* The text after `text` in a list, the first for NULL; NULL: there is none. */
const char *ig_text_next(const ig_host_call *call, uint32_t buffer, const char *text);
/* As ig_host_refuse, which the runtime has. */
bool ig_text_refuse(const ig_host_call *call, const char *format, ...) IG_PRINTF(2, 3);
/* Room for `size` bytes and a 0 among the session's texts; NULL: no memory, and the
 * call's status and reason say so. */
char *ig_text_take(const ig_host_call *call, size_t size);
const char *ig_text_copy(const ig_host_call *call, const char *bytes, size_t size);

IG_API ig_plugin_find_fn ig_texts_find;

#endif
