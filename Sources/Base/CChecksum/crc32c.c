#include "CChecksum.h"

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

// Three streams.
//
// The instruction has a latency of three cycles, and a new one can begin in each cycle. So a long message is divided into
// three equal parts, whose states are computed next to each other. The state of an earlier part goes into the last one as
// if the words of the later parts, as zeros, followed it: it is multiplied by a power of x without carries, and one step
// reduces the product (Gopal, Ozturk, Guilford and others, "Fast CRC Computation for iSCSI Polynomial Using CRC32
// Instruction", 2011).

/// The number of words from which three streams are taken. They gain from 18 on; most objects of a catalogue are shorter
/// than this, so that a lookup does not depend on a guess.
#define STREAMS_MINIMUM 24
/// The largest number of words of a part.
#define STREAM_LIMIT 128

/// The factors that take a state n words further: x to the power of 64 n - 33, for the step that follows has 33 left.
static uint32_t factors[2 * STREAM_LIMIT + 1];

__attribute__((constructor)) static void fill_factors(void) {
  // In the mirrored order of bits, the highest one is x to the power of 0.
  uint32_t power = 0x80000000u;
  for (int bits = 1; bits <= 64 * (2 * STREAM_LIMIT) - 33; bits++) {
    power = (power >> 1) ^ (0x82F63B78u & (0u - (power & 1)));
    if ((bits + 33) % 64 == 0) factors[(bits + 33) / 64] = power;
  }
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

// Where the processor has an instruction for it, everything below is made of two steps: `step64` takes a state eight bytes
// further, `step32` four.

#if defined(__x86_64__)

#include <nmmintrin.h>
#include <wmmintrin.h>

#define HAS_STEPS 1
#define HAS_PRODUCT 1
#define STEPS __attribute__((target("sse4.2,pclmul")))

static int has_instruction;

__attribute__((constructor)) static void look_for_instruction(void) {
  __builtin_cpu_init();
  // Every processor that has the first one has the second one too, except in some virtual machines.
  has_instruction = __builtin_cpu_supports("sse4.2") && __builtin_cpu_supports("pclmul");
}

/// The product without carries.
STEPS static inline uint64_t product(uint64_t a, uint64_t b) {
  return (uint64_t)_mm_cvtsi128_si64(_mm_clmulepi64_si128(_mm_cvtsi64_si128((long long)a), _mm_cvtsi64_si128((long long)b), 0));
}

STEPS static inline uint64_t step64(uint64_t state, uint64_t word) { return _mm_crc32_u64(state, word); }

STEPS static inline uint64_t step32(uint64_t state, uint32_t word) { return _mm_crc32_u32((uint32_t)state, word); }

#elif defined(__ARM_FEATURE_CRC32)

#include <arm_acle.h>

#define HAS_STEPS 1
#define STEPS
enum { has_instruction = 1 };

#if defined(__ARM_FEATURE_AES) && defined(__ARM_NEON)

#include <arm_neon.h>

#define HAS_PRODUCT 1

static inline uint64_t product(uint64_t a, uint64_t b) { return (uint64_t)vmull_p64((poly64_t)a, (poly64_t)b); }

#endif

static inline uint64_t step64(uint64_t state, uint64_t word) { return __crc32cd((uint32_t)state, word); }

static inline uint64_t step32(uint64_t state, uint32_t word) { return __crc32cw((uint32_t)state, word); }

#endif

#ifdef HAS_STEPS

/// The state after the last bytes before `end`, as many as `count` has beyond a multiple of eight; the seven before them
/// may be read too.
///
/// Zeros in front of a message do not change a state of zero. So the bytes are moved to the upper end of a word, and with
/// them the state, which goes into a checksum in the same way as the first bytes: one step, and no branch, for any count.
STEPS static inline uint64_t tail(uint64_t state, const uint8_t *end, size_t count) {
  unsigned bits = 8 * (unsigned)(count & 7);
  // In two shifts, for no bits at all would be a shift by 64.
  uint64_t kept = ~(uint64_t)0 << 1 << (63 - bits);
  return step64(0, (load64(end - 8) & kept) ^ state << 1 << (63 - bits)) ^ state >> bits;
}

#ifdef HAS_PRODUCT

/// The state after the first of the words between `*start` and `end`, three equal parts of at most `STREAM_LIMIT` words.
/// `*start` is moved behind them.
STEPS static inline uint64_t streams(uint64_t state, const uint8_t **start, const uint8_t *end) {
  size_t count = (size_t)(end - *start) / 24;
  if (count > STREAM_LIMIT) count = STREAM_LIMIT;
  const uint8_t *a = *start, *b = a + 8 * count, *c = b + 8 * count;
  uint64_t second = 0, third = 0;
  for (size_t offset = 0; offset < 8 * count; offset += 8) {
    state = step64(state, load64(a + offset));
    second = step64(second, load64(b + offset));
    third = step64(third, load64(c + offset));
  }
  *start = c + 8 * count;
  return step64(0, product(state, factors[2 * count]) ^ product(second, factors[count])) ^ third;
}

#endif

STEPS static inline uint64_t words(uint64_t state, const uint8_t *p, const uint8_t *end) {
#ifdef HAS_PRODUCT
  while (end - p >= 8 * STREAMS_MINIMUM) state = streams(state, &p, end);
#endif
  for (; p < end; p += 8) state = step64(state, load64(p));
  return state;
}

STEPS static uint32_t crc32c_by_steps(uint32_t crc, const uint8_t *p, size_t count) {
  uint64_t state = (uint32_t)~crc;
  if (count < 8) {
    uint8_t padded[16] = {0};
    __builtin_memcpy(padded + 8, p, count);
    return ~(uint32_t)tail(state, padded + 8 + count, count);
  }
  state = words(state, p, p + (count & ~(size_t)7));
  return ~(uint32_t)tail(state, p + count, count);
}

/// The checksum that an object has to have.
///
/// How long the objects of a catalogue are is not to be foreseen. Each branch on it that the processor guesses wrong costs
/// more than the steps it spares, and spoils what was begun of the next lookup: so words are taken four at a time,
/// and what is left of them without a branch.
STEPS static inline uint32_t object_crc_by_steps(const uint8_t *object, size_t count, uint32_t unit) {
  uint64_t state = step32(step32(~0u, unit), load32(object + 4));
  const uint8_t *p = object + 8, *end = object + count;
  if (count < 40) {
    for (const uint8_t *last = object + (count & ~(size_t)7); p < last; p += 8) state = step64(state, load64(p));
    return ~(uint32_t)tail(state, end, count);
  }
#pragma clang loop unroll(disable)
  for (; end - p >= 32; p += 32) {
    state = step64(state, load64(p));
    state = step64(state, load64(p + 8));
    state = step64(state, load64(p + 16));
    state = step64(state, load64(p + 24));
  }
  // Two words or none, one or none: those before, which are there, are read in vain.
  size_t two = (size_t)(end - p) & 16;
  uint64_t next = step64(step64(state, load64(p + two - 16)), load64(p + two - 8));
  state = two ? next : state;
  p += two;
  size_t one = (size_t)(end - p) & 8;
  next = step64(state, load64(p + one - 8));
  state = one ? next : state;
  return ~(uint32_t)tail(state, end, count);
}

/// Whether an object is long enough for three streams.
static inline int is_long(size_t count) {
#ifdef HAS_PRODUCT
  return __builtin_expect(count >= 8 + 8 * STREAMS_MINIMUM, 0);
#else
  return 0;
#endif
}

/// The same for a long object.
STEPS static inline uint32_t long_object_crc_by_steps(const uint8_t *object, size_t count, uint32_t unit) {
  uint64_t state = step32(step32(~0u, unit), load32(object + 4));
  return ~(uint32_t)tail(words(state, object + 8, object + (count & ~(size_t)7)), object + count, count);
}

/// The same for the 64 bytes of a bucket.
STEPS static inline uint32_t bucket_crc_by_steps(const uint8_t *bucket, size_t count, uint32_t unit) {
  uint64_t state = step32(step32(~0u, unit), load32(bucket + 4));
  for (int offset = 8; offset < (int)count; offset += 8) state = step64(state, load64(bucket + offset));
  return ~(uint32_t)state;
}

#endif

uint32_t shelfmark_crc32c(uint32_t crc, const void *bytes, size_t count) {
#ifdef HAS_STEPS
  if (__builtin_expect(has_instruction, 1)) return crc32c_by_steps(crc, (const uint8_t *)bytes, count);
#endif
  return shelfmark_crc32c_table(crc, bytes, count);
}

static uint32_t object_crc_by_table(const uint8_t *object, size_t count, uint32_t unit) {
  const uint8_t salt[4] = {(uint8_t)unit, (uint8_t)(unit >> 8), (uint8_t)(unit >> 16), (uint8_t)(unit >> 24)};
  return shelfmark_crc32c_table(shelfmark_crc32c_table(0, salt, 4), object + 4, count - 4);
}

// The checks, written once and compiled for steps and table: `crc` is a constant where they are inlined.

typedef uint32_t object_crc(const uint8_t *object, size_t count, uint32_t unit);
#define INLINE static inline __attribute__((always_inline))

INLINE uint32_t checked_header(object_crc *crc, const uint8_t *object, size_t room, uint32_t unit) {
  uint32_t word = load32(object + 4), count = word & 0xFFFFFF;
  if (count < 8 || count > room) return 0;
  // A branch, so that the word is known at once: what stands behind the check need not wait for the sum.
  if (__builtin_expect(load32(object) != crc(object, count, unit), 0)) return 0;
  return word;
}

INLINE uint64_t search_bucket(object_crc *crc, const uint8_t *bucket, uint32_t unit, uint16_t tag) {
  uint32_t word = load32(bucket + 4), count = word >> 24;
  if (count > 9 || load32(bucket) != crc(bucket, 64, unit)) return UINT64_MAX;
  uint32_t entries = shelfmark_match_tags(bucket + 8, tag) & ((1u << count) - 1);
  return (uint64_t)word << 32 | entries;
}

INLINE uint64_t search_dead_bucket(object_crc *crc, const uint8_t *bucket, uint32_t unit, uint32_t row) {
  uint32_t word = load32(bucket + 4), count = word >> 24;
  if (count > 14 || load32(bucket) != crc(bucket, 64, unit)) return UINT64_MAX;
  uint32_t entries = shelfmark_match_rows(bucket + 8, row) & ((1u << count) - 1);
  return (uint64_t)word << 32 | (entries != 0);
}

#ifdef HAS_STEPS

/// A function of its own, so that the streams cost short objects no register.
STEPS static __attribute__((noinline)) uint32_t checked_long_header(const uint8_t *object, size_t room, uint32_t unit) {
  return checked_header(long_object_crc_by_steps, object, room, unit);
}

STEPS static uint32_t checked_header_by_steps(const uint8_t *object, size_t room, uint32_t unit) {
  if (is_long(load32(object + 4) & 0xFFFFFF)) return checked_long_header(object, room, unit);
  return checked_header(object_crc_by_steps, object, room, unit);
}

STEPS static uint64_t search_bucket_by_steps(const uint8_t *bucket, uint32_t unit, uint16_t tag) {
  return search_bucket(bucket_crc_by_steps, bucket, unit, tag);
}

STEPS static uint64_t search_dead_bucket_by_steps(const uint8_t *bucket, uint32_t unit, uint32_t row) {
  return search_dead_bucket(bucket_crc_by_steps, bucket, unit, row);
}

#endif

uint32_t shelfmark_checked_header(const void *object, size_t room, uint32_t unit) {
#ifdef HAS_STEPS
  if (__builtin_expect(has_instruction, 1)) return checked_header_by_steps((const uint8_t *)object, room, unit);
#endif
  return checked_header(object_crc_by_table, (const uint8_t *)object, room, unit);
}

uint64_t shelfmark_search_bucket(const void *bucket, uint32_t unit, uint16_t tag) {
#ifdef HAS_STEPS
  if (__builtin_expect(has_instruction, 1)) return search_bucket_by_steps((const uint8_t *)bucket, unit, tag);
#endif
  return search_bucket(object_crc_by_table, (const uint8_t *)bucket, unit, tag);
}

uint64_t shelfmark_search_dead_bucket(const void *bucket, uint32_t unit, uint32_t row) {
#ifdef HAS_STEPS
  if (__builtin_expect(has_instruction, 1)) {
    return search_dead_bucket_by_steps((const uint8_t *)bucket, unit, row);
  }
#endif
  return search_dead_bucket(object_crc_by_table, (const uint8_t *)bucket, unit, row);
}

int shelfmark_has_valid_checksum(const void *bytes, size_t count, uint32_t unit) {
#ifdef HAS_STEPS
  if (has_instruction && count >= 8) {
    const uint8_t *object = (const uint8_t *)bytes;
    return load32(object) ==
           (is_long(count) ? long_object_crc_by_steps(object, count, unit) : object_crc_by_steps(object, count, unit));
  }
#endif
  return load32((const uint8_t *)bytes) == object_crc_by_table((const uint8_t *)bytes, count, unit);
}
