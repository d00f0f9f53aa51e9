/* Stored cases of every kind.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_TOOLS_IGCHECK_CASES_CASES_H
#define IG_TOOLS_IGCHECK_CASES_CASES_H

/* igcheck cases …: the exit status. */
int cases_main(int argc, char **argv);

#endif
