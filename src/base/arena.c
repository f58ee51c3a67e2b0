#include "base/arena.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#define HUGE_PAGE ((uintptr_t)2 << 20)

#if defined(__SANITIZE_ADDRESS__)
#define PIECE_MIN 0
#else
#define PIECE_MIN 65536
#endif

/* A block is one malloc. Memory is taken from the newest block, which is first
 * in the list; a block larger than usual is inserted after it, so that the free
 * rest of the newest stays usable. */
struct cr_piece {
    struct cr_piece *older;
    size_t size, used;
    void *base;
};

static char process_note[320]; /* "": the only process */

void cr_out_of_memory_on(const char *process)
{
    snprintf(process_note, sizeof process_note, "   on %s\n",
             process);
}

void cr_out_of_memory(size_t bytes)
{
    struct rlimit limit;
    char text[560];
    int n;

    if (getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY)
        n = snprintf(text, sizeof text,
                     "cellrun: error: out of memory: %zu bytes (%zu MiB) are "
                     "not available, the address space is limited to %zu MiB "
                     "[E0601]\n%s",
                     bytes, bytes >> 20, (size_t)limit.rlim_cur >> 20,
                     process_note);
    else
        n = snprintf(text, sizeof text,
                     "cellrun: error: out of memory: %zu bytes (%zu MiB) are "
                     "not available [E0601]\n%s",
                     bytes, bytes >> 20, process_note);
    if (n > 0 && write(2, text, (size_t)n) < 0)
        _exit(1);
    _exit(1);
}

/* Values of tens of MiB, read row by row, otherwise miss the processor's table
 * of pages all the time: up to a quarter of a product's speed. */
static void want_huge_pages(void *base, size_t bytes)
{
#ifdef MADV_HUGEPAGE
    uintptr_t from = ((uintptr_t)base + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE;
    uintptr_t to = ((uintptr_t)base + bytes) / HUGE_PAGE * HUGE_PAGE;

    if (from < to) /* a system without them is not an error */
        (void)madvise((void *)from, to - from, MADV_HUGEPAGE);
#else
    (void)base, (void)bytes;
#endif
}

static struct cr_piece *piece_new(struct cr_arena *arena, size_t size)
{
    struct cr_piece *p = malloc(sizeof *p);

    if (!p)
        cr_out_of_memory(sizeof *p);
    *p = (struct cr_piece){ .size = size };
    /* calloc leaves the zeroing of large blocks to the system */
    p->base = calloc(1, size + 64);
    if (!p->base)
        cr_out_of_memory(size + 64);
    want_huge_pages(p->base, size + 64);
    arena->total += size + 64;
    return p;
}

static size_t aligned(const struct cr_piece *p, size_t align)
{
    uintptr_t at = (uintptr_t)p->base + p->used;

    return p->used + (align - at % align) % align;
}

void *cr_alloc(struct cr_arena *arena, size_t n, size_t size)
{
    struct cr_piece *p = arena->last;
    size_t bytes, align, at;

    if (__builtin_mul_overflow(n, size, &bytes) || bytes > SIZE_MAX / 4)
        cr_out_of_memory(SIZE_MAX / 2);
    if (bytes == 0)
        bytes = 1;
    align = bytes >= 64 ? 64 : _Alignof(max_align_t);
    at = p ? aligned(p, align) : 0;
    if (!p || at > p->size || bytes > p->size - at) {
        size_t want = bytes + align > PIECE_MIN ? bytes + align : PIECE_MIN;
        struct cr_piece *fresh = piece_new(arena, want);

        if (p && p->size - p->used > want) {
            fresh->older = p->older;
            p->older = fresh;
        } else {
            fresh->older = p;
            arena->last = fresh;
        }
        p = fresh;
        at = aligned(p, align);
    }
    p->used = at + bytes;
    return (char *)p->base + at;
}

void *cr_grow(struct cr_arena *arena, const void *old, size_t n, size_t want,
              size_t size)
{
    void *fresh = cr_alloc(arena, want, size);

    if (n > 0)
        memcpy(fresh, old, n * size);
    return fresh;
}

char *cr_strndup(struct cr_arena *arena, const char *s, size_t n)
{
    char *copy = CR_NEWS(arena, char, n + 1);

    memcpy(copy, s, n);
    return copy;
}

char *cr_strdup(struct cr_arena *arena, const char *s)
{
    return cr_strndup(arena, s, strlen(s));
}

char *cr_vstrf(struct cr_arena *arena, const char *format, va_list args)
{
    va_list again;
    char *text;
    int n;

    va_copy(again, args);
    n = vsnprintf(NULL, 0, format, again);
    va_end(again);
    if (n < 0)
        n = 0;
    text = CR_NEWS(arena, char, (size_t)n + 1);
    vsnprintf(text, (size_t)n + 1, format, args);
    return text;
}

char *cr_strf(struct cr_arena *arena, const char *format, ...)
{
    va_list args;
    char *text;

    va_start(args, format);
    text = cr_vstrf(arena, format, args);
    va_end(args);
    return text;
}

void cr_arena_free(struct cr_arena *arena)
{
    struct cr_piece *p = arena->last, *older;

    for (; p; p = older) {
        older = p->older;
        free(p->base);
        free(p);
    }
    *arena = (struct cr_arena){ 0 };
}
