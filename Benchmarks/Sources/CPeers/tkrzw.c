#ifdef PEER_TKRZW

#include <stdio.h>
#include <tkrzw_langc.h>

#include "record.h"

typedef TkrzwDBM store;
typedef TkrzwDBM session;

#include "prefixed_key.h"

static int failed(const char *call) { return peer_fail(call, tkrzw_get_last_status_message()); }

typedef struct {
  visitor *visit;
  void *argument;
  int found;
} visiting;

/// Reads the value where it lies: `tkrzw_dbm_get` would copy it into memory of its own.
static const char *visit_record(
    void *argument, const char *key, int32_t key_count, const char *value, int32_t count, int32_t *new_count) {
  visiting *v = argument;
  if (value) {
    v->visit(v->argument, (slice){(const uint8_t *)value, (size_t)count});
    v->found = 1;
  }
  return TKRZW_REC_PROC_NOOP;
}

static inline int kv_visit(session *s, key_space space, slice key, visitor *visit, void *argument) {
  prefixed_key name;
  prefix(&name, space, key);
  visiting v = {visit, argument, 0};
  if (!tkrzw_dbm_process(s, name.bytes, (int32_t)name.count, visit_record, &v, false)) return failed("process");
  return v.found;
}

static int kv_read(store *db, key_space space, slice key, visitor *visit, void *argument) {
  return kv_visit(db, space, key, visit, argument);
}

static int kv_put(store *db, key_space space, slice key, slice value) {
  prefixed_key name;
  prefix(&name, space, key);
  bool done = tkrzw_dbm_set(
      db, name.bytes, (int32_t)name.count, (const char *)value.bytes, (int32_t)value.count, true);
  return done ? 0 : failed("set");
}

static int kv_delete(store *db, key_space space, slice key) {
  prefixed_key name;
  prefix(&name, space, key);
  if (tkrzw_dbm_remove(db, name.bytes, (int32_t)name.count)) return 0;
  return tkrzw_get_last_status_code() == TKRZW_STATUS_NOT_FOUND_ERROR ? 0 : failed("remove");
}

static void *open_with(const char *directory, bool writable, const char *options) {
  char path[4096];
  snprintf(path, sizeof path, "%s/catalog.tkh", directory);
  TkrzwDBM *db = tkrzw_dbm_open(path, writable, options);
  if (!db) failed("open");
  return db;
}

static void *create_store(const char *directory, size_t product_count) {
  char options[128];
  // Two keys and a bit for each product, and a bucket for each key.
  snprintf(
      options, sizeof options, "dbm=HashDBM,truncate=true,num_buckets=%zu,offset_width=5,align_pow=3",
      product_count * 21 / 10 + 1000);
  return open_with(directory, true, options);
}

static void *open_store(const char *directory, int writable) { return open_with(directory, writable, "dbm=HashDBM"); }

static void close_store(void *db) { tkrzw_dbm_close(db); }

static int commit(void *db) { return tkrzw_dbm_synchronize(db, true, NULL, NULL, "") ? 0 : failed("synchronize"); }

static int finish(void *db) {
  int code = commit(db);
  return tkrzw_dbm_close(db) ? code : failed("close");
}

/// The object itself may be shared by threads.
static void *begin_session(void *db) { return db; }
static void end_session(void *s) {}
static int begin(void *db) { return 0; }
static int compact(void *db, const char *directory) {
  return tkrzw_dbm_rebuild(db, "") ? 0 : failed("rebuild");
}

const peer_api peer_tkrzw = {
    .name = "tkrzw HashDBM",
    .store = "tkrzw",
    .configuration = "a bucket for each key, mapped file, values read in place; an update is durable by a hard "
                     "synchronize, but not all or nothing",
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
    .begin = begin,
    .upsert = upsert,
    .replace_relations = replace_relations,
    .erase = erase,
    .commit = commit,
    .compact = compact,
};

#endif
