#include <stdio.h>

#include "ordered_peers.h"

#ifdef PEER_LMDB
extern const ordered_peer ordered_lmdb;
#endif
#ifdef PEER_ROCKSDB
extern const ordered_peer ordered_rocksdb;
#endif
#ifdef PEER_SQLITE
extern const ordered_peer ordered_sqlite;
#endif

static const ordered_peer *const peers[] = {
#ifdef PEER_LMDB
    &ordered_lmdb,
#endif
#ifdef PEER_ROCKSDB
    &ordered_rocksdb,
#endif
#ifdef PEER_SQLITE
    &ordered_sqlite,
#endif
    NULL};

const ordered_peer *const *ordered_peer_list(void) { return peers; }

static _Thread_local char message[512];

const char *ordered_message(void) { return message; }

int ordered_failed(const char *call, const char *why) {
  snprintf(message, sizeof message, "%s: %s", call, why ? why : "failed");
  return -1;
}
