#ifdef PEER_CDB

#include <cdb.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "record.h"

typedef struct cdb session;

#define KV_IS_CONSTANT
#include "prefixed_key.h"

/// A key may have several values here, one after the other.
static inline int kv_visit(session *s, key_space space, slice key, visitor *visit, void *argument) {
  prefixed_key name;
  prefix(&name, space, key);
  struct cdb_find find;
  int found = cdb_findinit(&find, s, name.bytes, (unsigned)name.count);
  bool is_there = false;
  while (found > 0 && (found = cdb_findnext(&find)) > 0) {
    const uint8_t *value = cdb_getdata(s);
    if (!value) return peer_fail("cdb_getdata", "damaged file");
    is_there = true;
    if (visit(argument, (slice){value, cdb_datalen(s)})) break;
  }
  return found < 0 ? peer_fail("cdb_find", "damaged file") : is_there;
}

typedef struct {
  struct cdb_make make;
  int file;
} filling;

static int open_file(const char *directory, int flags) {
  char path[4096];
  snprintf(path, sizeof path, "%s/catalog.cdb", directory);
  int file = open(path, flags | O_CLOEXEC, 0600);
  if (file < 0) peer_fail("open", path);
  return file;
}

static void *create_store(const char *directory, size_t product_count) {
  filling *f = calloc(1, sizeof *f);
  f->file = open_file(directory, O_RDWR | O_CREAT | O_TRUNC);
  if (f->file >= 0 && cdb_make_start(&f->make, f->file) == 0) return f;
  free(f);
  return NULL;
}

static int add(filling *f, key_space space, slice key, slice value) {
  if (key.count > LONGEST_KEY) return peer_fail("put", "a key is too long");
  prefixed_key name;
  prefix(&name, space, key);
  int code = cdb_make_add(&f->make, name.bytes, (unsigned)name.count, value.bytes, (unsigned)value.count);
  return code ? peer_fail("cdb_make_add", "failed") : 0;
}

static int put_new(void *f, const uint8_t *bytes, size_t count, int is_shared) {
  slice record = {bytes, count}, barcode = record_barcode(bytes), id = record_id(bytes);
  if (add(f, BY_ID, id, barcode) < 0) return -1;
  return barcode.count == 0 ? add(f, WITHOUT_BARCODE, id, record) : add(f, BY_BARCODE, barcode, record);
}

static int put_relations(void *f, const uint8_t *set, size_t set_count, const uint8_t *records, size_t count) {
  return add(f, RELATIONS, (slice){set, set_count}, (slice){records, count});
}

static int finish(void *argument) {
  filling *f = argument;
  int code = cdb_make_finish(&f->make);
  if (!code) code = fdatasync(f->file);
  close(f->file);
  free(f);
  return code ? peer_fail("cdb_make_finish", "failed") : 0;
}

static void *open_store(const char *directory, int writable) {
  if (writable) {
    peer_fail("open", "a constant database is not written again");
    return NULL;
  }
  int *file = malloc(sizeof *file);
  *file = open_file(directory, O_RDONLY);
  if (*file >= 0) return file;
  free(file);
  return NULL;
}

static void close_store(void *file) {
  close(*(int *)file);
  free(file);
}

static void *begin_session(void *file) {
  struct cdb *s = calloc(1, sizeof *s);
  if (cdb_init(s, *(int *)file) == 0) return s;
  peer_fail("cdb_init", "failed");
  free(s);
  return NULL;
}

static void end_session(void *s) {
  cdb_free(s);
  free(s);
}

const peer_api peer_cdb = {
    .name = "tinycdb",
    .store = "cdb",
    .configuration = "a constant database, mapped; it cannot be updated, and ends at 4 GiB",
    .limit = 8000000,
    .create = create_store,
    .put_product = put_new,
    .put_relations = put_relations,
    .finish = finish,
    .open = open_store,
    .close = close_store,
    .begin_session = begin_session,
    .end_session = end_session,
    .has = has_operation,
    .lookups = run_lookups,
    .fields = read_fields,
};

#endif
