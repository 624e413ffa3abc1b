#ifdef PEER_ROCKSDB

#include <rocksdb/c.h>
#include <stdlib.h>

#include "index_key.h"

typedef struct {
  rocksdb_t *db;
  rocksdb_options_t *options;
  rocksdb_cache_t *cache;
  rocksdb_readoptions_t *read;
  rocksdb_writeoptions_t *write;
  rocksdb_writebatch_t *batch;
  rocksdb_iterator_t *iterator;
  int is_filling;
} store;

/// Keys of the index begin with 1, those of rows with 0.
enum { ROWS = 0, INDEX = 1 };

static int failed(const char *call, char *error) {
  ordered_failed(call, error);
  rocksdb_free(error);
  return -1;
}

static void forget_iterator(store *db) {
  if (db->iterator) rocksdb_iter_destroy(db->iterator);
  db->iterator = NULL;
}

static void close_store(void *argument) {
  store *db = argument;
  forget_iterator(db);
  if (db->db) rocksdb_close(db->db);
  rocksdb_options_destroy(db->options);
  rocksdb_cache_destroy(db->cache);
  rocksdb_readoptions_destroy(db->read);
  rocksdb_writeoptions_destroy(db->write);
  rocksdb_writebatch_destroy(db->batch);
  free(db);
}

static void *open_store(const char *directory, int is_filling) {
  store *db = calloc(1, sizeof *db);
  db->is_filling = is_filling;
  db->cache = rocksdb_cache_create_lru((size_t)512 << 20);
  db->options = rocksdb_options_create();
  rocksdb_options_set_create_if_missing(db->options, 1);
  rocksdb_options_set_compression(db->options, rocksdb_no_compression);
  rocksdb_options_set_write_buffer_size(db->options, (size_t)64 << 20);
  rocksdb_options_set_allow_mmap_reads(db->options, 1);
  rocksdb_options_set_keep_log_file_num(db->options, 1);
  rocksdb_block_based_table_options_t *table = rocksdb_block_based_options_create();
  rocksdb_block_based_options_set_filter_policy(table, rocksdb_filterpolicy_create_bloom_full(10));
  rocksdb_block_based_options_set_block_cache(table, db->cache);
  rocksdb_options_set_block_based_table_factory(db->options, table);
  rocksdb_block_based_options_destroy(table);
  db->read = rocksdb_readoptions_create();
  rocksdb_readoptions_set_verify_checksums(db->read, 0);
  db->write = rocksdb_writeoptions_create();
  rocksdb_writeoptions_set_sync(db->write, !is_filling);
  rocksdb_writeoptions_disable_WAL(db->write, is_filling);
  db->batch = rocksdb_writebatch_create();
  char *error = NULL;
  db->db = rocksdb_open(db->options, directory, &error);
  if (db->db) return db;
  failed("rocksdb_open", error);
  close_store(db);
  return NULL;
}

static int begin(void *argument) {
  store *db = argument;
  forget_iterator(db);
  rocksdb_writebatch_clear(db->batch);
  return 0;
}

static int commit(void *argument) {
  store *db = argument;
  char *error = NULL;
  rocksdb_write(db->db, db->write, db->batch, &error);
  rocksdb_writebatch_clear(db->batch);
  return error ? failed("rocksdb_write", error) : 0;
}

static int put(void *argument, uint64_t number, const uint8_t *body, size_t byte_count, const uint8_t *old_body) {
  store *db = argument;
  uint8_t id[9] = {ROWS}, name[1 + INDEX_KEY_BYTES] = {INDEX};
  put_number(id + 1, number);
  rocksdb_writebatch_put(db->batch, (char *)id, sizeof id, (const char *)body, byte_count);
  if (old_body) {
    put_index_key(name + 1, old_body, number);
    rocksdb_writebatch_delete(db->batch, (char *)name, sizeof name);
  }
  put_index_key(name + 1, body, number);
  rocksdb_writebatch_put(db->batch, (char *)name, sizeof name, "", 0);
  return db->is_filling && rocksdb_writebatch_count(db->batch) >= 10000 ? commit(db) : 0;
}

static int finish(void *argument) {
  store *db = argument;
  rocksdb_flushoptions_t *flush = rocksdb_flushoptions_create();
  char *error = NULL;
  rocksdb_flush(db->db, flush, &error);
  rocksdb_flushoptions_destroy(flush);
  if (error) return failed("rocksdb_flush", error);
  rocksdb_compact_range(db->db, NULL, 0, NULL, 0);
  return 0;
}

static int walk(void *argument, const uint8_t *key, size_t limit, uint64_t *sum, uint64_t *row_count) {
  store *db = argument;
  char start[1 + ORDERED_KEY_BYTES] = {INDEX};
  memcpy(start + 1, key, ORDERED_KEY_BYTES);
  if (!db->iterator) db->iterator = rocksdb_create_iterator(db->db, db->read);
  rocksdb_iter_seek(db->iterator, start, sizeof start);
  for (size_t count = 0; count < limit && rocksdb_iter_valid(db->iterator); count++) {
    size_t name_count, value_count = 0;
    const char *name = rocksdb_iter_key(db->iterator, &name_count);
    char id[9] = {ROWS};
    memcpy(id + 1, name + 1 + ORDERED_KEY_BYTES, 8);
    char *error = NULL;
    rocksdb_pinnableslice_t *pinned = rocksdb_get_pinned(db->db, db->read, id, sizeof id, &error);
    if (error) return failed("rocksdb_get_pinned", error);
    const char *value = pinned ? rocksdb_pinnableslice_value(pinned, &value_count) : NULL;
    if (!value) return ordered_failed("rocksdb_get_pinned", "a row of the index is missing");
    *sum += (uint8_t)value[value_count - 1];
    *row_count += 1;
    rocksdb_pinnableslice_destroy(pinned);
    rocksdb_iter_next(db->iterator);
  }
  return 0;
}

const ordered_peer ordered_rocksdb = {
    .name = "RocksDB",
    .configuration = "two key prefixes, Bloom filter of 10 bits, mapped reads without checksums, cache of 512 MiB, no "
                     "compression, filled without a log and compacted; one synchronous batch for each commit",
    .open = open_store,
    .close = close_store,
    .begin = begin,
    .put = put,
    .commit = commit,
    .finish = finish,
    .walk = walk,
};

#endif
