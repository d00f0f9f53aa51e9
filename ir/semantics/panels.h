/* The layout of matrices that products read in order: all of K for one panel of
 * columns, then the next.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_IR_SEMANTICS_PANELS_H
#define IG_IR_SEMANTICS_PANELS_H

/* Columns of a panel: the same at every level, so that one packed copy serves all. */
enum { IG_PANEL = 16 };
/* A sum over more of K than this is one of passes, each a chain of its own. */
enum { IG_PANEL_PASS = 1024 };
/* The number of 8-bit integers along K that are adjacent. */
enum { IG_QUAD = 4 };
/* Taps of a window that sees zeros not in memory, at most: bits of a word. */
enum { IG_PADDED_TAPS = 64 };

#endif
