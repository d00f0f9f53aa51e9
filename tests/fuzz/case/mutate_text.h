/* Mutations that know lines and words, for targets whose inputs are text.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_TESTS_FUZZ_CASE_MUTATE_TEXT_H
#define IG_TESTS_FUZZ_CASE_MUTATE_TEXT_H

#include <stddef.h>
#include <stdint.h>

/* libFuzzer's own mutation, byte by byte. */
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size);

/* A number below `below`, or 0. */
uint32_t ig_fuzz_draw(uint32_t *state, size_t below);

/* What may stand instead of `word`, into `out`. */
typedef void ig_fuzz_other_word(const char *word, size_t size, uint32_t *state,
                                char *out, size_t room);

/* For LLVMFuzzerCustomMutator: lines doubled, lost and moved, words replaced by others
 * of the text or by `other`; now and then libFuzzer's own. */
size_t ig_fuzz_mutate_text(uint8_t *data, size_t size, size_t max_size, unsigned seed,
                           ig_fuzz_other_word *other);

#endif
