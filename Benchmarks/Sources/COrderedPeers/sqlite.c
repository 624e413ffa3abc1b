#ifdef PEER_SQLITE

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>

#include "index_key.h"

typedef struct {
  sqlite3 *db;
  sqlite3_stmt *put, *walk;
  int is_filling;
} store;

static int failed(const char *call, sqlite3 *db) {
  return ordered_failed(call, db ? sqlite3_errmsg(db) : "no memory");
}

static int run(store *db, const char *sql) {
  return sqlite3_exec(db->db, sql, NULL, NULL, NULL) == SQLITE_OK ? 0 : failed(sql, db->db);
}

static int prepare(store *db, const char *sql, sqlite3_stmt **statement) {
  int code = sqlite3_prepare_v3(db->db, sql, -1, SQLITE_PREPARE_PERSISTENT, statement, NULL);
  return code == SQLITE_OK ? 0 : failed(sql, db->db);
}

static void close_store(void *argument) {
  store *db = argument;
  sqlite3_finalize(db->put);
  sqlite3_finalize(db->walk);
  sqlite3_close(db->db);
  free(db);
}

static void *open_store(const char *directory, int is_filling) {
  char path[4200];
  snprintf(path, sizeof path, "%s/rows.sqlite", directory);
  store *db = calloc(1, sizeof *db);
  db->is_filling = is_filling;
  int code = sqlite3_open_v2(path, &db->db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX, NULL);
  if (code != SQLITE_OK) {
    failed("sqlite3_open_v2", db->db);
  } else if (
      run(db, is_filling ? "PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF"
                         : "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL") == 0
      && run(db, "PRAGMA mmap_size=2147418112; PRAGMA cache_size=-65536") == 0
      && run(db, "CREATE TABLE IF NOT EXISTS rows (id INTEGER PRIMARY KEY, key BLOB NOT NULL, body BLOB NOT NULL)") == 0
      && (is_filling || run(db, "CREATE INDEX IF NOT EXISTS rowsByKey ON rows (key)") == 0)
      && prepare(db, "INSERT OR REPLACE INTO rows (id, key, body) VALUES (?1, ?2, ?3)", &db->put) == 0
      && prepare(db, "SELECT body FROM rows WHERE key >= ?1 ORDER BY key LIMIT ?2", &db->walk) == 0) {
    return db;
  }
  close_store(db);
  return NULL;
}

static int begin(void *db) { return run(db, "BEGIN"); }

static int commit(void *db) { return run(db, "COMMIT"); }

static int put(void *argument, uint64_t number, const uint8_t *body, size_t byte_count, const uint8_t *old_body) {
  store *db = argument;
  sqlite3_bind_int64(db->put, 1, (sqlite3_int64)number);
  sqlite3_bind_blob(db->put, 2, body, ORDERED_KEY_BYTES, SQLITE_STATIC);
  sqlite3_bind_blob(db->put, 3, body, (int)byte_count, SQLITE_STATIC);
  int code = sqlite3_step(db->put);
  sqlite3_reset(db->put);
  return code == SQLITE_DONE ? 0 : failed("insert", db->db);
}

/// The index is made when the rows are there, which is faster and leaves its pages full.
static int finish(void *db) { return run(db, "CREATE INDEX rowsByKey ON rows (key); ANALYZE"); }

static int walk(void *argument, const uint8_t *key, size_t limit, uint64_t *sum, uint64_t *row_count) {
  store *db = argument;
  sqlite3_bind_blob(db->walk, 1, key, ORDERED_KEY_BYTES, SQLITE_STATIC);
  sqlite3_bind_int64(db->walk, 2, limit > INT64_MAX ? -1 : (sqlite3_int64)limit);
  int code;
  while ((code = sqlite3_step(db->walk)) == SQLITE_ROW) {
    const uint8_t *body = sqlite3_column_blob(db->walk, 0);
    *sum += body[sqlite3_column_bytes(db->walk, 0) - 1];
    *row_count += 1;
  }
  sqlite3_reset(db->walk);
  return code == SQLITE_DONE ? 0 : failed("select", db->db);
}

const ordered_peer ordered_sqlite = {
    .name = "SQLite",
    .configuration = "an index on a column, made after filling, 2 GiB mapped; WAL with synchronous=FULL for commits",
    .open = open_store,
    .close = close_store,
    .begin = begin,
    .put = put,
    .commit = commit,
    .finish = finish,
    .walk = walk,
};

#endif
