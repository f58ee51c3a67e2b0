/*
 * base/: what every program needs. Memory that is released as one (arena.h),
 * diagnostics with positions (diag.h), strings, tables, atomic files,
 * terminals, signals, the thread pool, the facts of the processor (cpu.h).
 *
 * Called by every room. Reports errors to a diag of its caller and never ends
 * the process. Threads: a diag and an arena belong to one thread at a time; the
 * pool starts its threads once.
 * Knows nothing of configs, tensors and runs.
 *
 * Includes: none.
 */
