// The stable interface of the zstd library.
#ifndef SHELFMARK_CZSTD_SHIM_H
#define SHELFMARK_CZSTD_SHIM_H

#include <zdict.h>
#include <zstd.h>
#include <zstd_errors.h>

#endif
