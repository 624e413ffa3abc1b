// The files of the bound: records, each at a multiple of 64 bytes, and a table of tags for each key space.
#pragma once

#include "record.h"

enum { BUCKET_SLOTS = 10, UNIT = 64 };

/// One cache line. An entry that finds its bucket full goes to the next one, and leaves a bit in the filter of each
/// bucket that it passes.
typedef struct {
  uint16_t tags[BUCKET_SLOTS];
  uint16_t count;
  uint16_t filter;
  /// In units of 64 bytes.
  uint32_t offsets[BUCKET_SLOTS];
} bucket;

_Static_assert(sizeof(bucket) == 64, "a bucket is a cache line");

typedef struct {
  const bucket *buckets;
  uint64_t count;
} table;

typedef enum { BARCODES, IDS, SETS, TABLE_COUNT } table_name;

static inline const char *table_file(table_name name) { return (const char *[]){"barcodes", "ids", "sets"}[name]; }

// MARK: Hash

static inline uint64_t mix(uint64_t a, uint64_t b) {
  unsigned __int128 product = (unsigned __int128)a * b;
  return (uint64_t)product ^ (uint64_t)(product >> 64);
}

static inline uint64_t hash_of(slice key) {
  const uint64_t c0 = 0x9E3779B97F4A7C15, c1 = 0xD6E8FEB86659FD93;
  const uint8_t *bytes = key.bytes;
  size_t rest = key.count;
  uint64_t hash = c0 ^ key.count, a = 0, b = 0;
  for (; rest > 16; rest -= 16, bytes += 16)
    hash = mix((uint64_t)load64(bytes) ^ c1, (uint64_t)load64(bytes + 8) ^ hash);
  if (rest >= 8) {
    a = (uint64_t)load64(bytes);
    b = (uint64_t)load64(bytes + rest - 8);
  } else if (rest >= 4) {
    a = load32(bytes);
    b = load32(bytes + rest - 4);
  } else if (rest > 0) {
    a = (uint64_t)bytes[0] | (uint64_t)bytes[rest / 2] << 8 | (uint64_t)bytes[rest - 1] << 16;
  }
  return mix(c0 ^ key.count, mix(a ^ c1, b ^ hash));
}

static inline uint64_t home(uint64_t hash, uint64_t bucket_count) {
  return (uint64_t)(((unsigned __int128)hash * bucket_count) >> 64);
}

static inline uint16_t tag_of(uint64_t hash) { return (uint16_t)hash; }
static inline uint16_t filter_of(uint64_t hash) { return (uint16_t)(1u << (hash >> 16 & 15)); }

// Filling, in bound_fill.c.
void *bound_create(const char *directory, size_t product_count);
int bound_put_product(void *filling, const uint8_t *bytes, size_t count, int is_shared);
int bound_put_relations(void *filling, const uint8_t *set, size_t set_count, const uint8_t *records, size_t count);
int bound_finish(void *filling);
