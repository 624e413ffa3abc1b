#include "CCurl.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

// What libcurl promises about its binary interface since 7.16: the numbers of these constants, and the members of these
// structures.

typedef struct list {
  char *data;
  struct list *next;
} list;

typedef struct {
  int count;
  list **fields;
} certificates;

typedef struct {
  int kind;
  void *easy;
  union {
    void *any;
    int code;
  } data;
} message;

enum {
  // Options: numbers from 0, addresses from 10000, functions from 20000, lengths from 30000.
  option_write_data = 10001,
  option_url = 10002,
  option_proxy = 10004,
  option_read_data = 10009,
  option_error_buffer = 10010,
  option_write_function = 20011,
  option_read_function = 20012,
  option_headers = 10023,
  option_header_data = 10029,
  option_method = 10036,
  option_no_body = 44,
  option_upload = 46,
  option_verify_peer = 64,
  option_authorities = 10065,
  option_fresh_connect = 74,
  option_forbid_reuse = 75,
  option_header_function = 20079,
  option_verify_host = 81,
  option_http_version = 84,
  option_authority_folder = 10097,
  option_buffer_size = 98,
  option_no_signal = 99,
  option_length = 30115,
  option_only_connect = 141,
  option_connect_timeout = 156,
  option_seek_function = 20167,
  option_seek_data = 10168,
  option_certificates = 172,
  option_user = 10173,
  option_password = 10174,
  option_proxy_user = 10175,
  option_proxy_password = 10176,
  option_no_proxy = 10177,
  option_protocols = 181,
  option_expect_timeout = 227,
  option_path_as_is = 234,
  option_no_connect_heads = 265,
  option_upload_buffer_size = 280,
  option_http09 = 285,
  option_proxy_authorities = 10246,
  option_proxy_authority_folder = 10247,
  option_signature = 10305,

  // Facts about a request.
  fact_status = 0x200000 + 2,
  fact_proxy_status = 0x200000 + 22,
  fact_system_error = 0x200000 + 25,
  fact_certificates = 0x400000 + 34,
  fact_pretransfer_time = 0x600000 + 53,

  protocol_http = 1,
  protocol_https = 2,
  http_1_1 = 2,
  http_2_over_tls = 4,
  global_all = 3,
  pause_receiving = 1,
  pause_sending = 4,
  function_pause = 0x10000001,
  code_out_of_memory = 27,
  message_done = 1,
};

static struct {
  int (*global_init)(long);
  char *(*version)(void);
  list *(*append)(list *, const char *);
  void (*free_list)(list *);
  void *(*easy_init)(void);
  void (*easy_cleanup)(void *);
  void (*easy_reset)(void *);
  int (*set)(void *, int, ...);
  int (*get)(void *, int, ...);
  const char *(*text)(int);
  int (*pause)(void *, int);
  void *(*multi_init)(void);
  int (*multi_cleanup)(void *);
  int (*add)(void *, void *);
  int (*remove)(void *, void *);
  int (*perform)(void *, int *);
  int (*poll)(void *, void *, unsigned, int, int *);
  int (*wakeup)(void *);
  message *(*next_message)(void *, int *);
} curl;

static const char *problem;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void load(void) {
#ifdef __APPLE__
  const char *names[] = {"libcurl.4.dylib", "/usr/lib/libcurl.4.dylib"};
#else
  const char *names[] = {"libcurl.so.4", "libcurl-gnutls.so.4"};
#endif
  void *library = NULL;
  for (size_t index = 0; !library && index < sizeof names / sizeof *names; index++) {
    library = dlopen(names[index], RTLD_NOW | RTLD_LOCAL);
  }
  if (!library) {
    problem = "the HTTP client library, libcurl, is not on this system; install it (on Debian: apt install libcurl4)";
    return;
  }
  const struct {
    const char *name;
    void *target;
  } functions[] = {
      {"curl_global_init", &curl.global_init},
      {"curl_version", &curl.version},
      {"curl_slist_append", &curl.append},
      {"curl_slist_free_all", &curl.free_list},
      {"curl_easy_init", &curl.easy_init},
      {"curl_easy_cleanup", &curl.easy_cleanup},
      {"curl_easy_reset", &curl.easy_reset},
      {"curl_easy_setopt", &curl.set},
      {"curl_easy_getinfo", &curl.get},
      {"curl_easy_strerror", &curl.text},
      {"curl_easy_pause", &curl.pause},
      {"curl_multi_init", &curl.multi_init},
      {"curl_multi_cleanup", &curl.multi_cleanup},
      {"curl_multi_add_handle", &curl.add},
      {"curl_multi_remove_handle", &curl.remove},
      {"curl_multi_perform", &curl.perform},
      {"curl_multi_poll", &curl.poll},
      // The newest of them.
      {"curl_multi_wakeup", &curl.wakeup},
      {"curl_multi_info_read", &curl.next_message},
  };
  for (size_t index = 0; index < sizeof functions / sizeof *functions; index++) {
    void *function = dlsym(library, functions[index].name);
    if (!function) {
      problem = "the system's libcurl is too old; install version 7.68 or later";
      return;
    }
    memcpy(functions[index].target, &function, sizeof function);
  }
  if (curl.global_init(global_all) != 0) problem = "the system's libcurl cannot be initialised";
}

const char *shelfmark_curl_load(void) {
  pthread_once(&once, load);
  return problem;
}

const char *shelfmark_curl_version(void) { return curl.version(); }

enum {
  /// The room of the answer's body: some of the largest pieces that libcurl hands over (16 KiB).
  body_room = 256 << 10,
  /// The largest head of an answer.
  head_room = 256 << 10,
  /// libcurl's buffers of a connection.
  socket_buffer = 128 << 10,
};

struct shelfmark_curl_transfer {
  void *multi, *easy;
  list *headers;
  bool is_running, is_done;
  int code;
  char message[256];

  // The request's body: the bytes that were given, up to where they were sent.
  uint8_t *given;
  size_t given_count, given_room, sent;
  bool is_last_given, is_only_given, is_starved, is_rewound;

  // The answer.
  char *head;
  size_t head_count, head_space;
  bool is_head_complete, is_body_full;
  uint8_t *body;
  size_t body_count;
};

static size_t on_header(char *bytes, size_t size, size_t count, void *context) {
  shelfmark_curl_transfer *transfer = context;
  size *= count;
  // Fields after the body say nothing that is asked for.
  if (transfer->is_head_complete) return size;
  if (size >= 5 && memcmp(bytes, "HTTP/", 5) == 0) transfer->head_count = 0;
  if (size > head_room - transfer->head_count) return 0;
  if (transfer->head_count + size > transfer->head_space) {
    size_t space = (transfer->head_count + size) * 2;
    char *larger = realloc(transfer->head, space);
    if (!larger) return 0;
    transfer->head = larger;
    transfer->head_space = space;
  }
  memcpy(transfer->head + transfer->head_count, bytes, size);
  transfer->head_count += size;
  bool is_end = size == 1 || (size == 2 && bytes[0] == '\r');
  // 101 is the last head too: the connection speaks another protocol after it.
  int status = is_end ? shelfmark_curl_status(transfer) : 0;
  if (is_end) transfer->is_head_complete = status >= 200 || status == 101;
  return size;
}

static size_t on_body(char *bytes, size_t size, size_t count, void *context) {
  shelfmark_curl_transfer *transfer = context;
  size *= count;
  if (size > body_room) return 0;
  if (size > body_room - transfer->body_count) {
    transfer->is_body_full = true;
    return function_pause;
  }
  memcpy(transfer->body + transfer->body_count, bytes, size);
  transfer->body_count += size;
  return size;
}

static size_t on_read(char *buffer, size_t size, size_t count, void *context) {
  shelfmark_curl_transfer *transfer = context;
  size *= count;
  size_t left = transfer->given_count - transfer->sent;
  if (left == 0) {
    if (transfer->is_last_given) return 0;
    transfer->is_starved = true;
    return function_pause;
  }
  size_t taken = left < size ? left : size;
  memcpy(buffer, transfer->given + transfer->sent, taken);
  transfer->sent += taken;
  return taken;
}

/// libcurl sends a request again if the connection that it reused was just being closed by the server.
static int on_seek(void *context, int64_t offset, int origin) {
  shelfmark_curl_transfer *transfer = context;
  if (offset != 0 || origin != 0) return 2;
  transfer->sent = 0;
  if (!transfer->is_only_given) {
    transfer->given_count = 0;
    transfer->is_last_given = false;
    transfer->is_rewound = true;
  }
  return 0;
}

shelfmark_curl_transfer *shelfmark_curl_new(void) {
  shelfmark_curl_transfer *transfer = calloc(1, sizeof *transfer);
  if (!transfer) return NULL;
  transfer->multi = curl.multi_init();
  transfer->easy = curl.easy_init();
  transfer->body = malloc(body_room);
  if (transfer->multi && transfer->easy && transfer->body) return transfer;
  shelfmark_curl_free(transfer);
  return NULL;
}

void shelfmark_curl_free(shelfmark_curl_transfer *transfer) {
  shelfmark_curl_end(transfer);
  if (transfer->easy) curl.easy_cleanup(transfer->easy);
  if (transfer->multi) curl.multi_cleanup(transfer->multi);
  free(transfer->body);
  free(transfer->head);
  free(transfer->given);
  free(transfer);
}

/// Numbers are passed as `long`, lengths as `int64_t`.
static bool set_options(shelfmark_curl_transfer *transfer, const struct shelfmark_curl_request *request) {
  void *easy = transfer->easy;
  bool is_set = true;
#define SET(option, value) is_set = curl.set(easy, option, value) == 0 && is_set
  SET(option_url, request->url);
  SET(option_method, request->method);
  SET(option_error_buffer, transfer->message);
  SET(option_no_signal, 1L);
  SET(option_protocols, (long)(protocol_http | protocol_https));
  // A libcurl without HTTP/2 refuses that, and speaks HTTP/1.1.
  curl.set(easy, option_http_version, (long)(request->is_http1_only ? http_1_1 : http_2_over_tls));
  SET(option_path_as_is, 1L);
  SET(option_no_connect_heads, 1L);
  // After an attempt that found no address, libcurl 7.88 still has its buffer, and refuses to change its size.
  curl.set(easy, option_buffer_size, (long)socket_buffer);
  // The caller has limits of its own; this one only ends an attempt that the caller has forgotten.
  SET(option_connect_timeout, 3600L * 1000);
  SET(option_http09, 0L);
  SET(option_header_function, on_header);
  SET(option_header_data, transfer);
  SET(option_write_function, on_body);
  SET(option_write_data, transfer);
  // Without these two, libcurl asks the environment.
  SET(option_proxy, request->proxy);
  SET(option_no_proxy, "");
  if (request->proxy_user[0]) SET(option_proxy_user, request->proxy_user);
  if (request->proxy_password[0]) SET(option_proxy_password, request->proxy_password);
  SET(option_verify_peer, request->verifies_certificates ? 1L : 0L);
  SET(option_verify_host, request->verifies_certificates ? 2L : 0L);
  if (request->authorities[0]) {
    SET(option_authorities, request->authorities);
    // Otherwise the system's folder would be trusted too.
    curl.set(easy, option_authority_folder, NULL);
    // A libcurl that cannot speak TLS to a proxy refuses these two.
    curl.set(easy, option_proxy_authorities, request->authorities);
    curl.set(easy, option_proxy_authority_folder, NULL);
  }
  if (request->signature[0]) {
    SET(option_signature, request->signature);
    SET(option_user, request->signature_key);
    SET(option_password, request->signature_secret);
    // Such a request has an `Expect` if it has a body, which a server that refuses it need not take. One that does not
    // answer is not waited for.
    SET(option_expect_timeout, 100L);
  }
  if (request->closes_connection) {
    SET(option_fresh_connect, 1L);
    SET(option_forbid_reuse, 1L);
  }
  if (request->only_connects) {
    SET(option_only_connect, 1L);
    SET(option_certificates, 1L);
  }
  if (request->body_length >= -1) {
    SET(option_upload, 1L);
    curl.set(easy, option_upload_buffer_size, (long)socket_buffer);
    SET(option_length, request->body_length);
    SET(option_read_function, on_read);
    SET(option_read_data, transfer);
    SET(option_seek_function, on_seek);
    SET(option_seek_data, transfer);
  } else if (strcmp(request->method, "HEAD") == 0) {
    SET(option_no_body, 1L);
  }
  for (size_t index = 0; is_set && index < request->header_count; index++) {
    list *longer = curl.append(transfer->headers, request->headers[index]);
    is_set = longer != NULL;
    if (longer) transfer->headers = longer;
  }
  SET(option_headers, transfer->headers);
#undef SET
  return is_set;
}

bool shelfmark_curl_begin(shelfmark_curl_transfer *transfer, const struct shelfmark_curl_request *request) {
  shelfmark_curl_end(transfer);
  curl.easy_reset(transfer->easy);
  transfer->is_done = false;
  transfer->code = 0;
  transfer->message[0] = 0;
  transfer->given_count = transfer->sent = 0;
  transfer->is_last_given = transfer->is_starved = transfer->is_rewound = false;
  transfer->is_only_given = true;
  transfer->head_count = transfer->body_count = 0;
  transfer->is_head_complete = transfer->is_body_full = false;
  transfer->is_running = set_options(transfer, request) && curl.add(transfer->multi, transfer->easy) == 0;
  return transfer->is_running;
}

void shelfmark_curl_end(shelfmark_curl_transfer *transfer) {
  if (transfer->is_running) curl.remove(transfer->multi, transfer->easy);
  transfer->is_running = false;
  if (transfer->headers) curl.free_list(transfer->headers);
  transfer->headers = NULL;
}

bool shelfmark_curl_perform(shelfmark_curl_transfer *transfer) {
  int running = 0, left = 0;
  if (curl.perform(transfer->multi, &running) != 0) {
    transfer->is_done = true;
    transfer->code = code_out_of_memory;
  }
  for (message *each; (each = curl.next_message(transfer->multi, &left));) {
    if (each->kind != message_done) continue;
    transfer->is_done = true;
    transfer->code = each->data.code;
  }
  return !transfer->is_done;
}

void shelfmark_curl_wait(shelfmark_curl_transfer *transfer, int milliseconds) {
  curl.poll(transfer->multi, NULL, 0, milliseconds, NULL);
}

void shelfmark_curl_wake(shelfmark_curl_transfer *transfer) { curl.wakeup(transfer->multi); }

bool shelfmark_curl_is_connected(const shelfmark_curl_transfer *transfer) {
  int64_t time = 0;
  return curl.get(transfer->easy, fact_pretransfer_time, &time) == 0 && time > 0;
}

bool shelfmark_curl_needs_body(const shelfmark_curl_transfer *transfer) {
  return transfer->is_starved && !transfer->is_last_given;
}

bool shelfmark_curl_needs_body_again(shelfmark_curl_transfer *transfer) {
  bool is_rewound = transfer->is_rewound;
  transfer->is_rewound = false;
  return is_rewound;
}

/// Lets bytes flow in the directions that wait for nothing.
static void resume(shelfmark_curl_transfer *transfer) {
  if (!transfer->is_running) return;
  curl.pause(
      transfer->easy,
      (transfer->is_body_full ? pause_receiving : 0) | (transfer->is_starved ? pause_sending : 0));
}

bool shelfmark_curl_give_body(shelfmark_curl_transfer *transfer, const uint8_t *bytes, size_t count, bool is_last) {
  // What was sent is not needed again, unless all of the body was given at once.
  if (transfer->given_count > 0) transfer->is_only_given = false;
  if (!is_last) transfer->is_only_given = false;
  size_t left = transfer->given_count - transfer->sent;
  if (left > 0) memmove(transfer->given, transfer->given + transfer->sent, left);
  if (left + count > transfer->given_room) {
    uint8_t *larger = realloc(transfer->given, left + count);
    if (!larger) return false;
    transfer->given = larger;
    transfer->given_room = left + count;
  }
  if (count > 0) memcpy(transfer->given + left, bytes, count);
  transfer->given_count = left + count;
  transfer->sent = 0;
  transfer->is_last_given = is_last;
  if (transfer->is_starved) {
    transfer->is_starved = false;
    resume(transfer);
  }
  return true;
}

const char *shelfmark_curl_head(const shelfmark_curl_transfer *transfer, size_t *count) {
  *count = transfer->head_count;
  return transfer->is_head_complete ? transfer->head : NULL;
}

int shelfmark_curl_status(const shelfmark_curl_transfer *transfer) {
  long status = 0;
  curl.get(transfer->easy, fact_status, &status);
  return (int)status;
}

const uint8_t *shelfmark_curl_body(const shelfmark_curl_transfer *transfer, size_t *count) {
  *count = transfer->body_count;
  return transfer->body;
}

void shelfmark_curl_take_body(shelfmark_curl_transfer *transfer) {
  transfer->body_count = 0;
  if (!transfer->is_body_full) return;
  transfer->is_body_full = false;
  resume(transfer);
}

void shelfmark_curl_get_result(const shelfmark_curl_transfer *transfer, struct shelfmark_curl_result *result) {
  long number = 0;
  result->code = transfer->code;
  result->system_error = curl.get(transfer->easy, fact_system_error, &number) == 0 ? (int)number : 0;
  number = 0;
  result->proxy_status = curl.get(transfer->easy, fact_proxy_status, &number) == 0 ? (int)number : 0;
  const char *text = transfer->message[0] ? transfer->message : curl.text(transfer->code);
  strncpy(result->message, text, sizeof result->message - 1);
  result->message[sizeof result->message - 1] = 0;
}

const char *shelfmark_curl_certificate(const shelfmark_curl_transfer *transfer, const char *name) {
  certificates *all = NULL;
  if (curl.get(transfer->easy, fact_certificates, &all) != 0 || !all || all->count == 0) return NULL;
  size_t length = strlen(name);
  for (const list *field = all->fields[0]; field; field = field->next) {
    if (strncasecmp(field->data, name, length) == 0 && field->data[length] == ':') return field->data + length + 1;
  }
  return NULL;
}
