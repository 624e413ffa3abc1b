// CRC-32C with the processor's instruction, and the two checks of a log that are made of it: those of an object and of an
// index bucket.

#ifndef SHELFMARK_CCHECKSUM_H
#define SHELFMARK_CCHECKSUM_H

#include <stddef.h>
#include <stdint.h>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

/// CRC-32C (Castagnoli) of `count` bytes, going on from `crc`, which is 0 at the start.
/// Uses the processor's instruction where there is one; the table it falls back on gives the same value.
uint32_t shelfmark_crc32c(uint32_t crc, const void *_Nonnull bytes, size_t count);

/// Whether the first four of `count` bytes are the CRC-32C of the four bytes of `unit` and then of the other bytes:
/// the check of every object and bucket. `count` is at least 4.
int shelfmark_has_valid_checksum(const void *_Nonnull bytes, size_t count, uint32_t unit);

/// The second word of the object at `object`, whose bits 0 to 23 tell its length: 0 if that is below 8 or above `room`, or if
/// the object does not pass the check above. `room` is at least 8.
uint32_t shelfmark_checked_header(const void *_Nonnull object, size_t room, uint32_t unit);

/// What an index bucket of 64 bytes says about a tag: bit i of the lower half for entry i, if it has that tag, and in the
/// upper half the bucket's second word. All bits set if it does not pass the check above or tells more than nine entries.
uint64_t shelfmark_search_bucket(const void *_Nonnull bucket, uint32_t unit, uint16_t tag);

/// Whether a dead bucket of 64 bytes lists a row: 1 or 0 in the lower half, and in the upper half the bucket's second word.
/// All bits set if it does not pass the check above or tells more than fourteen rows.
uint64_t shelfmark_search_dead_bucket(const void *_Nonnull bucket, uint32_t unit, uint32_t row);

/// The checksum from the table alone: for tests that hold the two against each other.
uint32_t shelfmark_crc32c_table(uint32_t crc, const void *_Nonnull bytes, size_t count);

/// Which of the fourteen 32-bit rows at `rows` equal `row`: bit i for row i. They fill 56 bytes.
static inline uint32_t shelfmark_match_rows(const void *_Nonnull rows, uint32_t row) {
  const uint8_t *bytes = (const uint8_t *)rows;
#if defined(__SSE2__)
  __m128i wanted = _mm_set1_epi32((int)row);
  __m128i first = _mm_cmpeq_epi32(_mm_loadu_si128((const __m128i *)bytes), wanted);
  __m128i second = _mm_cmpeq_epi32(_mm_loadu_si128((const __m128i *)(bytes + 16)), wanted);
  __m128i third = _mm_cmpeq_epi32(_mm_loadu_si128((const __m128i *)(bytes + 32)), wanted);
  __m128i last = _mm_cmpeq_epi32(_mm_loadl_epi64((const __m128i *)(bytes + 48)), wanted);
  // The upper half of the last four was loaded as zeros, which are no rows of the bucket.
  __m128i equal = _mm_packs_epi16(_mm_packs_epi32(first, second), _mm_packs_epi32(third, last));
  return (uint32_t)_mm_movemask_epi8(equal) & 0x3FFF;
#else
  uint32_t found = 0;
  for (int i = 0; i < 14; i++) {
    uint32_t each;
    __builtin_memcpy(&each, bytes + 4 * i, 4);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    each = __builtin_bswap32(each);
#endif
    found |= (uint32_t)(each == row) << i;
  }
  return found;
#endif
}

/// Which of the nine 16-bit tags at `tags` equal `tag`: bit i for tag i.
/// Nine tags fill 18 bytes; two more bytes behind them may be read.
static inline uint32_t shelfmark_match_tags(const void *_Nonnull tags, uint16_t tag) {
  const uint8_t *bytes = (const uint8_t *)tags;
  uint16_t ninth;
  __builtin_memcpy(&ninth, bytes + 16, 2);
  uint32_t found = (uint32_t)(ninth == tag) << 8;
#if defined(__SSE2__)
  __m128i equal = _mm_cmpeq_epi16(_mm_loadu_si128((const __m128i *)tags), _mm_set1_epi16((short)tag));
  return found | (uint32_t)_mm_movemask_epi8(_mm_packs_epi16(equal, _mm_setzero_si128()));
#else
  for (int i = 0; i < 8; i++) {
    uint16_t each;
    __builtin_memcpy(&each, bytes + 2 * i, 2);
    found |= (uint32_t)(each == tag) << i;
  }
  return found;
#endif
}

#endif
