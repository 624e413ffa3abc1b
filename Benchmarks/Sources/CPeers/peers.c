#include <stdio.h>

#include "record.h"

static _Thread_local char message[512];

int peer_fail(const char *call, const char *text) {
  snprintf(message, sizeof message, "%s: %s", call, text ? text : "no reason given");
  return -1;
}

const char *peer_message(void) { return message; }

extern const peer_api peer_bound, peer_sqlite, peer_sqlite_transaction, peer_lmdb, peer_tkrzw, peer_leveldb,
    peer_rocksdb, peer_cdb;

const peer_api *const *peer_list(void) {
  static const peer_api *const list[] = {
      &peer_bound,
#ifdef PEER_SQLITE
      &peer_sqlite,
      &peer_sqlite_transaction,
#endif
#ifdef PEER_LMDB
      &peer_lmdb,
#endif
#ifdef PEER_ROCKSDB
      &peer_rocksdb,
#endif
#ifdef PEER_LEVELDB
      &peer_leveldb,
#endif
#ifdef PEER_TKRZW
      &peer_tkrzw,
#endif
#ifdef PEER_CDB
      &peer_cdb,
#endif
      NULL,
  };
  return list;
}
