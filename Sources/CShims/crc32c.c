#include "CShims.h"

// Reflected polynomial 0x82F63B78 (0x1EDC6F41 mirrored), slicing by eight (Kounavis and Berry 2005).

static uint32_t table[8][256];

__attribute__((constructor)) static void fill_table(void) {
  for (uint32_t i = 0; i < 256; i++) {
    uint32_t value = i;
    for (int bit = 0; bit < 8; bit++) value = (value >> 1) ^ (0x82F63B78u & (0u - (value & 1)));
    table[0][i] = value;
  }
  for (uint32_t i = 0; i < 256; i++)
    for (int slice = 1; slice < 8; slice++)
      table[slice][i] = (table[slice - 1][i] >> 8) ^ table[0][table[slice - 1][i] & 0xFF];
}

static inline uint64_t load64(const uint8_t *bytes) {
  uint64_t word;
  __builtin_memcpy(&word, bytes, 8);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
  word = __builtin_bswap64(word);
#endif
  return word;
}

static inline uint32_t load32(const uint8_t *bytes) {
  uint32_t word;
  __builtin_memcpy(&word, bytes, 4);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
  word = __builtin_bswap32(word);
#endif
  return word;
}

uint32_t shelfmark_crc32c_table(uint32_t crc, const void *bytes, size_t count) {
  const uint8_t *p = (const uint8_t *)bytes;
  uint32_t state = ~crc;
  for (; count >= 8; count -= 8, p += 8) {
    uint64_t word = load64(p) ^ state;
    state = table[7][word & 0xFF] ^ table[6][word >> 8 & 0xFF] ^ table[5][word >> 16 & 0xFF] ^
            table[4][word >> 24 & 0xFF] ^ table[3][word >> 32 & 0xFF] ^ table[2][word >> 40 & 0xFF] ^
            table[1][word >> 48 & 0xFF] ^ table[0][word >> 56];
  }
  for (; count > 0; count--, p++) state = (state >> 8) ^ table[0][(state ^ *p) & 0xFF];
  return ~state;
}

/// The check from whatever `shelfmark_crc32c` is.
static inline int is_whole(const uint8_t *p, size_t count, uint32_t salt) {
  const uint8_t first[4] = {(uint8_t)salt, (uint8_t)(salt >> 8), (uint8_t)(salt >> 16), (uint8_t)(salt >> 24)};
  return load32(p) == shelfmark_crc32c(shelfmark_crc32c(0, first, 4), p + 4, count - 4);
}

#if defined(__x86_64__)

#include <nmmintrin.h>

__attribute__((target("sse4.2"))) static uint32_t crc32c_instruction(
    uint32_t crc, const uint8_t *p, size_t count) {
  uint64_t state = (uint32_t)~crc;
  for (; count >= 8; count -= 8, p += 8) state = _mm_crc32_u64(state, load64(p));
  // Buckets are checked over 60 bytes: a step of four spares four of one.
  if (count >= 4) {
    state = _mm_crc32_u32((uint32_t)state, load32(p));
    count -= 4;
    p += 4;
  }
  for (; count > 0; count--, p++) state = _mm_crc32_u8((uint32_t)state, *p);
  return ~(uint32_t)state;
}

static int has_instruction;

__attribute__((constructor)) static void look_for_instruction(void) {
  __builtin_cpu_init();
  has_instruction = __builtin_cpu_supports("sse4.2");
}

uint32_t shelfmark_crc32c(uint32_t crc, const void *bytes, size_t count) {
  if (__builtin_expect(has_instruction, 1)) return crc32c_instruction(crc, (const uint8_t *)bytes, count);
  return shelfmark_crc32c_table(crc, bytes, count);
}

__attribute__((target("sse4.2"))) static int is_whole_by_instruction(
    const uint8_t *p, size_t count, uint32_t salt) {
  uint32_t state = ~_mm_crc32_u32(~0u, salt);
  return load32(p) == crc32c_instruction(state, p + 4, count - 4);
}

int shelfmark_is_whole(const void *bytes, size_t count, uint32_t salt) {
  if (__builtin_expect(has_instruction, 1)) return is_whole_by_instruction((const uint8_t *)bytes, count, salt);
  return is_whole((const uint8_t *)bytes, count, salt);
}

#elif defined(__ARM_FEATURE_CRC32)

#include <arm_acle.h>

uint32_t shelfmark_crc32c(uint32_t crc, const void *bytes, size_t count) {
  const uint8_t *p = (const uint8_t *)bytes;
  uint32_t state = ~crc;
  for (; count >= 8; count -= 8, p += 8) state = __crc32cd(state, load64(p));
  for (; count > 0; count--, p++) state = __crc32cb(state, *p);
  return ~state;
}

int shelfmark_is_whole(const void *bytes, size_t count, uint32_t salt) {
  return is_whole((const uint8_t *)bytes, count, salt);
}

#else

uint32_t shelfmark_crc32c(uint32_t crc, const void *bytes, size_t count) {
  return shelfmark_crc32c_table(crc, bytes, count);
}

int shelfmark_is_whole(const void *bytes, size_t count, uint32_t salt) {
  return is_whole((const uint8_t *)bytes, count, salt);
}

#endif
