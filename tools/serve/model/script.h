/* Lua before and after the runs of a model: `script` of its config.json.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Each loop has an interpreter of its own, which runs on the loop's thread, within a
 * budget of instructions and memory, and sees no file.
 */
#ifndef IG_TOOLS_SERVE_MODEL_SCRIPT_H
#define IG_TOOLS_SERVE_MODEL_SCRIPT_H

#include "tools/serve/call/request.h"
#include "tools/serve/model/config.h"

typedef struct script script;

typedef enum script_hook {
    SCRIPT_PRE,  /* it takes the client's tensors and gives the model's inputs */
    SCRIPT_POST, /* it takes the model's results and gives the client's */
    SCRIPT_HOOKS
} script_hook;

/* Reads the config's script.  NULL: the words say why not. */
script *script_open(const model_config *config, size_t loop_count, char words[WORDS]);
void script_close(script *of);
/* Does it have that function?  `of` NULL: there is no script. */
bool script_has(const script *of, script_hook which);
/* Calls the function with the request's inputs (results); its tensors take their place,
 * in the order of names.  False: the request has failed. */
bool script_call(const script *of, size_t loop, script_hook which, request *what);

#endif
