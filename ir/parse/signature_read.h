/* Signatures among the tokens of a module.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_IR_PARSE_SIGNATURE_READ_H
#define IG_IR_PARSE_SIGNATURE_READ_H

#include "ir/parse/lex.h"
#include "ir/parse/read.h"

/* Reads a signature from the lexer; `token` is the current token, then the one after
 * the signature.  NULL, or the error at *token. */
const char *ig_signature_read(ig_lexer *lexer, ig_token *token, ig_arena *arena,
                              ig_signature *out);

#endif
