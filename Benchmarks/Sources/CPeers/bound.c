// The bound: what is left of a catalogue when everything is left out but the two cache misses of a lookup. Records as
// the peers have them, each at a multiple of 64 bytes, and a table of tags for each key space, both mapped. No checks,
// no versions, no updates: an "update" appends the records and syncs them, which any store has to do at least.

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bound_format.h"

#ifdef __SSE2__
#include <emmintrin.h>
#endif

/// Lookups that are under way at once in a batch.
enum { BATCH = 16 };

// MARK: Lookups

typedef struct {
  const uint8_t *records;
  size_t record_bytes;
  table tables[TABLE_COUNT];
  /// For updates: a file to append to.
  int output;
  uint8_t *pending;
  size_t pending_count;
} store;

typedef store session;

/// A bit for each slot whose tag is this one.
static inline uint32_t matches(const bucket *b, uint16_t tag) {
#ifdef __SSE2__
  // The tags, the count and the filter are 24 bytes, of which the first 20 count.
  __m128i wanted = _mm_set1_epi16((short)tag);
  __m128i low = _mm_cmpeq_epi16(_mm_loadu_si128((const __m128i *)b->tags), wanted);
  __m128i high = _mm_cmpeq_epi16(_mm_loadl_epi64((const __m128i *)(b->tags + 8)), wanted);
  uint32_t bits = (uint32_t)_mm_movemask_epi8(_mm_packs_epi16(low, high));
#else
  uint32_t bits = 0;
  for (int slot = 0; slot < BUCKET_SLOTS; slot++) bits |= (uint32_t)(b->tags[slot] == tag) << slot;
#endif
  return bits & ((1u << b->count) - 1);
}

static inline bool has_key(table_name name, const uint8_t *object, slice key) {
  switch (name) {
  case BARCODES: return is_same(record_barcode(object), key);
  case IDS: return is_same(record_id(object), key);
  default: return is_same(relation_set(object + 8), key);
  }
}

static inline __attribute__((always_inline)) const uint8_t *find(
    const store *s, table_name name, slice key, uint64_t hash) {
  const table *t = &s->tables[name];
  uint64_t place = home(hash, t->count);
  uint16_t tag = tag_of(hash), filter = filter_of(hash);
  for (;;) {
    const bucket *b = &t->buckets[place];
    for (uint32_t bits = matches(b, tag); bits; bits &= bits - 1) {
      const uint8_t *object = s->records + (uint64_t)b->offsets[__builtin_ctz(bits)] * UNIT;
      if (has_key(name, object, key)) return object;
    }
    if (!(b->filter & filter)) return NULL;
    place = place + 1 == t->count ? 0 : place + 1;
  }
}

static inline int lookup_barcode(session *s, slice key, uint64_t *answer) {
  const uint8_t *record = find(s, BARCODES, key, hash_of(key));
  if (record) *answer = touch(record);
  return record != NULL;
}

static inline int lookup_id(session *s, slice key, uint64_t *answer) {
  const uint8_t *record = find(s, IDS, key, hash_of(key));
  if (record) *answer = touch(record);
  return record != NULL;
}

static inline int lookup_relations(session *s, slice key, uint64_t *answer) {
  const uint8_t *list = find(s, SETS, key, hash_of(key));
  if (list) *answer = touch_relations((slice){list + 8, (size_t)load64(list)});
  return list != NULL;
}

static int lookup_batch(session *s, const peer_keys *keys, size_t start, size_t count, uint64_t *sum);

#define HAS_BATCH
#include "peer_loops.h"

/// Asks for the buckets of 16 keys, then for their records, then looks.
static int lookup_batch(session *s, const peer_keys *keys, size_t start, size_t count, uint64_t *sum) {
  const table *t = &s->tables[BARCODES];
  uint64_t total = 0;
  for (size_t first = start; first < start + count; first += BATCH) {
    size_t size = start + count - first < BATCH ? start + count - first : BATCH;
    uint64_t hashes[BATCH];
    for (size_t index = 0; index < size; index++) {
      hashes[index] = hash_of(key_at(keys, first + index));
      __builtin_prefetch(&t->buckets[home(hashes[index], t->count)]);
    }
    for (size_t index = 0; index < size; index++) {
      const bucket *b = &t->buckets[home(hashes[index], t->count)];
      uint32_t bits = matches(b, tag_of(hashes[index]));
      if (bits) __builtin_prefetch(s->records + (uint64_t)b->offsets[__builtin_ctz(bits)] * UNIT);
    }
    for (size_t index = 0; index < size; index++) {
      const uint8_t *record = find(s, BARCODES, key_at(keys, first + index), hashes[index]);
      if (record) total += touch(record);
    }
  }
  *sum = total;
  return 0;
}

static int read_fields(void *s, const uint8_t *id, size_t id_count, peer_fields *fields) {
  slice key = {id, id_count};
  const uint8_t *record = find(s, IDS, key, hash_of(key));
  if (record) record_fields(record, fields);
  return record != NULL;
}

// MARK: Opening

static const void *map_file(const char *directory, const char *name, size_t *byte_count) {
  char path[4200];
  snprintf(path, sizeof path, "%s/%s", directory, name);
  int file = open(path, O_RDONLY | O_CLOEXEC);
  struct stat status;
  void *mapped = MAP_FAILED;
  if (file >= 0 && fstat(file, &status) == 0) {
    *byte_count = (size_t)status.st_size;
    // An empty file has no mapping; nothing will be looked for in it.
    mapped = *byte_count ? mmap(NULL, *byte_count, PROT_READ, MAP_SHARED, file, 0) : NULL;
    if (mapped && mapped != MAP_FAILED) madvise(mapped, *byte_count, MADV_RANDOM);
  }
  if (file >= 0) close(file);
  if (mapped == MAP_FAILED) peer_fail("mmap", path);
  return mapped;
}

static void close_store(void *argument) {
  store *s = argument;
  if (s->records && s->records != MAP_FAILED) munmap((void *)s->records, s->record_bytes);
  for (int name = 0; name < TABLE_COUNT; name++)
    if (s->tables[name].buckets) munmap((void *)s->tables[name].buckets, s->tables[name].count * sizeof(bucket));
  if (s->output > 0) close(s->output);
  free(s->pending);
  free(s);
}

static void *open_store(const char *directory, int writable) {
  store *s = calloc(1, sizeof *s);
  s->records = map_file(directory, "records", &s->record_bytes);
  bool is_open = s->records != MAP_FAILED;
  for (int name = 0; name < TABLE_COUNT && is_open; name++) {
    size_t byte_count = 0;
    const void *mapped = map_file(directory, table_file((table_name)name), &byte_count);
    is_open = mapped != MAP_FAILED;
    if (is_open) s->tables[name] = (table){mapped, byte_count / sizeof(bucket)};
  }
  if (is_open && writable) {
    char path[4200];
    snprintf(path, sizeof path, "%s/appended", directory);
    s->output = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    s->pending = malloc((size_t)4 << 20);
    is_open = s->output >= 0;
    if (!is_open) peer_fail("open", path);
  }
  if (is_open) return s;
  close_store(s);
  return NULL;
}

static void *begin_session(void *s) { return s; }
static void end_session(void *s) {}

// MARK: The bound of an update

static int begin(void *argument) {
  ((store *)argument)->pending_count = 0;
  return 0;
}

static int pend(store *s, const uint8_t *bytes, size_t count) {
  if (s->pending_count + count > (size_t)4 << 20) return peer_fail("put", "an increment is too large");
  memcpy(s->pending + s->pending_count, bytes, count);
  s->pending_count += count;
  return 0;
}

static int upsert(void *s, const uint8_t *record, size_t byte_count) { return pend(s, record, byte_count); }

static int replace_relations(void *s, const uint8_t *set, size_t set_count, const uint8_t *records, size_t byte_count) {
  return pend(s, records, byte_count);
}

static int erase(void *s, const uint8_t *id, size_t id_count) { return pend(s, id, id_count); }

static int commit(void *argument) {
  store *s = argument;
  if (write(s->output, s->pending, s->pending_count) != (ssize_t)s->pending_count || fdatasync(s->output))
    return peer_fail("write", "failed");
  return 0;
}

const peer_api peer_bound = {
    .name = "bound (C)",
    .store = "bound",
    .configuration = "no store: a mapped table of tags and mapped records of 64-byte units, MADV_RANDOM, nothing "
                     "checked; an update appends the records and syncs, and nobody finds them",
    .create = bound_create,
    .put_product = bound_put_product,
    .put_relations = bound_put_relations,
    .finish = bound_finish,
    .open = open_store,
    .close = close_store,
    .begin_session = begin_session,
    .end_session = end_session,
    .has = has_operation,
    .lookups = run_lookups,
    .fields = read_fields,
    .begin = begin,
    .upsert = upsert,
    .replace_relations = replace_relations,
    .erase = erase,
    .commit = commit,
};
