// libpq, PostgreSQL's own client library, found when it is first needed: programs that never ask a database neither need it
// nor spend time on loading it.
//
// Each function does what the one of libpq with the same ending does. Call `shelfmark_pq_load` before any other.

#ifndef SHELFMARK_CPOSTGRESQL_H
#define SHELFMARK_CPOSTGRESQL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct shelfmark_pq_connection shelfmark_pq_connection;
typedef struct shelfmark_pq_result shelfmark_pq_result;

/// Loads the library, once in the life of the process.
///
/// Returns null, or the reason why it cannot be used, as a constant text.
const char *_Nullable shelfmark_pq_load(void);

/// What a connection attempt waits for.
enum shelfmark_pq_polling {
  shelfmark_pq_polling_failed = 0,
  shelfmark_pq_polling_reading = 1,
  shelfmark_pq_polling_writing = 2,
  shelfmark_pq_polling_ok = 3,
};

/// What a result is.
enum shelfmark_pq_status {
  shelfmark_pq_command_ok,
  shelfmark_pq_tuples_ok,
  shelfmark_pq_copy_out,
  shelfmark_pq_single_tuple,
  shelfmark_pq_other,
};

/// Begins to connect; null if there is no memory. A `url` may be any connection string.
shelfmark_pq_connection *_Nullable shelfmark_pq_start(const char *_Nonnull url, const char *_Nonnull application);
enum shelfmark_pq_polling shelfmark_pq_connect_poll(shelfmark_pq_connection *_Nonnull connection);
bool shelfmark_pq_is_bad(const shelfmark_pq_connection *_Nonnull connection);
int shelfmark_pq_socket(const shelfmark_pq_connection *_Nonnull connection);
const char *_Nonnull shelfmark_pq_error_message(const shelfmark_pq_connection *_Nonnull connection);
void shelfmark_pq_finish(shelfmark_pq_connection *_Nonnull connection);

/// Copies the value of a connection option into `value`, shortened to its room; returns whether there is one.
bool shelfmark_pq_option(
    shelfmark_pq_connection *_Nonnull connection, const char *_Nonnull name, char *_Nonnull value, size_t room);

/// Sends a statement, and asks for its rows one by one; returns whether that succeeded.
bool shelfmark_pq_send(shelfmark_pq_connection *_Nonnull connection, const char *_Nonnull statement);
/// Sends a COPY statement by the protocol that every server knows; returns whether that succeeded.
bool shelfmark_pq_send_copy(shelfmark_pq_connection *_Nonnull connection, const char *_Nonnull statement);
/// Sends a statement to be prepared without a name; returns whether that succeeded.
bool shelfmark_pq_send_prepare(shelfmark_pq_connection *_Nonnull connection, const char *_Nonnull statement);
/// Asks for the columns of the statement that was prepared; returns whether that succeeded.
bool shelfmark_pq_send_describe(shelfmark_pq_connection *_Nonnull connection);
/// Sets `row` to the next row that COPY sends, which the caller frees, and returns its length: 0 if none has arrived, -1 at the
/// end, -2 after an error.
int shelfmark_pq_get_copy_data(shelfmark_pq_connection *_Nonnull connection, char *_Nullable *_Nonnull row);
void shelfmark_pq_free(char *_Nonnull row);
/// Sends what waits: 0 all is sent, 1 some is left, -1 an error.
int shelfmark_pq_flush(shelfmark_pq_connection *_Nonnull connection);
bool shelfmark_pq_consume_input(shelfmark_pq_connection *_Nonnull connection);
bool shelfmark_pq_is_busy(shelfmark_pq_connection *_Nonnull connection);
shelfmark_pq_result *_Nullable shelfmark_pq_get_result(shelfmark_pq_connection *_Nonnull connection);
/// Asks the server to end the statement that runs; waits for its answer.
void shelfmark_pq_cancel(shelfmark_pq_connection *_Nonnull connection);

enum shelfmark_pq_status shelfmark_pq_result_status(const shelfmark_pq_result *_Nonnull result);
const char *_Nonnull shelfmark_pq_result_error(const shelfmark_pq_result *_Nonnull result);
/// The five characters of the SQLSTATE of an error; null without one.
const char *_Nullable shelfmark_pq_result_state(const shelfmark_pq_result *_Nonnull result);
void shelfmark_pq_clear(shelfmark_pq_result *_Nonnull result);
int shelfmark_pq_field_count(const shelfmark_pq_result *_Nonnull result);
const char *_Nullable shelfmark_pq_field_name(const shelfmark_pq_result *_Nonnull result, int field);
/// The object id of the field's type.
uint32_t shelfmark_pq_field_type(const shelfmark_pq_result *_Nonnull result, int field);
int shelfmark_pq_row_count(const shelfmark_pq_result *_Nonnull result);
/// The text of a value and its length in bytes; null for SQL's NULL.
const char *_Nullable shelfmark_pq_value(
    const shelfmark_pq_result *_Nonnull result, int row, int field, size_t *_Nonnull length);

#endif
