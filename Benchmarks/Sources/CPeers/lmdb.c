#ifdef PEER_LMDB

#include <fcntl.h>
#include <lmdb.h>
#include <stdio.h>
#include <unistd.h>

#include "record.h"

typedef struct {
  char directory[4096];
  MDB_env *env;
  MDB_dbi spaces[4];
  MDB_txn *txn;
  size_t put_count;
  int is_filling;
} store;

typedef struct {
  MDB_txn *txn;
  const MDB_dbi *spaces;
} session;

#include "kv_peer.h"

static int failed(const char *call, int code) { return peer_fail(call, mdb_strerror(code)); }

static inline int get(
    MDB_txn *txn, MDB_dbi space, slice key, visitor *visit, void *argument) {
  MDB_val name = {key.count, (void *)key.bytes}, value;
  int code = mdb_get(txn, space, &name, &value);
  if (code == MDB_NOTFOUND) return 0;
  if (code != 0) return failed("mdb_get", code);
  visit(argument, (slice){value.mv_data, value.mv_size});
  return 1;
}

static inline int kv_visit(session *s, key_space space, slice key, visitor *visit, void *argument) {
  return get(s->txn, s->spaces[space], key, visit, argument);
}

static int kv_read(store *db, key_space space, slice key, visitor *visit, void *argument) {
  return get(db->txn, db->spaces[space], key, visit, argument);
}

static int begin(void *argument) {
  store *db = argument;
  int code = mdb_txn_begin(db->env, NULL, 0, &db->txn);
  return code ? failed("mdb_txn_begin", code) : 0;
}

static int commit(void *argument) {
  store *db = argument;
  int code = mdb_txn_commit(db->txn);
  db->txn = NULL;
  return code ? failed("mdb_txn_commit", code) : 0;
}

static int kv_put(store *db, key_space space, slice key, slice value) {
  MDB_val name = {key.count, (void *)key.bytes}, data = {value.count, (void *)value.bytes};
  int code = mdb_put(db->txn, db->spaces[space], &name, &data, 0);
  if (code) return failed("mdb_put", code);
  // Each transaction writes the pages that it touches anew; one for all would hold them in memory.
  if (db->is_filling && ++db->put_count % 500000 == 0) return commit(db) < 0 ? -1 : begin(db);
  return 0;
}

static int kv_delete(store *db, key_space space, slice key) {
  MDB_val name = {key.count, (void *)key.bytes};
  int code = mdb_del(db->txn, db->spaces[space], &name, NULL);
  return code && code != MDB_NOTFOUND ? failed("mdb_del", code) : 0;
}

static store *open_env(const char *directory, unsigned flags) {
  store *db = calloc(1, sizeof *db);
  snprintf(db->directory, sizeof db->directory, "%s", directory);
  int code = mdb_env_create(&db->env);
  if (!code) code = mdb_env_set_maxdbs(db->env, 4);
  // Addresses, not memory.
  if (!code) code = mdb_env_set_mapsize(db->env, (size_t)64 << 30);
  if (!code) code = mdb_env_open(db->env, directory, flags | MDB_NORDAHEAD | MDB_NOTLS, 0600);
  unsigned is_reading = flags & MDB_RDONLY;
  if (!code) code = mdb_txn_begin(db->env, NULL, is_reading, &db->txn);
  const char *names[] = {"barcode", "id", "without", "relations"};
  for (int space = 0; space < 4 && !code; space++)
    code = mdb_dbi_open(db->txn, names[space], is_reading ? 0 : MDB_CREATE, &db->spaces[space]);
  if (!code) {
    code = mdb_txn_commit(db->txn);
    db->txn = NULL;
  }
  if (!code) return db;
  failed("mdb_env_open", code);
  if (db->txn) mdb_txn_abort(db->txn);
  if (db->env) mdb_env_close(db->env);
  free(db);
  return NULL;
}

static void *create_store(const char *directory, size_t product_count) {
  store *db = open_env(directory, MDB_NOSYNC);
  if (!db || begin(db) < 0) return NULL;
  db->is_filling = 1;
  return db;
}

static void *open_store(const char *directory, int writable) { return open_env(directory, writable ? 0 : MDB_RDONLY); }

static void close_store(void *argument) {
  store *db = argument;
  if (db->txn) mdb_txn_abort(db->txn);
  mdb_env_close(db->env);
  free(db);
}

/// LMDB compacts by copying: a durable copy without the pages that are free.
static int copy_compacted(store *db, const char *path) {
  int file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (file < 0) return peer_fail("open", path);
  int code = mdb_env_copyfd2(db->env, file, MDB_CP_COMPACT);
  if (code) failed("mdb_env_copyfd2", code);
  if (!code && fdatasync(file) != 0) code = peer_fail("fdatasync", path);
  close(file);
  return code ? -1 : 0;
}

static int finish(void *argument) {
  store *db = argument;
  char compacted[4200], data[4200];
  snprintf(compacted, sizeof compacted, "%s/compacted", db->directory);
  snprintf(data, sizeof data, "%s/data.mdb", db->directory);
  int code = commit(db);
  if (code == 0) code = copy_compacted(db, compacted);
  close_store(db);
  if (code == 0 && rename(compacted, data) != 0) code = peer_fail("rename", data);
  return code;
}

static void *begin_session(void *argument) {
  store *db = argument;
  session *s = calloc(1, sizeof *s);
  s->spaces = db->spaces;
  int code = mdb_txn_begin(db->env, NULL, MDB_RDONLY, &s->txn);
  if (!code) return s;
  failed("mdb_txn_begin", code);
  free(s);
  return NULL;
}

static void end_session(void *argument) {
  session *s = argument;
  mdb_txn_abort(s->txn);
  free(s);
}

/// The copy would take the file's place when nobody has it open.
static int compact(void *argument, const char *directory) {
  char path[4200];
  snprintf(path, sizeof path, "%s/compacted", directory);
  int code = copy_compacted(argument, path);
  unlink(path);
  return code;
}

const peer_api peer_lmdb = {
    .name = "LMDB",
    .store = "lmdb",
    .configuration = "MDB_NORDAHEAD, one read transaction for a session; filled with MDB_NOSYNC and then copied with "
                     "MDB_CP_COMPACT, updated with a sync for each commit",
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
