/* Element types as the protocol names them.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_TOOLS_SERVE_CALL_DATATYPE_H
#define IG_TOOLS_SERVE_CALL_DATATYPE_H

#include <stddef.h>
#include <stdint.h>

#include <ingot/view.h>

/* "FP32"; NULL: the protocol has no name for it. */
const char *datatype_name(ig_dtype_code dtype);
/* 0: no such type. */
ig_dtype_code datatype_find(const char *name);
/* The number in a model's configuration: 11 of TYPE_FP32.  0: none. */
int datatype_config_id(ig_dtype_code dtype);
/* "TYPE_FP32"; NULL: none. */
const char *datatype_config_name(ig_dtype_code dtype);
/* 0: no such type. */
ig_dtype_code datatype_find_config(const char *name);
/* Bytes of an element on the wire; 0: BYTES, whose elements say how long they are. */
size_t datatype_size(ig_dtype_code dtype);

/* An element of BYTES: its length in TEXT_HEAD bytes, little-endian, then its bytes. */
enum { TEXT_HEAD = 4 };
/* Writes one, and gives the end of it; `data` may be NULL where `size` is 0. */
uint8_t *text_put(uint8_t *out, const void *data, size_t size);
/* The bytes of the one that begins at `at`; NULL: it does not end before `end`. */
const uint8_t *text_at(const uint8_t *at, const uint8_t *end, uint32_t *out_size);

#endif
