#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "bound_format.h"

typedef struct {
  uint64_t hash;
  uint32_t offset;
} entry;

typedef struct {
  entry *entries;
  size_t count, capacity;
} entries;

typedef struct {
  char directory[4096];
  FILE *records;
  uint64_t units;
  entries tables[TABLE_COUNT];
} filling;

static FILE *open_output(const char *directory, const char *name) {
  char path[4200];
  snprintf(path, sizeof path, "%s/%s", directory, name);
  FILE *file = fopen(path, "w");
  if (file) setvbuf(file, NULL, _IOFBF, 1 << 20);
  else peer_fail("fopen", path);
  return file;
}

static int close_output(FILE *file) {
  int code = fflush(file) || fdatasync(fileno(file));
  return fclose(file) || code ? peer_fail("write", "failed") : 0;
}

void *bound_create(const char *directory, size_t product_count) {
  filling *f = calloc(1, sizeof *f);
  snprintf(f->directory, sizeof f->directory, "%s", directory);
  f->records = open_output(directory, "records");
  if (f->records) return f;
  free(f);
  return NULL;
}

static void add(entries *list, slice key, uint32_t offset) {
  if (list->count == list->capacity) {
    list->capacity = list->capacity ? 2 * list->capacity : 1024;
    list->entries = realloc(list->entries, list->capacity * sizeof(entry));
  }
  list->entries[list->count++] = (entry){hash_of(key), offset};
}

static int append(filling *f, const uint8_t *bytes, size_t count) {
  static const uint8_t zeros[UNIT];
  size_t padding = (UNIT - count % UNIT) % UNIT;
  if (fwrite(bytes, 1, count, f->records) != count || fwrite(zeros, 1, padding, f->records) != padding)
    return peer_fail("fwrite", "records");
  f->units += (count + padding) / UNIT;
  return 0;
}

int bound_put_product(void *argument, const uint8_t *bytes, size_t count, int is_shared) {
  filling *f = argument;
  slice barcode = record_barcode(bytes);
  if (barcode.count > 0) add(&f->tables[BARCODES], barcode, (uint32_t)f->units);
  add(&f->tables[IDS], record_id(bytes), (uint32_t)f->units);
  return append(f, bytes, count);
}

/// The list stands behind its length.
int bound_put_relations(void *argument, const uint8_t *set, size_t set_count, const uint8_t *records, size_t count) {
  filling *f = argument;
  static _Thread_local uint8_t list[1 << 20];
  if (count + 8 > sizeof list) return peer_fail("put", "too many relations");
  uint64_t length = count;
  memcpy(list, &length, 8);
  memcpy(list + 8, records, count);
  add(&f->tables[SETS], (slice){set, set_count}, (uint32_t)f->units);
  return append(f, list, count + 8);
}

/// Sorts by the highest bits of the hash, so that neighbours in the table are filled one after the other.
static entry *partitioned(const entries *list) {
  enum { PARTS = 1 << 12 };
  size_t *starts = calloc(PARTS + 1, sizeof *starts);
  for (size_t index = 0; index < list->count; index++) starts[(list->entries[index].hash >> 52) + 1]++;
  for (size_t part = 0; part < PARTS; part++) starts[part + 1] += starts[part];
  entry *sorted = malloc((list->count + 1) * sizeof *sorted);
  for (size_t index = 0; index < list->count; index++)
    sorted[starts[list->entries[index].hash >> 52]++] = list->entries[index];
  free(starts);
  return sorted;
}

static void insert(bucket *buckets, uint64_t bucket_count, entry e) {
  uint64_t place = home(e.hash, bucket_count);
  while (buckets[place].count == BUCKET_SLOTS) {
    buckets[place].filter |= filter_of(e.hash);
    place = place + 1 == bucket_count ? 0 : place + 1;
  }
  bucket *b = &buckets[place];
  b->tags[b->count] = tag_of(e.hash);
  b->offsets[b->count++] = e.offset;
}

static int write_table(filling *f, table_name name) {
  entries *list = &f->tables[name];
  uint64_t bucket_count = list->count * 4 / (3 * BUCKET_SLOTS) + 1;
  bucket *buckets = calloc(bucket_count, sizeof *buckets);
  entry *sorted = partitioned(list);
  free(list->entries);
  for (size_t index = 0; index < list->count; index++) insert(buckets, bucket_count, sorted[index]);
  free(sorted);
  FILE *file = open_output(f->directory, table_file(name));
  int code = file && fwrite(buckets, sizeof *buckets, bucket_count, file) == bucket_count ? close_output(file) : -1;
  free(buckets);
  return code;
}

int bound_finish(void *argument) {
  filling *f = argument;
  int code = close_output(f->records);
  for (table_name name = 0; name < TABLE_COUNT; name++)
    if (code == 0) code = write_table(f, name);
  free(f);
  return code;
}
