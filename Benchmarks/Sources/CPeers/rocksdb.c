#ifdef PEER_ROCKSDB

#include <rocksdb/c.h>

#include "record.h"

typedef struct {
  rocksdb_t *db;
  rocksdb_options_t *options;
  rocksdb_cache_t *cache;
  rocksdb_readoptions_t *read;
  rocksdb_writeoptions_t *write;
  rocksdb_writebatch_t *batch;
  struct overlay *pending;
  int is_filling;
} store;

typedef store session;

#include "overlay.h"

#define LSM(name) rocksdb_##name

/// Reads the value where it lies: `rocksdb_get` would copy it into memory of its own.
static inline int get(store *db, const prefixed_key *key, visitor *visit, void *argument) {
  char *error = NULL;
  rocksdb_pinnableslice_t *pinned = rocksdb_get_pinned(db->db, db->read, key->bytes, key->count, &error);
  if (error) {
    peer_fail("get", error);
    rocksdb_free(error);
    return -1;
  }
  if (!pinned) return 0;
  size_t count = 0;
  const char *value = rocksdb_pinnableslice_value(pinned, &count);
  int found = value != NULL;
  if (found) visit(argument, (slice){(const uint8_t *)value, count});
  rocksdb_pinnableslice_destroy(pinned);
  return found;
}

#include "lsm_peer.h"

static void close_store(void *argument) {
  store *db = argument;
  if (db->db) rocksdb_close(db->db);
  rocksdb_options_destroy(db->options);
  rocksdb_cache_destroy(db->cache);
  rocksdb_readoptions_destroy(db->read);
  rocksdb_writeoptions_destroy(db->write);
  rocksdb_writebatch_destroy(db->batch);
  if (db->pending) free(db->pending->bytes.bytes);
  free(db->pending);
  free(db);
}

static store *open_with(const char *directory, int is_filling, int writable) {
  store *db = calloc(1, sizeof *db);
  db->is_filling = is_filling;
  db->cache = rocksdb_cache_create_lru((size_t)512 << 20);
  db->options = rocksdb_options_create();
  rocksdb_options_set_create_if_missing(db->options, (unsigned char)is_filling);
  rocksdb_options_set_compression(db->options, rocksdb_no_compression);
  rocksdb_options_set_write_buffer_size(db->options, (size_t)64 << 20);
  rocksdb_options_set_allow_mmap_reads(db->options, 1);
  rocksdb_options_set_keep_log_file_num(db->options, 1);
  rocksdb_block_based_table_options_t *table = rocksdb_block_based_options_create();
  rocksdb_block_based_options_set_filter_policy(table, rocksdb_filterpolicy_create_bloom_full(10));
  rocksdb_block_based_options_set_block_cache(table, db->cache);
  rocksdb_block_based_options_set_data_block_index_type(
      table, rocksdb_block_based_table_data_block_index_type_binary_search_and_hash);
  rocksdb_options_set_block_based_table_factory(db->options, table);
  rocksdb_block_based_options_destroy(table);
  db->read = rocksdb_readoptions_create();
  rocksdb_readoptions_set_verify_checksums(db->read, 0);
  db->write = rocksdb_writeoptions_create();
  rocksdb_writeoptions_set_sync(db->write, !is_filling);
  rocksdb_writeoptions_disable_WAL(db->write, is_filling);
  db->batch = rocksdb_writebatch_create();
  if (writable && !is_filling) db->pending = calloc(1, sizeof *db->pending);
  char *error = NULL;
  db->db = writable ? rocksdb_open(db->options, directory, &error)
                    : rocksdb_open_for_read_only(db->options, directory, 0, &error);
  if (db->db) return db;
  failed("open", error);
  close_store(db);
  return NULL;
}

static void *create_store(const char *directory, size_t product_count) { return open_with(directory, 1, 1); }

static void *open_store(const char *directory, int writable) { return open_with(directory, 0, writable); }

static int finish(void *argument) {
  store *db = argument;
  rocksdb_flushoptions_t *flush = rocksdb_flushoptions_create();
  char *error = NULL;
  rocksdb_flush(db->db, flush, &error);
  rocksdb_flushoptions_destroy(flush);
  int code = error ? failed("flush", error) : compact(db, NULL);
  close_store(db);
  return code;
}

const peer_api peer_rocksdb = {
    .name = "RocksDB",
    .store = "rocksdb",
    .configuration = "Bloom filter of 10 bits, hash index in blocks, mapped reads without checksums, cache of 512 MiB, "
                     "no compression, filled without a log and compacted; updates in one synchronous batch",
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
