#ifdef PEER_LMDB

#include <lmdb.h>
#include <stdlib.h>

#include "index_key.h"

typedef struct {
  MDB_env *env;
  MDB_dbi rows, index;
  /// The transaction that writes, or the one that all reads share.
  MDB_txn *writing, *reading;
  int is_filling;
  size_t put_count;
} store;

static int failed(const char *call, int code) { return ordered_failed(call, mdb_strerror(code)); }

static void close_store(void *argument) {
  store *db = argument;
  if (db->writing) mdb_txn_abort(db->writing);
  if (db->reading) mdb_txn_abort(db->reading);
  mdb_env_close(db->env);
  free(db);
}

static int begin(void *argument) {
  store *db = argument;
  if (db->reading) mdb_txn_abort(db->reading);
  db->reading = NULL;
  int code = mdb_txn_begin(db->env, NULL, 0, &db->writing);
  return code ? failed("mdb_txn_begin", code) : 0;
}

static int commit(void *argument) {
  store *db = argument;
  int code = mdb_txn_commit(db->writing);
  db->writing = NULL;
  return code ? failed("mdb_txn_commit", code) : 0;
}

static void *open_store(const char *directory, int is_filling) {
  store *db = calloc(1, sizeof *db);
  db->is_filling = is_filling;
  int code = mdb_env_create(&db->env);
  if (!code) code = mdb_env_set_maxdbs(db->env, 2);
  // Addresses, not memory.
  if (!code) code = mdb_env_set_mapsize(db->env, (size_t)64 << 30);
  if (!code) code = mdb_env_open(db->env, directory, MDB_NORDAHEAD | (is_filling ? MDB_NOSYNC : 0), 0600);
  if (!code) code = mdb_txn_begin(db->env, NULL, 0, &db->writing);
  if (!code) code = mdb_dbi_open(db->writing, "rows", MDB_CREATE, &db->rows);
  if (!code) code = mdb_dbi_open(db->writing, "index", MDB_CREATE, &db->index);
  if (!code) return commit(db) < 0 ? (close_store(db), NULL) : db;
  failed("mdb_env_open", code);
  close_store(db);
  return NULL;
}

static int put(void *argument, uint64_t number, const uint8_t *body, size_t byte_count, const uint8_t *old_body) {
  store *db = argument;
  uint8_t id[8], name[INDEX_KEY_BYTES];
  put_number(id, number);
  MDB_val key = {sizeof id, id}, value = {byte_count, (void *)body};
  int code = mdb_put(db->writing, db->rows, &key, &value, 0);
  key = (MDB_val){sizeof name, name};
  if (!code && old_body) {
    put_index_key(name, old_body, number);
    code = mdb_del(db->writing, db->index, &key, NULL);
  }
  if (!code) {
    put_index_key(name, body, number);
    value = (MDB_val){0, NULL};
    code = mdb_put(db->writing, db->index, &key, &value, 0);
  }
  if (code) return failed("mdb_put", code);
  // Each transaction holds the pages that it touches in memory.
  if (db->is_filling && ++db->put_count % 500000 == 0) return commit(db) < 0 ? -1 : begin(db);
  return 0;
}

static int finish(void *argument) {
  store *db = argument;
  int code = mdb_env_sync(db->env, 1);
  return code ? failed("mdb_env_sync", code) : 0;
}

static int walk(void *argument, const uint8_t *key, size_t limit, uint64_t *sum, uint64_t *row_count) {
  store *db = argument;
  int code = db->reading ? 0 : mdb_txn_begin(db->env, NULL, MDB_RDONLY, &db->reading);
  if (code) return failed("mdb_txn_begin", code);
  MDB_cursor *cursor;
  code = mdb_cursor_open(db->reading, db->index, &cursor);
  if (code) return failed("mdb_cursor_open", code);
  MDB_val name = {ORDERED_KEY_BYTES, (void *)key}, value;
  code = mdb_cursor_get(cursor, &name, &value, MDB_SET_RANGE);
  for (size_t count = 0; !code && count < limit; count++) {
    MDB_val id = {8, (uint8_t *)name.mv_data + ORDERED_KEY_BYTES};
    code = mdb_get(db->reading, db->rows, &id, &value);
    if (code) break;
    *sum += ((const uint8_t *)value.mv_data)[value.mv_size - 1];
    *row_count += 1;
    code = mdb_cursor_get(cursor, &name, &value, MDB_NEXT);
  }
  mdb_cursor_close(cursor);
  return code && code != MDB_NOTFOUND ? failed("mdb_cursor_get", code) : 0;
}

const ordered_peer ordered_lmdb = {
    .name = "LMDB",
    .configuration = "two tables, one read transaction for all reads, MDB_NORDAHEAD, a sync for each commit",
    .open = open_store,
    .close = close_store,
    .begin = begin,
    .put = put,
    .commit = commit,
    .finish = finish,
    .walk = walk,
};

#endif
