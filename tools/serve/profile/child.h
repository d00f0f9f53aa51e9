/* Processes that run models for others, and the messages to them.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A message is a head (frame_head), a text of JSON, and bytes of tensors after it.
 * The server fills up to FRAME_ALIGN: the text by blanks, and each tensor, so that the
 * child can use tensors where they are.  To the child:
 *
 *     {"do": "load", "model": "7", "folder": "/…", "format": 1, "threads": 2,
 *      "inputs": ["x"], "outputs": ["y"]}
 *     {"do": "run", "model": "7", "warmups": 1, "repeats": 10, "milliseconds": 0,
 *      "inputs": [{"dtype": 2, "shape": [1, 4], "size": 16}]}
 *
 * and from it {"error": "words"}, {} or
 *
 *     {"times": [ns, …], "memory": bytes, "outputs": [as inputs]}
 */
#ifndef IG_TOOLS_SERVE_PROFILE_CHILD_H
#define IG_TOOLS_SERVE_PROFILE_CHILD_H

#include "tools/serve/call/bytes.h"
#include "tools/serve/model/config.h"

#include <sys/types.h>

enum { FRAME_ALIGN = 64 };
enum { CHILD_SOCKET = 3 }; /* of the child: where messages come from and go to */

typedef struct frame_head {
    uint64_t text_bytes, data_bytes;
} frame_head;

typedef struct child_options {
    const char *python;    /* of the user */
    const char *folder;    /* HOME and TMPDIR of the child */
    uint64_t memory_bytes; /* that it may write; 0: no bound */
    size_t max_bytes;      /* of an answer */
    int poll;              /* which may watch its socket */
} child_options;

typedef enum child_state { CHILD_WAITS, CHILD_ANSWERED, CHILD_ENDED } child_state;

/* Zero but for `socket` -1 is none. */
typedef struct child {
    pid_t id;
    int socket, poll;
    unsigned generation; /* grows with each start, which loses all models */
    size_t max_bytes;
    bytes in, out;
    size_t out_at;
} child;

/* Starts `ingot-serve backend NAME`, confined and with an environment of its own.
 * False: the words say why. */
bool child_start(child *of, const char *backend, const child_options *options,
                 char words[WORDS]);
/* Ends it at once; nothing where there is none. */
void child_end(child *of);
/* Bytes that so many are filled up to. */
size_t frame_size(size_t size);
/* Puts a message together: its text, after which tensors follow that take so many bytes
 * with their padding. */
bool child_begin(child *to, const bytes *text, size_t data_bytes);
bool child_put(child *to, const void *data, size_t size);
/* Sends and receives as much as it can without waiting.  CHILD_ANSWERED: `in` holds a
 * whole message, until the next is sent.  CHILD_ENDED: the words say how; it is none
 * from then on. */
child_state child_turn(child *of, char words[WORDS]);
bool child_wants_out(const child *of);

#endif
