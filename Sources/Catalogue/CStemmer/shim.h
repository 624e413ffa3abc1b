// The interface of libstemmer, the library of Snowball.
#ifndef SHELFMARK_CSTEMMER_SHIM_H
#define SHELFMARK_CSTEMMER_SHIM_H

#include <libstemmer.h>

#endif
