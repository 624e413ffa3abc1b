// What LevelDB and RocksDB have in common: their C interfaces differ in the prefix of the names and in how a value is
// read. A file that includes this has defined LSM(name), `store` with the members `db`, `batch`, `read`, `write`,
// `pending` and `is_filling`, `session`, and
//
//     static inline int get(store *, const prefixed_key *, visitor *, void *)
#pragma once

static inline int kv_visit(session *s, key_space space, slice key, visitor *visit, void *argument) {
  prefixed_key name;
  prefix(&name, space, key);
  return get(s, &name, visit, argument);
}

static int kv_read(store *db, key_space space, slice key, visitor *visit, void *argument) {
  prefixed_key name;
  prefix(&name, space, key);
  if (db->pending) {
    int found = overlay_read(db->pending, &name, visit, argument);
    if (found != -2) return found;
  }
  return get(db, &name, visit, argument);
}

static int failed(const char *call, char *error) {
  peer_fail(call, error);
  LSM(free)(error);
  return -1;
}

static int kv_put(store *db, key_space space, slice key, slice value) {
  prefixed_key name;
  prefix(&name, space, key);
  if (db->is_filling) {
    char *error = NULL;
    LSM(put)(db->db, db->write, name.bytes, name.count, (const char *)value.bytes, value.count, &error);
    return error ? failed("put", error) : 0;
  }
  LSM(writebatch_put)(db->batch, name.bytes, name.count, (const char *)value.bytes, value.count);
  return overlay_put(db->pending, &name, value, false);
}

static int kv_delete(store *db, key_space space, slice key) {
  prefixed_key name;
  prefix(&name, space, key);
  LSM(writebatch_delete)(db->batch, name.bytes, name.count);
  return overlay_put(db->pending, &name, (slice){NULL, 0}, true);
}

static int begin(void *argument) {
  store *db = argument;
  LSM(writebatch_clear)(db->batch);
  overlay_clear(db->pending);
  return 0;
}

static int commit(void *argument) {
  store *db = argument;
  char *error = NULL;
  LSM(write)(db->db, db->write, db->batch, &error);
  return error ? failed("write", error) : 0;
}

static int compact(void *argument, const char *directory) {
  store *db = argument;
  LSM(compact_range)(db->db, NULL, 0, NULL, 0);
  return 0;
}

/// The object itself may be shared by threads.
static void *begin_session(void *db) { return db; }
static void end_session(void *s) {}
