/* Extents of exported tensors: sympy's text -> our dim expressions as text.
 * SPDX-License-Identifier: Apache-2.0
 *
 * torch 2.6 and later write sympy's srepr, which torch itself evaluates as Python:
 *
 *     Add(Mul(Integer(2), Symbol('s0', positive=True, integer=True)), Integer(-1))
 *
 * earlier versions write "2*s0 - 1".  Here both are read by a grammar of names,
 * integers and calls; nothing else is understood, and nothing is run.
 */
#ifndef IG_FRONTEND_PT2_EXTENT_H
#define IG_FRONTEND_PT2_EXTENT_H

#include "base/writer.h"

/* Appends "2*s0 - 1" for ir/text's parser.  False where the text is none that our
 * expressions can say (nothing useful is appended): the extent is then just open. */
bool ig_pt2_extent(ig_str text, ig_writer *out);

#endif
