#ifdef PEER_SQLITE

#include <fcntl.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "record.h"
#include "sqlite_statements.h"

typedef struct {
  sqlite3 *db;
  sqlite3_stmt *insert, *insert_relation, *erase, *erase_relations;
} writer;

/// A store that is open: sessions have connections of their own, as every thread needs one.
typedef struct {
  char directory[4096];
  writer *writer;
} store;

typedef struct {
  sqlite3 *db;
  sqlite3_stmt *by_barcode, *by_id, *relations, *fields;
} session;

static int failed(const char *call, sqlite3 *db) { return peer_fail(call, db ? sqlite3_errmsg(db) : "no memory"); }

// MARK: Lookups

static inline void bind(sqlite3_stmt *statement, slice key) {
  sqlite3_bind_text(statement, 1, (const char *)key.bytes, (int)key.count, SQLITE_STATIC);
}

static inline int lookup(session *s, sqlite3_stmt *statement, slice key, uint64_t *answer) {
  bind(statement, key);
  int code = sqlite3_step(statement);
  if (code == SQLITE_ROW) {
    double weight = sqlite3_column_double(statement, 2);
    int64_t bits;
    memcpy(&bits, &weight, 8);
    *answer = (uint64_t)sqlite3_column_int64(statement, 0) + (uint64_t)sqlite3_column_bytes(statement, 1)
              + (uint64_t)bits;
  }
  sqlite3_reset(statement);
  return code == SQLITE_ROW ? 1 : code == SQLITE_DONE ? 0 : failed("step", s->db);
}

static inline int lookup_barcode(session *s, slice key, uint64_t *answer) {
  return lookup(s, s->by_barcode, key, answer);
}

static inline int lookup_id(session *s, slice key, uint64_t *answer) { return lookup(s, s->by_id, key, answer); }

static inline int lookup_relations(session *s, slice key, uint64_t *answer) {
  bind(s->relations, key);
  int code, found = 0;
  while ((code = sqlite3_step(s->relations)) == SQLITE_ROW) {
    *answer += (uint64_t)sqlite3_column_int64(s->relations, 0);
    found = 1;
  }
  sqlite3_reset(s->relations);
  return code == SQLITE_DONE ? found : failed("step", s->db);
}

#include "peer_loops.h"

/// Copies the texts, for the statement is reset at once: one that is not keeps its transaction open, and with it spares
/// every other lookup in this process its locks.
static int read_fields(void *argument, const uint8_t *id, size_t id_count, peer_fields *fields) {
  static _Thread_local uint8_t kept[1 << 20];
  session *s = argument;
  sqlite3_stmt *f = s->fields;
  bind(f, (slice){id, id_count});
  int code = sqlite3_step(f);
  if (code != SQLITE_ROW) {
    sqlite3_reset(f);
    return code == SQLITE_DONE ? 0 : failed("step", s->db);
  }
  size_t used = 0;
  for (int text = 0; text < PEER_TEXT_COUNT; text++) {
    const unsigned char *bytes = sqlite3_column_text(f, text);
    size_t count = (size_t)sqlite3_column_bytes(f, text);
    // A record has at most 13 texts of 64 KiB.
    memcpy(kept + used, bytes, count);
    fields->texts[text] = kept + used;
    fields->byte_counts[text] = (uint32_t)count;
    used += count;
  }
  fields->category_id = sqlite3_column_int64(f, 13);
  fields->group_num = sqlite3_column_int64(f, 14);
  fields->del_flag = sqlite3_column_int64(f, 15);
  fields->length = sqlite3_column_double(f, 16);
  fields->tall = sqlite3_column_double(f, 17);
  fields->volume = sqlite3_column_double(f, 18);
  fields->weight = sqlite3_column_double(f, 19);
  fields->wide = sqlite3_column_double(f, 20);
  fields->flags = 0;
  for (int flag = 0; flag < 4; flag++) fields->flags |= (uint8_t)(sqlite3_column_int(f, 21 + flag) << flag);
  sqlite3_reset(f);
  return 1;
}

// MARK: Opening

static int run(sqlite3 *db, const char *sql) {
  return sqlite3_exec(db, sql, NULL, NULL, NULL) == SQLITE_OK ? 0 : failed(sql, db);
}

static int prepare(sqlite3 *db, const char *sql, sqlite3_stmt **statement) {
  int code = sqlite3_prepare_v3(db, sql, -1, SQLITE_PREPARE_PERSISTENT, statement, NULL);
  return code == SQLITE_OK ? 0 : failed(sql, db);
}

static sqlite3 *connect(const char *directory, int flags) {
  char path[4200];
  snprintf(path, sizeof path, "%s/catalog.sqlite", directory);
  sqlite3 *db = NULL;
  // No mutex: a connection belongs to one thread.
  if (sqlite3_open_v2(path, &db, flags | SQLITE_OPEN_NOMUTEX, NULL) == SQLITE_OK) return db;
  failed("open", db);
  sqlite3_close(db);
  return NULL;
}

static writer *make_writer(sqlite3 *db, int is_filling) {
  writer *w = calloc(1, sizeof *w);
  w->db = db;
  char sql[4096];
  snprintf(sql, sizeof sql, "%s%s", insert_product, is_filling ? "" : update_product);
  const char *relation = "INSERT OR REPLACE INTO relations (productId, subProductId, id, orgId, groupNum)"
                         " VALUES (?1,?2,?3,?4,?5)";
  if (prepare(db, sql, &w->insert) == 0 && prepare(db, relation, &w->insert_relation) == 0
      && prepare(db, "DELETE FROM relations WHERE productId=?1", &w->erase_relations) == 0
      && (is_filling || prepare(db, "DELETE FROM products WHERE id=?1", &w->erase) == 0))
    return w;
  free(w);
  return NULL;
}

static void free_writer(writer *w) {
  sqlite3_stmt *statements[] = {w->insert, w->insert_relation, w->erase, w->erase_relations};
  for (int index = 0; index < 4; index++) sqlite3_finalize(statements[index]);
  sqlite3_close(w->db);
  free(w);
}

static void *open_store(const char *directory, int writable) {
  store *opened = calloc(1, sizeof *opened);
  snprintf(opened->directory, sizeof opened->directory, "%s", directory);
  if (!writable) return opened;
  sqlite3 *db = connect(directory, SQLITE_OPEN_READWRITE);
  if (db && run(db, "PRAGMA synchronous=FULL; PRAGMA mmap_size=2147418112; PRAGMA cache_size=-65536") == 0)
    opened->writer = make_writer(db, 0);
  if (opened->writer) return opened;
  sqlite3_close(db);
  free(opened);
  return NULL;
}

static void close_store(void *argument) {
  store *opened = argument;
  if (opened->writer) free_writer(opened->writer);
  free(opened);
}

static void end_session(void *argument) {
  session *s = argument;
  sqlite3_stmt *statements[] = {s->by_barcode, s->by_id, s->relations, s->fields};
  for (int index = 0; index < 4; index++) sqlite3_finalize(statements[index]);
  sqlite3_close(s->db);
  free(s);
}

static void *begin_session(void *argument) {
  const store *opened = argument;
  session *s = calloc(1, sizeof *s);
  s->db = connect(opened->directory, SQLITE_OPEN_READWRITE);
  if (s->db && run(s->db, "PRAGMA mmap_size=2147418112; PRAGMA cache_size=-65536") == 0
      && prepare(s->db, "SELECT categoryId, name, weight FROM products WHERE barcode=?1 LIMIT 1", &s->by_barcode) == 0
      && prepare(s->db, "SELECT categoryId, name, weight FROM products WHERE id=?1", &s->by_id) == 0
      && prepare(s->db, "SELECT groupNum FROM relations WHERE productId=?1", &s->relations) == 0
      && prepare(s->db, "SELECT " COLUMNS " FROM products WHERE id=?1", &s->fields) == 0)
    return s;
  end_session(s);
  return NULL;
}

/// A transaction for the whole loop. It ends with it: another connection of this process that reads meanwhile would be
/// spared the locks that it has to take by itself.
static int run_lookups_in_transaction(
    void *argument, peer_operation operation, const peer_keys *keys, size_t start, size_t count, uint64_t *sum) {
  session *s = argument;
  if (run(s->db, "BEGIN") < 0) return -1;
  int code = run_lookups(s, operation, keys, start, count, sum);
  return run(s->db, "COMMIT") < 0 ? -1 : code;
}

// MARK: Writing

static int step(writer *w, sqlite3_stmt *statement) {
  int code = sqlite3_step(statement);
  sqlite3_reset(statement);
  return code == SQLITE_DONE ? 0 : failed("step", w->db);
}

static int put_with(writer *w, const uint8_t *record) {
  peer_fields fields;
  record_fields(record, &fields);
  sqlite3_stmt *insert = w->insert;
  for (int text = 0; text < PEER_TEXT_COUNT; text++)
    sqlite3_bind_text(
        insert, text + 1, (const char *)fields.texts[text], (int)fields.byte_counts[text], SQLITE_STATIC);
  sqlite3_bind_int64(insert, 14, fields.category_id);
  sqlite3_bind_int64(insert, 15, fields.group_num);
  sqlite3_bind_int64(insert, 16, fields.del_flag);
  sqlite3_bind_double(insert, 17, fields.length);
  sqlite3_bind_double(insert, 18, fields.tall);
  sqlite3_bind_double(insert, 19, fields.volume);
  sqlite3_bind_double(insert, 20, fields.weight);
  sqlite3_bind_double(insert, 21, fields.wide);
  for (int flag = 0; flag < 4; flag++) sqlite3_bind_int(insert, 22 + flag, fields.flags >> flag & 1);
  return step(w, insert);
}

static int put_relations_with(writer *w, const uint8_t *records, size_t byte_count) {
  for (size_t offset = 0; offset < byte_count; offset += load32(records + offset)) {
    const uint8_t *record = records + offset, *text = record + RELATION_TEXTS;
    for (int index = 0; index < 4; index++) {
      uint16_t count = load16(record + 8 + 2 * index);
      sqlite3_bind_text(w->insert_relation, index + 1, (const char *)text, count, SQLITE_STATIC);
      text += count;
    }
    sqlite3_bind_int64(w->insert_relation, 5, load64(record + 16));
    if (step(w, w->insert_relation) < 0) return -1;
  }
  return 0;
}

static void *create_store(const char *directory, size_t product_count) {
  sqlite3 *db = connect(directory, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE);
  // Nothing has to survive a crash while a file is made; the indexes are made from sorted keys in the end.
  if (db && run(db, "PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF; PRAGMA cache_size=-262144") == 0
      && run(db, schema) == 0 && run(db, "BEGIN") == 0) {
    writer *w = make_writer(db, 1);
    if (w) return w;
  }
  sqlite3_close(db);
  return NULL;
}

static int put_product(void *w, const uint8_t *record, size_t byte_count, int is_shared) {
  return put_with(w, record);
}

static int put_relations(
    void *w, const uint8_t *set, size_t set_count, const uint8_t *records, size_t byte_count) {
  return put_relations_with(w, records, byte_count);
}

static int finish(void *argument) {
  writer *w = argument;
  int code = run(w->db, indexes) < 0 || run(w->db, "COMMIT; PRAGMA optimize; PRAGMA synchronous=FULL") < 0
                     || run(w->db, "PRAGMA journal_mode=WAL") < 0
                 ? -1
                 : 0;
  const char *path = sqlite3_db_filename(w->db, NULL);
  // The file was written without a sync.
  int file = open(path, O_RDWR | O_CLOEXEC);
  if (file < 0 || fsync(file) != 0) code = peer_fail("fsync", path);
  if (file >= 0) close(file);
  free_writer(w);
  return code;
}

static int begin(void *argument) { return run(((store *)argument)->writer->db, "BEGIN IMMEDIATE"); }

static int upsert(void *argument, const uint8_t *record, size_t byte_count) {
  return put_with(((store *)argument)->writer, record);
}

static int replace_relations(
    void *argument, const uint8_t *set, size_t set_count, const uint8_t *records, size_t byte_count) {
  writer *w = ((store *)argument)->writer;
  bind(w->erase_relations, (slice){set, set_count});
  return step(w, w->erase_relations) < 0 ? -1 : put_relations_with(w, records, byte_count);
}

static int erase(void *argument, const uint8_t *id, size_t id_count) {
  writer *w = ((store *)argument)->writer;
  bind(w->erase, (slice){id, id_count});
  return step(w, w->erase) < 0 ? -1 : replace_relations(argument, id, id_count, NULL, 0);
}

static int commit(void *argument) { return run(((store *)argument)->writer->db, "COMMIT"); }

static int compact(void *argument, const char *directory) {
  return run(((store *)argument)->writer->db, "VACUUM; PRAGMA wal_checkpoint(TRUNCATE)");
}

#define SQLITE_PEER(title, text, lookup_loops)                                                                       \
  {                                                                                                                   \
    .name = title, .store = "sqlite", .configuration = text, .create = create_store, .put_product = put_product,       \
    .put_relations = put_relations, .finish = finish, .open = open_store, .close = close_store,                        \
    .begin_session = begin_session, .end_session = end_session, .has = has_operation, .lookups = lookup_loops,         \
    .fields = read_fields, .begin = begin, .upsert = upsert, .replace_relations = replace_relations, .erase = erase,   \
    .commit = commit, .compact = compact,                                                                             \
  }

const peer_api peer_sqlite = SQLITE_PEER(
    "SQLite",
    "table with rowids, unique index on id, index on barcode, prepared statements, mapped up to 2 GiB, page cache of "
    "64 MiB; WAL with synchronous=FULL; each lookup a transaction of its own",
    run_lookups);

const peer_api peer_sqlite_transaction =
    SQLITE_PEER("SQLite, one transaction", "the same file, a loop of lookups in one transaction",
                run_lookups_in_transaction);

#endif
