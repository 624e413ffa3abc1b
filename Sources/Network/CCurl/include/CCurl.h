// libcurl, the system's HTTP client, loaded when the first request is made: programs that stay offline neither need it nor
// spend time on loading it.
//
// A transfer is one request at a time on connections of its own, which the next request reuses. No function calls back:
// `shelfmark_curl_perform` moves bytes between the sockets and two bounded buffers, and stops for a moment when the buffer
// of the answer is full or that of the request is empty. All functions of a transfer belong to one thread at a time, except
// `shelfmark_curl_wake`. Call `shelfmark_curl_load` before any other.

#ifndef SHELFMARK_CCURL_H
#define SHELFMARK_CCURL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct shelfmark_curl_transfer shelfmark_curl_transfer;

/// Loads the library, once in the life of the process.
///
/// Returns null, or the reason why it cannot be used, as a constant text.
const char *_Nullable shelfmark_curl_load(void);
/// The version of the library and of what it uses, for example `libcurl/7.88.1 OpenSSL/3.0.19`, as a constant text.
const char *_Nonnull shelfmark_curl_version(void);

/// What a request is. All texts and headers are copied.
struct shelfmark_curl_request {
  const char *_Nonnull url;
  const char *_Nonnull method;
  /// Lines without their ends; a line without a value ends with `;`, one that libcurl must not send with `:`.
  const char *_Nonnull const *_Nonnull headers;
  size_t header_count;
  /// The length of the body; -1 for an unknown one, -2 for a request without a body.
  int64_t body_length;
  /// `scheme://host:port`; empty for no proxy.
  const char *_Nonnull proxy;
  /// Empty for none.
  const char *_Nonnull proxy_user;
  const char *_Nonnull proxy_password;
  /// A PEM file of the authorities to trust; empty for those of the system.
  const char *_Nonnull authorities;
  /// `aws:amz:REGION:SERVICE` for a request that is signed (AWS Signature Version 4), with the key and its secret; empty
  /// for one that is not.
  const char *_Nonnull signature;
  const char *_Nonnull signature_key;
  const char *_Nonnull signature_secret;
  bool verifies_certificates;
  /// Whether to speak HTTP/1.1 only.
  bool is_http1_only;
  /// Whether to end a connection with its request.
  bool closes_connection;
  /// Whether to end after the TLS handshake, and keep the dates of the server's certificate.
  bool only_connects;
};

/// How a request ended.
struct shelfmark_curl_result {
  /// The number of a `CURLcode`; 0 for a complete answer.
  int code;
  /// The error number of the system call that failed; 0 if none did.
  int system_error;
  /// The status by which a proxy answered to `CONNECT`; 0 without one.
  int proxy_status;
  /// What went wrong, in libcurl's words.
  char message[256];
};

/// A transfer without a request; null if there is no memory.
shelfmark_curl_transfer *_Nullable shelfmark_curl_new(void);
/// Ends the request, if there is one, and closes the connections.
void shelfmark_curl_free(shelfmark_curl_transfer *_Nonnull transfer);

/// Begins a request; returns whether that succeeded.
bool shelfmark_curl_begin(
    shelfmark_curl_transfer *_Nonnull transfer, const struct shelfmark_curl_request *_Nonnull request);
/// Ends the request. A connection whose answer is not complete is closed.
void shelfmark_curl_end(shelfmark_curl_transfer *_Nonnull transfer);

/// Does what can be done without waiting; returns whether the request is still going on.
bool shelfmark_curl_perform(shelfmark_curl_transfer *_Nonnull transfer);
/// Waits until something can be done, for `milliseconds` at most, or until `shelfmark_curl_wake`.
void shelfmark_curl_wait(shelfmark_curl_transfer *_Nonnull transfer, int milliseconds);
/// Ends a wait, also the next one. From any thread.
void shelfmark_curl_wake(shelfmark_curl_transfer *_Nonnull transfer);

/// Whether the connection is open, with TLS and through the proxy, and the request is being sent.
bool shelfmark_curl_is_connected(const shelfmark_curl_transfer *_Nonnull transfer);

/// Whether the next bytes of the request's body are waited for.
bool shelfmark_curl_needs_body(const shelfmark_curl_transfer *_Nonnull transfer);
/// Whether the body has to be given once more, from its beginning.
bool shelfmark_curl_needs_body_again(shelfmark_curl_transfer *_Nonnull transfer);
/// Gives the next bytes of the request's body, which are copied; `is_last` with the last ones. Returns whether there was
/// memory for them.
bool shelfmark_curl_give_body(
    shelfmark_curl_transfer *_Nonnull transfer, const uint8_t *_Nullable bytes, size_t count, bool is_last);

/// The lines of the answer's head; null until it is complete. Informational answers do not count.
const char *_Nullable shelfmark_curl_head(const shelfmark_curl_transfer *_Nonnull transfer, size_t *_Nonnull count);
/// The status of the answer.
int shelfmark_curl_status(const shelfmark_curl_transfer *_Nonnull transfer);
/// The bytes of the answer's body that have arrived and were not taken.
const uint8_t *_Nonnull shelfmark_curl_body(const shelfmark_curl_transfer *_Nonnull transfer, size_t *_Nonnull count);
/// Drops these bytes, and lets more arrive.
void shelfmark_curl_take_body(shelfmark_curl_transfer *_Nonnull transfer);

/// How the request ended.
void shelfmark_curl_get_result(
    const shelfmark_curl_transfer *_Nonnull transfer, struct shelfmark_curl_result *_Nonnull result);
/// The value of a field of the server's own certificate, such as `Expire date`; null without one. Valid until the end.
const char *_Nullable shelfmark_curl_certificate(
    const shelfmark_curl_transfer *_Nonnull transfer, const char *_Nonnull name);

#endif
