#ifndef SHELFMARK_TEXT_ENCODING_H
#define SHELFMARK_TEXT_ENCODING_H

#include <stddef.h>
#include <stdint.h>

/// The encodings that the C library converts.
#define SHELFMARK_GB18030 0
#define SHELFMARK_SHIFT_JIS 1

/// The bytes are not text in the encoding.
#define SHELFMARK_NOT_TEXT (-1)
/// The C library has no converter for the encoding: glibc loads it from a file, which may not be installed.
#define SHELFMARK_NO_CONVERTER (-2)

/// Writes the UTF-8 of `count` bytes to `text`, which has room for `capacity` bytes: three times `count` are enough.
/// Returns the number of bytes written, or one of the values above. Any number of threads may call it.
ptrdiff_t shelfmark_decode_text(
    int encoding, const uint8_t *_Nullable bytes, size_t count, uint8_t *_Nullable text, size_t capacity);

#endif
