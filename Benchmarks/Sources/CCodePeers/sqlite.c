#ifdef PEER_SQLITE

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>

#include "code_peers.h"

enum { PUT_PRODUCT, REMOVE_CODES, PUT_CODE, FIND_BARCODE, FIND_CODE, STATEMENT_COUNT };

static const char *const statements[STATEMENT_COUNT] = {
    "INSERT OR REPLACE INTO products (id, barcode, body) VALUES (?1, ?2, ?3)",
    "DELETE FROM codes WHERE productId = ?1",
    "INSERT INTO codes (code, productId, quantity, unit) VALUES (?1, ?2, ?3, ?4)",
    "SELECT body, 0 FROM products WHERE barcode = ?1",
    "SELECT p.body, c.quantity FROM codes c JOIN products p ON p.id = c.productId WHERE c.code = ?1",
};

static const char *const indexes =
    "CREATE INDEX IF NOT EXISTS byBarcode ON products (barcode);"
    "CREATE INDEX IF NOT EXISTS byCode ON codes (code); CREATE INDEX IF NOT EXISTS byProduct ON codes (productId)";

typedef struct {
  sqlite3 *db;
  sqlite3_stmt *statements[STATEMENT_COUNT];
  int is_filling;
} store;

static int failed(const char *call, sqlite3 *db) { return code_failed(call, db ? sqlite3_errmsg(db) : "no memory"); }

static int run(store *db, const char *sql) {
  return sqlite3_exec(db->db, sql, NULL, NULL, NULL) == SQLITE_OK ? 0 : failed(sql, db->db);
}

static void close_store(void *argument) {
  store *db = argument;
  for (int index = 0; index < STATEMENT_COUNT; index++) sqlite3_finalize(db->statements[index]);
  sqlite3_close(db->db);
  free(db);
}

static int prepare(store *db) {
  for (int index = 0; index < STATEMENT_COUNT; index++) {
    int code = sqlite3_prepare_v3(
        db->db, statements[index], -1, SQLITE_PREPARE_PERSISTENT, &db->statements[index], NULL);
    if (code != SQLITE_OK) return failed(statements[index], db->db);
  }
  return 0;
}

static void *open_store(const char *directory, int is_filling) {
  char path[4200];
  snprintf(path, sizeof path, "%s/codes.sqlite", directory);
  store *db = calloc(1, sizeof *db);
  db->is_filling = is_filling;
  int code = sqlite3_open_v2(path, &db->db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX, NULL);
  if (code != SQLITE_OK) {
    failed("sqlite3_open_v2", db->db);
  } else if (
      run(db, is_filling ? "PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF"
                         : "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL") == 0
      && run(db, "PRAGMA mmap_size=2147418112; PRAGMA cache_size=-65536") == 0
      && run(db, "CREATE TABLE IF NOT EXISTS products (id TEXT PRIMARY KEY, barcode TEXT NOT NULL, body BLOB NOT NULL) "
                 "WITHOUT ROWID") == 0
      && run(db, "CREATE TABLE IF NOT EXISTS codes (number INTEGER PRIMARY KEY, code TEXT NOT NULL, "
                 "productId TEXT NOT NULL, quantity INTEGER NOT NULL, unit TEXT NOT NULL)") == 0
      && (is_filling || run(db, indexes) == 0) && prepare(db) == 0) {
    return db;
  }
  close_store(db);
  return NULL;
}

static int begin(void *db) { return run(db, "BEGIN"); }

static int commit(void *db) { return run(db, "COMMIT"); }

static void bind(sqlite3_stmt *statement, int index, code_text text) {
  sqlite3_bind_text(statement, index, text.bytes, (int)text.count, SQLITE_STATIC);
}

static int step(store *db, sqlite3_stmt *statement) {
  int code = sqlite3_step(statement);
  sqlite3_reset(statement);
  return code == SQLITE_DONE ? 0 : failed("sqlite3_step", db->db);
}

static int put_product(void *argument, code_text id, code_text barcode, code_text body) {
  store *db = argument;
  sqlite3_stmt *put = db->statements[PUT_PRODUCT];
  bind(put, 1, id);
  bind(put, 2, barcode);
  sqlite3_bind_blob(put, 3, body.bytes, (int)body.count, SQLITE_STATIC);
  if (step(db, put) < 0) return -1;
  if (db->is_filling) return 0;
  bind(db->statements[REMOVE_CODES], 1, id);
  return step(db, db->statements[REMOVE_CODES]);
}

static int put_code(void *argument, code_text code, code_text id, uint32_t quantity, code_text unit) {
  store *db = argument;
  sqlite3_stmt *put = db->statements[PUT_CODE];
  bind(put, 1, code);
  bind(put, 2, id);
  sqlite3_bind_int64(put, 3, quantity);
  bind(put, 4, unit);
  return step(db, put);
}

/// The indexes are made when the rows are there, which is faster and leaves their pages full.
static int finish(void *db) { return run(db, indexes) < 0 ? -1 : run(db, "ANALYZE"); }

static int find(store *db, sqlite3_stmt *statement, code_text text, uint64_t *sum) {
  bind(statement, 1, text);
  int code = sqlite3_step(statement);
  if (code == SQLITE_ROW) {
    const uint8_t *body = sqlite3_column_blob(statement, 0);
    *sum += body[sqlite3_column_bytes(statement, 0) - 1] + (uint64_t)sqlite3_column_int64(statement, 1);
  }
  sqlite3_reset(statement);
  return code == SQLITE_ROW ? 1 : code == SQLITE_DONE ? 0 : failed("select", db->db);
}

static int find_barcode(void *argument, code_text barcode, uint64_t *sum) {
  store *db = argument;
  return find(db, db->statements[FIND_BARCODE], barcode, sum);
}

static int find_code(void *argument, code_text code, uint64_t *sum) {
  store *db = argument;
  return find(db, db->statements[FIND_CODE], code, sum);
}

const code_peer code_sqlite = {
    .name = "SQLite",
    .configuration = "two tables, indexes on barcode, code and productId, 2 GiB mapped; WAL with synchronous=FULL",
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
