/*
 * Memory with a lifetime instead of an owner.
 *
 * cr_arena_free frees everything allocated from an arena. Memory is zeroed
 * and never NULL: cr_out_of_memory ends the program with exit status 1 and a
 * message that states the size. A zeroed arena is ready to use. An arena
 * belongs to one thread at a time. Under AddressSanitizer each allocation is a
 * malloc of its own.
 */
#ifndef CR_BASE_ARENA_H
#define CR_BASE_ARENA_H

#include "base/compiler.h"

#include <stdarg.h>
#include <stddef.h>

struct cr_piece;

struct cr_arena {
    struct cr_piece *last;
    size_t total; /* bytes obtained from the system */
};

#define CR_NEW(arena, T) ((T *)cr_alloc((arena), 1, sizeof(T)))
#define CR_NEWS(arena, T, n) ((T *)cr_alloc((arena), (size_t)(n), sizeof(T)))

/* n * size zeroed bytes, aligned for any C object; 64 or more bytes are
 * aligned to 64. */
void *cr_alloc(struct cr_arena *arena, size_t n, size_t size);

/* A copy of the array `old` of n elements with capacity `want`; the old one
 * stays valid. */
void *cr_grow(struct cr_arena *arena, const void *old, size_t n, size_t want,
              size_t size);

char *cr_strdup(struct cr_arena *arena, const char *s);
char *cr_strndup(struct cr_arena *arena, const char *s, size_t n);
char *cr_strf(struct cr_arena *arena, const char *format, ...) CR_PRINTF(2, 3);
char *cr_vstrf(struct cr_arena *arena, const char *format, va_list args)
    CR_PRINTF(2, 0);

void cr_arena_free(struct cr_arena *arena);

/* Ends the program with exit status 1 and a message that states the requested
 * size and the limit. */
CR_NORETURN void cr_out_of_memory(size_t bytes);
/* From now on the message names the process, too: one of several. */
void cr_out_of_memory_on(const char *process);

#endif
