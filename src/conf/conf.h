/*
 * conf/: the config language and the command line. YAML becomes a tree of nodes
 * with positions (node.h); files, bases and assignments are merged, expressions
 * evaluated; maps are read into structs by tables of option rows (opt.h), which
 * are also what help, manual, schema and completion are made of.
 *
 * Called by every room that has settings: the room owns the rows of its section
 * and hands its struct over (config.h, cr_section_read).
 * Knows nothing of the meaning of a section, of tensors and of files of data.
 *
 * Includes: base.
 */
