/* A server of many clients that links only the runtime.
 * SPDX-License-Identifier: Apache-2.0
 *
 *     cc -O2 server.c -pthread $(pkg-config --cflags --libs ingot-runtime) -o server
 *     ./server model.ingot 7788
 *
 * A request on 127.0.0.1 is, for each input in order, its extents as i64 and then its
 * elements; the answer is u32 status, and if that is 0, the same of each output, else
 * u32 length and the words of the error.  Numbers are in the machine's byte order. */
#include <arpa/inet.h>
#include <ingot/runtime.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
enum { PORTS = 64, MAX_BYTES = 64 << 20 };

static int read_input(FILE *from, ig_port port, ig_view *view) {
    view->dtype = port.dtype;
    view->rank = port.rank;
    if (fread(view->dims, 8, port.rank, from) != port.rank) {
        return 0;
    }
    int64_t bytes = ig_view_bytes(view);
    free(view->data);
    view->data = bytes < 0 || bytes > MAX_BYTES ? NULL : malloc((size_t)bytes + 1);
    return view->data && fread(view->data, 1, (size_t)bytes, from) == (size_t)bytes;
}

static void answer(FILE *to, ig_status status, const char *words,
                   const ig_view *outputs, size_t count) {
    fwrite((uint32_t[]){ status, (uint32_t)strlen(words) }, 4, status ? 2 : 1, to);
    fputs(status ? words : "", to);
    for (size_t i = 0; i < count && status == IG_OK; i++) {
        fwrite(outputs[i].dims, 8, outputs[i].rank, to);
        fwrite(outputs[i].data, 1, (size_t)ig_view_bytes(&outputs[i]), to);
    }
}

/* A client: its thread has a session and views of its own. */
struct client {
    ig_program *program;
    FILE *from, *to;
    ig_view in[PORTS], out[PORTS]; /* out of capacity 0: the session's memory */
};

static void answer_all(struct client *c, ig_session *session) {
    size_t ins = ig_program_input_count(c->program);
    size_t outs = ig_program_output_count(c->program);
    for (size_t i = 0; ins > 0 && ins <= PORTS && outs <= PORTS && !fflush(c->to);) {
        if (!read_input(c->from, ig_program_input(c->program, i), &c->in[i])) {
            return;
        }
        if (++i == ins) {
            i = 0;
            ig_status status = ig_session_run(session, c->in, ins, c->out, outs);
            answer(c->to, status, ig_session_error(session), c->out, outs);
        }
    }
}

static void *serve(void *of) {
    struct client *c = of;
    ig_session *session = NULL;
    if (ig_session_create(c->program, NULL, &session) == IG_OK) {
        answer_all(c, session);
        ig_session_destroy(session);
    }
    for (int i = 0; i < PORTS; i++) {
        free(c->in[i].data);
    }
    fclose(c->from), fclose(c->to), free(c);
    return NULL;
}

static void start_client(ig_program *program, int peer) {
    struct client *c = calloc(1, sizeof *c);
    pthread_t thread;
    if (c) {
        c->program = program;
        c->from = fdopen(peer, "rb");
        c->to = fdopen(dup(peer), "wb");
        if (c->from && c->to && !pthread_create(&thread, NULL, serve, c)) {
            pthread_detach(thread);
            return;
        }
    }
    perror("server: a client"), exit(1);
}

int main(int argc, char **argv) {
    char why[512] = "usage: server MODEL.ingot PORT";
    ig_program *program = NULL;
    ig_program_options options = { sizeof options, .message = why,
                                   .message_size = 512 };
    struct sockaddr_in here = { AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    if (argc != 3 || ig_program_open(argv[1], &options, &program) != IG_OK) {
        return fprintf(stderr, "server: %s\n", why), 1;
    }
    int door = socket(AF_INET, SOCK_STREAM, 0), yes = 1;
    here.sin_port = htons((uint16_t)atoi(argv[2]));
    setsockopt(door, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    if (bind(door, (void *)&here, sizeof here) == 0 && listen(door, 64) == 0) {
        signal(SIGPIPE, SIG_IGN); /* a client may leave before it has its answer */
        for (int peer; (peer = accept(door, NULL, NULL)) >= 0;) {
            start_client(program, peer);
        }
    }
    return perror("server"), 1;
}
