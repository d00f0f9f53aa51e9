/* Which nodes of a tree ensemble rows may come to, and in which order they depend on
 * each other.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A walk in depth without recursion: a node is on the stack twice as long as its
 * children, is open while they are visited and done when it comes up again.  A child
 * that is open closes a circle.
 */
#include "compose/forest/forest.h"

#include <assert.h>
#include <string.h>

enum { NEW, OPEN, DONE };

typedef struct visit {
    ig_forest *forest;
    uint8_t *states;
    uint32_t *stack, used;
    uint32_t *height;
} visit;

static bool is_leaf(const ig_forest *f, uint32_t node) {
    return f->yes[node] == (int32_t)node;
}

/* False: the child is above its parent. */
static bool push_child(visit *v, uint32_t tree, int32_t child) {
    uint8_t state = v->states[child];
    if (state == DONE && v->forest->tree_of[child] != tree) {
        v->forest->shares = true;
    }
    if (state == NEW) {
        v->stack[v->used++] = (uint32_t)child;
    }
    return state != OPEN;
}

static void finish_node(visit *v, uint32_t node) {
    ig_forest *f = v->forest;
    uint32_t yes = v->height[f->yes[node]], no = v->height[f->no[node]];
    v->height[node] = is_leaf(f, node) ? 0 : 1 + (yes > no ? yes : no);
    f->depth = v->height[node] > f->depth ? v->height[node] : f->depth;
    v->states[node] = DONE;
    f->order[f->reached++] = node;
}

static bool visit_tree(visit *v, uint32_t tree) {
    ig_forest *f = v->forest;
    if (!push_child(v, tree, f->roots[tree])) {
        return false;
    }
    while (v->used > 0) {
        uint32_t node = v->stack[v->used - 1];
        if (v->states[node] != NEW || is_leaf(f, node)) {
            v->used--;
            if (v->states[node] != DONE) {
                f->tree_of[node] = tree;
                finish_node(v, node);
            }
            continue;
        }
        v->states[node] = OPEN;
        f->tree_of[node] = tree;
        if (!push_child(v, tree, f->no[node]) || !push_child(v, tree, f->yes[node])) {
            return false;
        }
    }
    return true;
}

bool ig_forest_measure(ig_forest *forest, ig_arena *scratch, uint32_t limit) {
    uint32_t count = forest->node_count;
    assert(count > 0 && "a forest has nodes");
    visit v = { .forest = forest };
    v.states = IG_NEW_ARRAY(scratch, uint8_t, count);
    v.height = IG_NEW_ARRAY(scratch, uint32_t, count);
    v.stack = IG_NEW_ARRAY(scratch, uint32_t, 2 * (size_t)count + 1);
    forest->order = IG_NEW_ARRAY(scratch, uint32_t, count);
    forest->tree_of = IG_NEW_ARRAY(scratch, uint32_t, count);
    memset(v.states, NEW, count);
    memset(v.height, 0, count * sizeof *v.height);
    forest->depth = forest->reached = 0;
    forest->shares = false;
    for (uint32_t t = 0; t < forest->tree_count; t++) {
        if (!visit_tree(&v, t)) {
            return false;
        }
    }
    return forest->depth <= limit;
}
