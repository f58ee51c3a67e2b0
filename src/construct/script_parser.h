/*
 * Reading the text of `construct`: script_expr.c reads its expressions,
 * script_parse.c its lines. Private to these two.
 */
#ifndef CR_CONSTRUCT_SCRIPT_PARSER_H
#define CR_CONSTRUCT_SCRIPT_PARSER_H

#include "construct/script.h"

#define CR_PARSE_DEPTH 64 /* of brackets, signs and indented lines */

struct cr_parser {
    struct cr_arena *arena;
    struct cr_diag *diag;
    const struct cr_node *node;
    struct cr_text_place place;
    const char *s;
    size_t at, end; /* end: of the part before `at` */
    int depth, brackets, parts;
};

/* NULL after reporting E0105: at a place, or where the parser stands. */
struct cr_script *cr_parse_fail_at(struct cr_parser *p, size_t at, size_t len,
                                   const char *what);
struct cr_script *cr_parse_fail(struct cr_parser *p, const char *expected);
/* The next character after blanks and comments; after line ends too inside
 * brackets. */
char cr_parse_peek(struct cr_parser *p);
/* Whether that sign or word stands next; it is then read. */
bool cr_parse_take(struct cr_parser *p, const char *sign);
/* NULL: there is no name, which is not reported. */
const char *cr_parse_name(struct cr_parser *p);
struct cr_script *cr_parse_part(struct cr_parser *p, enum cr_script_op op,
                                size_t at, struct cr_script *args);
struct cr_script *cr_parse_two(struct cr_parser *p, const char *sign,
                               struct cr_script *a, struct cr_script *b);
struct cr_script *cr_parse_expr(struct cr_parser *p);

#endif
