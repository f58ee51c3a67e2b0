/*
 * C functions that an exported network calls (c_code.c). A file contains those
 * that it uses.
 */
#ifndef CR_EXPORT_C_CODE_H
#define CR_EXPORT_C_CODE_H

struct cr_c_function {
    const char *name, *text;
};

/* Ends with a zero row. */
extern const struct cr_c_function cr_c_functions[];

#endif
