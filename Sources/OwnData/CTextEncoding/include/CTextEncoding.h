// The C library's converters between other encodings and UTF-8, and the detector of encodings of the system, if it has one.

#ifndef SHELFMARK_CTEXTENCODING_H
#define SHELFMARK_CTEXTENCODING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// A step of a conversion.
typedef struct {
  /// The number of input bytes consumed and of output bytes written.
  size_t consumed, produced;
  /// 0: all input was converted; 1: the output is full; 2: the input ends inside a character; 3: the bytes after the consumed ones
  /// are not text in the encoding.
  int status;
} shelfmark_conversion;

/// Opens a converter from the encoding `name` to UTF-8; null if the C library has none of that name. Close it with
/// `shelfmark_converter_close`.
void *_Nullable shelfmark_converter_open(const char *_Nonnull name);

/// Opens a converter from UTF-8 to the encoding `name`, otherwise like `shelfmark_converter_open`.
void *_Nullable shelfmark_encoder_open(const char *_Nonnull name);

/// Converts the next bytes.
shelfmark_conversion shelfmark_converter_run(
    void *_Nonnull converter, const uint8_t *_Nullable bytes, size_t count, uint8_t *_Nonnull text, size_t capacity);

void shelfmark_converter_close(void *_Nonnull converter);

/// Copies the name of the most likely encoding of a text into `name`, of at most `room` bytes with the zero at its end.
///
/// Returns false if the detector, uchardet, is not on this system, or the bytes resemble no encoding that it knows. It is loaded
/// by the first call.
bool shelfmark_encoding_detect(const uint8_t *_Nonnull bytes, size_t count, char *_Nonnull name, size_t room);

#endif
