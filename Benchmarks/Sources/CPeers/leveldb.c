#ifdef PEER_LEVELDB

#include <leveldb/c.h>

#include "record.h"

typedef struct {
  leveldb_t *db;
  leveldb_options_t *options;
  leveldb_cache_t *cache;
  leveldb_filterpolicy_t *filter;
  leveldb_readoptions_t *read;
  leveldb_writeoptions_t *write;
  leveldb_writebatch_t *batch;
  struct overlay *pending;
  int is_filling;
} store;

typedef store session;

#include "overlay.h"

#define LSM(name) leveldb_##name

static inline int get(store *db, const prefixed_key *key, visitor *visit, void *argument) {
  size_t count = 0;
  char *error = NULL;
  char *value = leveldb_get(db->db, db->read, key->bytes, key->count, &count, &error);
  if (error) {
    peer_fail("get", error);
    leveldb_free(error);
    return -1;
  }
  if (!value) return 0;
  visit(argument, (slice){(const uint8_t *)value, count});
  leveldb_free(value);
  return 1;
}

#include "lsm_peer.h"

static void close_store(void *argument) {
  store *db = argument;
  if (db->db) leveldb_close(db->db);
  leveldb_options_destroy(db->options);
  leveldb_cache_destroy(db->cache);
  leveldb_filterpolicy_destroy(db->filter);
  leveldb_readoptions_destroy(db->read);
  leveldb_writeoptions_destroy(db->write);
  leveldb_writebatch_destroy(db->batch);
  if (db->pending) free(db->pending->bytes.bytes);
  free(db->pending);
  free(db);
}

static store *open_with(const char *directory, int is_filling, int writable) {
  store *db = calloc(1, sizeof *db);
  db->is_filling = is_filling;
  db->cache = leveldb_cache_create_lru((size_t)256 << 20);
  db->filter = leveldb_filterpolicy_create_bloom(10);
  db->options = leveldb_options_create();
  leveldb_options_set_create_if_missing(db->options, is_filling);
  leveldb_options_set_cache(db->options, db->cache);
  leveldb_options_set_filter_policy(db->options, db->filter);
  leveldb_options_set_compression(db->options, leveldb_no_compression);
  leveldb_options_set_write_buffer_size(db->options, (size_t)(is_filling ? 64 : 16) << 20);
  leveldb_options_set_max_file_size(db->options, (size_t)32 << 20);
  db->read = leveldb_readoptions_create();
  db->write = leveldb_writeoptions_create();
  leveldb_writeoptions_set_sync(db->write, !is_filling);
  db->batch = leveldb_writebatch_create();
  if (writable && !is_filling) db->pending = calloc(1, sizeof *db->pending);
  char *error = NULL;
  db->db = leveldb_open(db->options, directory, &error);
  if (db->db) return db;
  failed("open", error);
  close_store(db);
  return NULL;
}

static void *create_store(const char *directory, size_t product_count) { return open_with(directory, 1, 1); }

static void *open_store(const char *directory, int writable) { return open_with(directory, 0, writable); }

static int finish(void *argument) {
  store *db = argument;
  int code = compact(db, NULL);
  // A synchronous write makes the log before it durable; the tables are synced as they are finished.
  leveldb_writeoptions_set_sync(db->write, 1);
  char *error = NULL;
  leveldb_put(db->db, db->write, "finished", 8, "", 0, &error);
  if (error) code = failed("put", error);
  close_store(db);
  return code;
}

const peer_api peer_leveldb = {
    .name = "LevelDB",
    .store = "leveldb",
    .configuration = "Bloom filter of 10 bits, cache of 256 MiB, no compression, tables of 32 MiB, compacted after "
                     "filling; updates in one synchronous batch",
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
