/* The door of gRPC: its connections.  SPDX-License-Identifier: Apache-2.0 */
#include "tools/serve/grpc/door.h"

#include "tools/serve/grpc/peer.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <nghttp2/nghttp2.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

struct grpc_door {
    lane *lane;
    int listener, poll; /* listener -1: draining */
    nghttp2_session_callbacks *callbacks;
    peer *first, *due;
    stream *unpacking; /* one after the other has a part unpacked */
    size_t count;
};

static bool watch_socket(const grpc_door *of, int operation, int socket,
                         uint32_t events, void *data) {
    struct epoll_event event = { events, { .ptr = data } };
    return epoll_ctl(of->poll, operation, socket, &event) == 0;
}

grpc_door *grpc_door_open(lane *of, int listener, int poll) {
    grpc_door *door = calloc(1, sizeof *door);
    if (!door) {
        return NULL;
    }
    *door = (grpc_door){ .lane = of, .listener = listener, .poll = poll };
    door->callbacks = peer_callbacks();
    if (!door->callbacks ||
        !watch_socket(door, EPOLL_CTL_ADD, listener, EPOLLIN, door)) {
        nghttp2_session_callbacks_del(door->callbacks);
        free(door);
        return NULL;
    }
    return door;
}

static void take_off(peer *of) {
    grpc_door *door = of->door;
    *(of->before ? &of->before->next : &door->first) = of->next;
    if (of->next) {
        of->next->before = of->before;
    }
    for (peer **at = &door->due; *at; at = &(*at)->next_due) {
        if (*at == of) {
            *at = of->next_due;
            break;
        }
    }
    door->count--;
    /* To close it is not enough: while another thread starts a process, that has the
     * socket, too, and events of it would still come. */
    watch_socket(door, EPOLL_CTL_DEL, of->wire.socket, 0, NULL);
    peer_close(of);
}

void grpc_door_close(grpc_door *of) {
    if (!of) {
        return;
    }
    while (of->first) {
        take_off(of->first);
    }
    if (of->listener >= 0) {
        close(of->listener);
    }
    nghttp2_session_callbacks_del(of->callbacks);
    free(of);
}

static void add_peer(grpc_door *to, int socket) {
    int yes = 1;
    setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    peer *of = to->count < to->lane->limits->connections
                   ? peer_open(to->lane, socket, to->callbacks)
                   : NULL;
    if (!of) {
        close(socket);
        return;
    }
    of->door = to;
    of->next = to->first;
    if (to->first) {
        to->first->before = of;
    }
    to->first = of;
    to->count++;
    if (watch_socket(to, EPOLL_CTL_ADD, socket, EPOLLIN, of)) {
        grpc_door_note(of); /* settings are to be sent */
    } else {
        take_off(of);
    }
}

static void accept_peers(grpc_door *to) {
    enum { AT_ONCE = 64 };
    for (int i = 0; i < AT_ONCE; i++) {
        int socket = accept4(to->listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
        if (socket < 0) {
            return;
        }
        add_peer(to, socket);
    }
}

void grpc_door_note(peer *due) {
    if (!due->is_due && due->wire.socket >= 0 && due->door) {
        due->is_due = true;
        due->next_due = due->door->due;
        due->door->due = due;
    }
}

void grpc_door_take(grpc_door *of, void *data, uint32_t events) {
    if (data == of) {
        accept_peers(of);
        return;
    }
    peer *from = data;
    if ((events & ~(uint32_t)EPOLLOUT) && !peer_read(from)) {
        take_off(from);
        return;
    }
    grpc_door_note(from);
}

/* ---- messages that are unpacked in parts ---- */

void grpc_door_unpack_later(stream *of) {
    stream **end = &of->peer->door->unpacking;
    if (of->is_listed) {
        return;
    }
    while (*end) {
        end = &(*end)->next_unpacking;
    }
    of->is_listed = true;
    of->next_unpacking = NULL;
    *end = of;
}

void grpc_door_forget(stream *of) {
    stream **at = of->is_listed ? &of->peer->door->unpacking : NULL;
    while (at && *at != of) {
        at = &(*at)->next_unpacking;
    }
    if (at) {
        *at = of->next_unpacking;
        of->is_listed = false;
    }
}

void grpc_door_unpack(grpc_door *of) {
    stream *first = of->unpacking;
    if (first) {
        grpc_door_forget(first);
        stream_advance(first);
    }
}

bool grpc_door_is_unpacking(const grpc_door *of) {
    return of->unpacking;
}

/* ---- turns ---- */

void grpc_door_push(grpc_door *of) {
    while (of->due) {
        peer *next = of->due;
        of->due = next->next_due;
        next->is_due = false;
        bool was_wanting = next->wants_out;
        if (!peer_write(next)) {
            take_off(next);
        } else if (next->wants_out != was_wanting) {
            uint32_t events = EPOLLIN | (next->wants_out ? (uint32_t)EPOLLOUT : 0);
            watch_socket(of, EPOLL_CTL_MOD, next->wire.socket, events, next);
        }
    }
}

void grpc_door_sweep(grpc_door *of) {
    int64_t before = of->lane->now - of->lane->limits->idle_ns;
    for (peer *next, *each = of->first; each; each = next) {
        next = each->next;
        if (each->active < before && each->working == 0) {
            take_off(each);
        }
    }
}

size_t grpc_door_drain(grpc_door *of) {
    if (of->listener >= 0) {
        watch_socket(of, EPOLL_CTL_DEL, of->listener, 0, NULL);
        close(of->listener);
        of->listener = -1;
        for (peer *each = of->first; each; each = each->next) {
            peer_drain(each);
            grpc_door_note(each);
        }
    }
    return of->count;
}
