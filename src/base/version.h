/* The version of the program, which every file that it writes states. */
#ifndef CR_BASE_VERSION_H
#define CR_BASE_VERSION_H

#define CR_VERSION "0.1.0"

#endif
