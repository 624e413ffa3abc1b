// zlib's initialisers are macros that pass the version and the size of the stream; Swift sees functions only.
#ifndef SHELFMARK_CZLIB_SHIM_H
#define SHELFMARK_CZLIB_SHIM_H

#include <zlib.h>

// A window of 32 KiB and the gzip wrapper (RFC 1952): 15 + 16, as zlib.h prescribes.
static inline int shelfmark_inflate_gzip_init(z_stream *stream) {
  return inflateInit2(stream, 15 + 16);
}

static inline int shelfmark_deflate_gzip_init(z_stream *stream, int level) {
  return deflateInit2(stream, level, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
}

#endif
