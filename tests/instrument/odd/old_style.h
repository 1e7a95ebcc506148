/* SPDX-License-Identifier: MIT */
/* A header in plain C: no prototypes of C++, old ways to write what there is. */
#ifndef OLD_STYLE_H
#define OLD_STYLE_H
#ifdef __cplusplus
extern "C" {
#endif
typedef struct node_s node_t;
struct node_s { int value; struct node_s *next; };
enum { NODES = 4 };
#ifdef __CUDACC__
static __device__ __inline__ int node_total(const node_t *n)
{
    int total = 0;
    register_free:
    while (n)
    {
        total += n->value;
        n = n->next;
        if (total < 0)
            goto register_free;
    }
    return (total);
}
#endif
#define NODE_INIT(v, n) { (v), (n) }
#ifdef __cplusplus
}
#endif
#endif
