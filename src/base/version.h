/* The version of the program, as every file that it writes names it. */
#ifndef CR_BASE_VERSION_H
#define CR_BASE_VERSION_H

#define CR_VERSION "0.1.0"

#endif
