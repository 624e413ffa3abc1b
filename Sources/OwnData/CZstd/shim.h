// The stable interface of the zstd library.
#ifndef SHELFMARK_CZSTD_SHIM_H
#define SHELFMARK_CZSTD_SHIM_H

#include <zstd.h>

#endif
