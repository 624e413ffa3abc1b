// What only the daemon calls: devices, text encodings of scanners, messages of the kernel about the network, datagrams to the
// service manager.

#ifndef SHELFMARK_CDAEMON_H
#define SHELFMARK_CDAEMON_H

#include "devices.h"
#include "route_messages.h"
#include "service_manager.h"
#include "text_encoding.h"

#endif
