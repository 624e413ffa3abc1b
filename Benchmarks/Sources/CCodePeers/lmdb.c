#ifdef PEER_LMDB

#include <lmdb.h>
#include <stdlib.h>
#include <string.h>

#include "code_peers.h"

typedef struct {
  MDB_env *env;
  /// Products by id; ids by barcode; quantity, unit and id by code; codes by id, of which an id has several.
  MDB_dbi products, barcodes, codes, owners;
  /// The transaction that writes, or the one that all reads share.
  MDB_txn *writing, *reading;
  int is_filling;
  size_t put_count;
} store;

static int failed(const char *call, int code) { return code_failed(call, mdb_strerror(code)); }

static MDB_val value_of(code_text text) { return (MDB_val){text.count, (void *)text.bytes}; }

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
  if (!code) code = mdb_env_set_maxdbs(db->env, 4);
  // Addresses, not memory.
  if (!code) code = mdb_env_set_mapsize(db->env, (size_t)64 << 30);
  if (!code) code = mdb_env_open(db->env, directory, MDB_NORDAHEAD | (is_filling ? MDB_NOSYNC : 0), 0600);
  if (!code) code = mdb_txn_begin(db->env, NULL, 0, &db->writing);
  if (!code) code = mdb_dbi_open(db->writing, "products", MDB_CREATE, &db->products);
  if (!code) code = mdb_dbi_open(db->writing, "barcodes", MDB_CREATE, &db->barcodes);
  if (!code) code = mdb_dbi_open(db->writing, "codes", MDB_CREATE, &db->codes);
  if (!code) code = mdb_dbi_open(db->writing, "owners", MDB_CREATE | MDB_DUPSORT, &db->owners);
  if (!code) return commit(db) < 0 ? (close_store(db), NULL) : db;
  failed("mdb_env_open", code);
  close_store(db);
  return NULL;
}

/// Each transaction holds the pages that it touches in memory.
static int rest(store *db) {
  if (!db->is_filling || ++db->put_count % 500000) return 0;
  return commit(db) < 0 ? -1 : begin(db);
}

/// Removes the codes of a product, by the table that leads from it to them.
static int remove_codes(store *db, MDB_val id) {
  MDB_cursor *cursor;
  int code = mdb_cursor_open(db->writing, db->owners, &cursor);
  if (code) return code;
  MDB_val key = id, value;
  code = mdb_cursor_get(cursor, &key, &value, MDB_SET);
  while (!code) {
    code = mdb_del(db->writing, db->codes, &value, NULL);
    if (!code) code = mdb_cursor_get(cursor, &key, &value, MDB_NEXT_DUP);
  }
  mdb_cursor_close(cursor);
  if (code != MDB_NOTFOUND) return code;
  code = mdb_del(db->writing, db->owners, &id, NULL);
  return code == MDB_NOTFOUND ? 0 : code;
}

static int put_product(void *argument, code_text id, code_text barcode, code_text body) {
  store *db = argument;
  MDB_val key = value_of(id), value = value_of(body), name = value_of(barcode);
  int code = mdb_put(db->writing, db->products, &key, &value, 0);
  if (!code) code = mdb_put(db->writing, db->barcodes, &name, &key, 0);
  if (!code && !db->is_filling) code = remove_codes(db, key);
  return code ? failed("mdb_put", code) : rest(db);
}

static int put_code(void *argument, code_text text, code_text id, uint32_t quantity, code_text unit) {
  store *db = argument;
  uint8_t bytes[256];
  if (5 + unit.count + id.count > sizeof bytes) return code_failed("put_code", "too long");
  memcpy(bytes, &quantity, 4);
  bytes[4] = (uint8_t)unit.count;
  memcpy(bytes + 5, unit.bytes, unit.count);
  memcpy(bytes + 5 + unit.count, id.bytes, id.count);
  MDB_val key = value_of(text), value = {5 + unit.count + id.count, bytes}, owner = value_of(id);
  int code = mdb_put(db->writing, db->codes, &key, &value, 0);
  if (!code) code = mdb_put(db->writing, db->owners, &owner, &key, 0);
  return code ? failed("mdb_put", code) : rest(db);
}

static int finish(void *argument) {
  store *db = argument;
  int code = mdb_env_sync(db->env, 1);
  return code ? failed("mdb_env_sync", code) : 0;
}

static int find_product(store *db, MDB_val id, uint64_t *sum) {
  MDB_val value;
  int code = mdb_get(db->reading, db->products, &id, &value);
  if (code == MDB_NOTFOUND) return 0;
  if (code) return failed("mdb_get", code);
  *sum += ((const uint8_t *)value.mv_data)[value.mv_size - 1];
  return 1;
}

static int read_value(store *db, MDB_dbi table, code_text text, MDB_val *value) {
  int code = db->reading ? 0 : mdb_txn_begin(db->env, NULL, MDB_RDONLY, &db->reading);
  MDB_val key = value_of(text);
  if (!code) code = mdb_get(db->reading, table, &key, value);
  if (code == MDB_NOTFOUND) return 0;
  return code ? failed("mdb_get", code) : 1;
}

static int find_barcode(void *argument, code_text barcode, uint64_t *sum) {
  store *db = argument;
  MDB_val id;
  int found = read_value(db, db->barcodes, barcode, &id);
  return found == 1 ? find_product(db, id, sum) : found;
}

static int find_code(void *argument, code_text text, uint64_t *sum) {
  store *db = argument;
  MDB_val value;
  int found = read_value(db, db->codes, text, &value);
  if (found != 1) return found;
  const uint8_t *bytes = value.mv_data;
  uint32_t quantity;
  memcpy(&quantity, bytes, 4);
  *sum += quantity;
  size_t start = 5 + (size_t)bytes[4];
  return find_product(db, (MDB_val){value.mv_size - start, (void *)(bytes + start)}, sum);
}

const code_peer code_lmdb = {
    .name = "LMDB",
    .configuration = "four tables, one read transaction for all reads, MDB_NORDAHEAD, a sync for each commit",
    .open = open_store,
    .close = close_store,
    .begin = begin,
    .put_product = put_product,
    .put_code = put_code,
    .commit = commit,
    .finish = finish,
    .find_barcode = find_barcode,
    .find_code = find_code,
};

#endif
