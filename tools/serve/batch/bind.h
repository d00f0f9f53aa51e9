/* From tensors on the wire to views of a program, and back.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_TOOLS_SERVE_BATCH_BIND_H
#define IG_TOOLS_SERVE_BATCH_BIND_H

#include "tools/serve/call/request.h"
#include "tools/serve/model/served.h"

/* Finds the request's inputs among the program's, checks name, type, rank, extents and
 * size, and sets of->views.  Their memory is the request's, or its pool's where it had
 * to be moved.  False: the request has failed. */
bool bind_inputs(request *of, const served *to);
/* Names the outputs that the request asks for; all are there, where the model's own are
 * its answer.  False: it has failed. */
bool check_outputs(request *of, const served *to);
/* Sets of->results: of each requested output, or of all where they are not yet its
 * answer; `views` are those of all outputs of a run.  False: the request has
 * failed. */
bool give_results(request *of, const served *to, const ig_view *views);
/* Leaves of the results those that the request asks for, in its order.  False: it has
 * failed. */
bool pick_results(request *of);

#endif
