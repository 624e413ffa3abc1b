// What a batch has put so far: the batches of LevelDB and RocksDB cannot be read before they are written.
#pragma once

#include "prefixed_key.h"

enum { OVERLAY_SLOTS = 1 << 15 };

typedef struct {
  uint64_t hash;
  size_t key, key_count, value, value_count;
  bool is_deleted;
} overlay_entry;

typedef struct overlay {
  overlay_entry slots[OVERLAY_SLOTS];
  size_t count;
  buffer bytes;
} overlay;

static void overlay_clear(overlay *o) {
  memset(o->slots, 0, sizeof o->slots);
  o->count = 0;
  o->bytes.count = 0;
}

/// The slot of this key, or the empty one where it belongs. A hash is never 0, which stands for an empty slot.
static overlay_entry *overlay_find(overlay *o, const prefixed_key *key, uint64_t *hash) {
  uint64_t h = 0xcbf29ce484222325;
  for (size_t index = 0; index < key->count; index++) h = (h ^ (uint8_t)key->bytes[index]) * 0x100000001b3;
  h |= 1;
  *hash = h;
  for (size_t place = (h >> 20) % OVERLAY_SLOTS;; place = (place + 1) % OVERLAY_SLOTS) {
    overlay_entry *entry = &o->slots[place];
    if (entry->hash == 0) return entry;
    slice a = {o->bytes.bytes + entry->key, entry->key_count}, b = {(const uint8_t *)key->bytes, key->count};
    if (entry->hash == h && is_same(a, b)) return entry;
  }
}

static int overlay_put(overlay *o, const prefixed_key *key, slice value, bool is_deleted) {
  uint64_t hash;
  overlay_entry *entry = overlay_find(o, key, &hash);
  if (entry->hash == 0) {
    if (++o->count > OVERLAY_SLOTS / 2) return peer_fail("put", "a batch is too large");
    entry->hash = hash;
    entry->key = o->bytes.count;
    entry->key_count = key->count;
    buffer_append(&o->bytes, (slice){(const uint8_t *)key->bytes, key->count});
  }
  entry->is_deleted = is_deleted;
  entry->value = o->bytes.count;
  entry->value_count = value.count;
  if (value.count > 0) buffer_append(&o->bytes, value);
  return 0;
}

/// 1 where the batch put the key, 0 where it deleted it, -2 where it says nothing.
static int overlay_read(overlay *o, const prefixed_key *key, visitor *visit, void *argument) {
  uint64_t hash;
  overlay_entry *entry = overlay_find(o, key, &hash);
  if (entry->hash == 0) return -2;
  if (entry->is_deleted) return 0;
  visit(argument, (slice){o->bytes.bytes + entry->value, entry->value_count});
  return 1;
}
