/* draw_digit.h: one handwritten-looking digit, and the random numbers that
 * vary it. */
#ifndef DRAW_DIGIT_H
#define DRAW_DIGIT_H

#include <stdint.h>

enum {
    SIDE = 28,
    PIXELS = SIDE * SIDE,
    CLASSES = 10,
};

struct rng {
    uint32_t key[2], counter[4], word[4];
    int left;
};

/* The generator of one image: equal arguments give equal numbers. */
struct rng rng_at(uint64_t seed, int stream, int index);
/* A number from 0 to n - 1. */
int rng_below(struct rng *r, int n);

/* Draws `digit` (0 to 9), white on black, over all of `pixel`. */
void digit_draw(int digit, struct rng *r, unsigned char pixel[PIXELS]);

#endif
