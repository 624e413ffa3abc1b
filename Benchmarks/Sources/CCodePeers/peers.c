#include <stdio.h>

#include "code_peers.h"

#ifdef PEER_LMDB
extern const code_peer code_lmdb;
#endif
#ifdef PEER_SQLITE
extern const code_peer code_sqlite;
#endif

static const code_peer *const peers[] = {
#ifdef PEER_LMDB
    &code_lmdb,
#endif
#ifdef PEER_SQLITE
    &code_sqlite,
#endif
    NULL};

const code_peer *const *code_peer_list(void) { return peers; }

static _Thread_local char message[512];

const char *code_message(void) { return message; }

int code_failed(const char *call, const char *why) {
  snprintf(message, sizeof message, "%s: %s", call, why ? why : "failed");
  return -1;
}
