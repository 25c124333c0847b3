/* version.h: the version of the library and the programs. */
#ifndef TAP_VERSION_H
#define TAP_VERSION_H

#define TAP_VERSION "0.1.0"

#endif
