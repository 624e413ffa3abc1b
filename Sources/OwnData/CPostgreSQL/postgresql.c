#include "CPostgreSQL.h"

#include <dlfcn.h>
#include <pthread.h>
#include <string.h>

// What the manual of libpq promises about its binary interface: the numbers of these constants, and the order of the members
// of PQconninfoOption.

typedef struct {
  char *keyword, *environment, *compiled, *value, *label, *display;
  int display_size;
} option;

enum { command_ok = 1, tuples_ok = 2, copy_out = 3, single_tuple = 9, connection_bad = 1, sqlstate_field = 'C' };

static struct {
  void *(*start)(const char *const *, const char *const *, int);
  int (*connect_poll)(void *);
  int (*status)(const void *);
  int (*socket)(const void *);
  char *(*error_message)(const void *);
  void (*finish)(void *);
  option *(*conninfo)(void *);
  void (*conninfo_free)(option *);
  void *(*set_notice_processor)(void *, void (*)(void *, const char *), void *);
  int (*send)(void *, const char *, int, const uint32_t *, const char *const *, const int *, const int *, int);
  int (*set_single_row_mode)(void *);
  int (*send_query)(void *, const char *);
  int (*send_prepare)(void *, const char *, const char *, int, const uint32_t *);
  int (*send_describe)(void *, const char *);
  int (*get_copy_data)(void *, char **, int);
  void (*free_memory)(void *);
  int (*set_nonblocking)(void *, int);
  int (*flush)(void *);
  int (*consume_input)(void *);
  int (*is_busy)(void *);
  void *(*get_result)(void *);
  void *(*get_cancel)(void *);
  int (*cancel)(void *, char *, int);
  void (*free_cancel)(void *);
  int (*result_status)(const void *);
  char *(*result_error)(const void *);
  char *(*result_field)(const void *, int);
  void (*clear)(void *);
  int (*field_count)(const void *);
  char *(*field_name)(const void *, int);
  uint32_t (*field_type)(const void *, int);
  int (*row_count)(const void *);
  char *(*value)(const void *, int, int);
  int (*length)(const void *, int, int);
  int (*is_null)(const void *, int, int);
} pq;

static const char *problem;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void load(void) {
#ifdef __APPLE__
  const char *names[] = {"libpq.5.dylib", "/opt/homebrew/opt/libpq/lib/libpq.5.dylib", "/usr/local/opt/libpq/lib/libpq.5.dylib"};
#else
  const char *names[] = {"libpq.so.5"};
#endif
  void *library = NULL;
  for (size_t index = 0; !library && index < sizeof names / sizeof *names; index++) {
    library = dlopen(names[index], RTLD_NOW | RTLD_LOCAL);
  }
  if (!library) {
    problem = "PostgreSQL's client library, libpq, is not on this system; install it (on Debian: apt install libpq5)";
    return;
  }
  const struct {
    const char *name;
    void *target;
  } functions[] = {
      {"PQconnectStartParams", &pq.start},
      {"PQconnectPoll", &pq.connect_poll},
      {"PQstatus", &pq.status},
      {"PQsocket", &pq.socket},
      {"PQerrorMessage", &pq.error_message},
      {"PQfinish", &pq.finish},
      {"PQconninfo", &pq.conninfo},
      {"PQconninfoFree", &pq.conninfo_free},
      {"PQsetNoticeProcessor", &pq.set_notice_processor},
      {"PQsendQueryParams", &pq.send},
      {"PQsetSingleRowMode", &pq.set_single_row_mode},
      {"PQsendQuery", &pq.send_query},
      {"PQsendPrepare", &pq.send_prepare},
      {"PQsendDescribePrepared", &pq.send_describe},
      {"PQgetCopyData", &pq.get_copy_data},
      {"PQfreemem", &pq.free_memory},
      {"PQsetnonblocking", &pq.set_nonblocking},
      {"PQflush", &pq.flush},
      {"PQconsumeInput", &pq.consume_input},
      {"PQisBusy", &pq.is_busy},
      {"PQgetResult", &pq.get_result},
      {"PQgetCancel", &pq.get_cancel},
      {"PQcancel", &pq.cancel},
      {"PQfreeCancel", &pq.free_cancel},
      {"PQresultStatus", &pq.result_status},
      {"PQresultErrorMessage", &pq.result_error},
      {"PQresultErrorField", &pq.result_field},
      {"PQclear", &pq.clear},
      {"PQnfields", &pq.field_count},
      {"PQfname", &pq.field_name},
      {"PQftype", &pq.field_type},
      {"PQntuples", &pq.row_count},
      {"PQgetvalue", &pq.value},
      {"PQgetlength", &pq.length},
      {"PQgetisnull", &pq.is_null},
  };
  for (size_t index = 0; index < sizeof functions / sizeof *functions; index++) {
    void *function = dlsym(library, functions[index].name);
    if (!function) {
      problem = "the system's libpq is too old; install one of PostgreSQL 9.3 or later";
      return;
    }
    memcpy(functions[index].target, &function, sizeof function);
  }
}

const char *shelfmark_pq_load(void) {
  pthread_once(&once, load);
  return problem;
}

/// Notices of the server would go to standard error as they are.
static void ignore(void *context, const char *message) {
  (void)context;
  (void)message;
}

shelfmark_pq_connection *shelfmark_pq_start(const char *url, const char *application) {
  const char *keywords[] = {"dbname", "fallback_application_name", "client_encoding", NULL};
  const char *values[] = {url, application, "UTF8", NULL};
  void *connection = pq.start(keywords, values, 1);
  if (connection) pq.set_notice_processor(connection, ignore, NULL);
  return connection;
}

enum shelfmark_pq_polling shelfmark_pq_connect_poll(shelfmark_pq_connection *connection) {
  switch (pq.connect_poll(connection)) {
  case shelfmark_pq_polling_ok:
    return pq.set_nonblocking(connection, 1) == 0 ? shelfmark_pq_polling_ok : shelfmark_pq_polling_failed;
  case shelfmark_pq_polling_reading: return shelfmark_pq_polling_reading;
  case shelfmark_pq_polling_writing: return shelfmark_pq_polling_writing;
  default: return shelfmark_pq_polling_failed;
  }
}

bool shelfmark_pq_is_bad(const shelfmark_pq_connection *connection) { return pq.status(connection) == connection_bad; }

int shelfmark_pq_socket(const shelfmark_pq_connection *connection) { return pq.socket(connection); }

const char *shelfmark_pq_error_message(const shelfmark_pq_connection *connection) { return pq.error_message(connection); }

void shelfmark_pq_finish(shelfmark_pq_connection *connection) { pq.finish(connection); }

bool shelfmark_pq_option(shelfmark_pq_connection *connection, const char *name, char *value, size_t room) {
  option *options = pq.conninfo(connection);
  bool is_found = false;
  for (option *each = options; each && each->keyword; each++) {
    if (strcmp(each->keyword, name) != 0 || !each->value || !each->value[0]) continue;
    strncpy(value, each->value, room - 1);
    value[room - 1] = 0;
    is_found = true;
  }
  pq.conninfo_free(options);
  return is_found;
}

bool shelfmark_pq_send(shelfmark_pq_connection *connection, const char *statement) {
  return pq.send(connection, statement, 0, NULL, NULL, NULL, NULL, 0) == 1 && pq.set_single_row_mode(connection) == 1;
}

bool shelfmark_pq_send_copy(shelfmark_pq_connection *connection, const char *statement) {
  return pq.send_query(connection, statement) == 1;
}

bool shelfmark_pq_send_prepare(shelfmark_pq_connection *connection, const char *statement) {
  return pq.send_prepare(connection, "", statement, 0, NULL) == 1;
}

bool shelfmark_pq_send_describe(shelfmark_pq_connection *connection) { return pq.send_describe(connection, "") == 1; }

int shelfmark_pq_get_copy_data(shelfmark_pq_connection *connection, char **row) {
  *row = NULL;
  return pq.get_copy_data(connection, row, 1);
}

void shelfmark_pq_free(char *row) { pq.free_memory(row); }

int shelfmark_pq_flush(shelfmark_pq_connection *connection) { return pq.flush(connection); }

bool shelfmark_pq_consume_input(shelfmark_pq_connection *connection) { return pq.consume_input(connection) == 1; }

bool shelfmark_pq_is_busy(shelfmark_pq_connection *connection) { return pq.is_busy(connection) == 1; }

shelfmark_pq_result *shelfmark_pq_get_result(shelfmark_pq_connection *connection) { return pq.get_result(connection); }

void shelfmark_pq_cancel(shelfmark_pq_connection *connection) {
  void *cancel = pq.get_cancel(connection);
  char reason[256];
  // The connection ends next, whether or not the server has heard this.
  if (cancel) pq.cancel(cancel, reason, sizeof reason);
  pq.free_cancel(cancel);
}

enum shelfmark_pq_status shelfmark_pq_result_status(const shelfmark_pq_result *result) {
  switch (pq.result_status(result)) {
  case command_ok: return shelfmark_pq_command_ok;
  case tuples_ok: return shelfmark_pq_tuples_ok;
  case copy_out: return shelfmark_pq_copy_out;
  case single_tuple: return shelfmark_pq_single_tuple;
  default: return shelfmark_pq_other;
  }
}

const char *shelfmark_pq_result_error(const shelfmark_pq_result *result) { return pq.result_error(result); }

const char *shelfmark_pq_result_state(const shelfmark_pq_result *result) { return pq.result_field(result, sqlstate_field); }

void shelfmark_pq_clear(shelfmark_pq_result *result) { pq.clear(result); }

int shelfmark_pq_field_count(const shelfmark_pq_result *result) { return pq.field_count(result); }

const char *shelfmark_pq_field_name(const shelfmark_pq_result *result, int field) { return pq.field_name(result, field); }

uint32_t shelfmark_pq_field_type(const shelfmark_pq_result *result, int field) { return pq.field_type(result, field); }

int shelfmark_pq_row_count(const shelfmark_pq_result *result) { return pq.row_count(result); }

const char *shelfmark_pq_value(const shelfmark_pq_result *result, int row, int field, size_t *length) {
  if (pq.is_null(result, row, field)) return NULL;
  *length = (size_t)pq.length(result, row, field);
  return pq.value(result, row, field);
}
