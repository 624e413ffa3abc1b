#include "CTextEncoding.h"

#include <dlfcn.h>
#include <pthread.h>
#include <string.h>

static struct {
  void *(*create)(void);
  void (*delete)(void *);
  int (*handle_data)(void *, const char *, size_t);
  void (*data_end)(void *);
  const char *(*charset)(void *);
} detector;

static bool is_loaded;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void load(void) {
#ifdef __APPLE__
  const char *names[] = {"libuchardet.0.dylib", "/opt/homebrew/lib/libuchardet.0.dylib", "/usr/local/lib/libuchardet.0.dylib"};
#else
  const char *names[] = {"libuchardet.so.0"};
#endif
  void *library = NULL;
  for (size_t index = 0; !library && index < sizeof names / sizeof *names; index++) {
    library = dlopen(names[index], RTLD_NOW | RTLD_LOCAL);
  }
  if (!library) return;
  detector.create = (void *(*)(void))dlsym(library, "uchardet_new");
  detector.delete = (void (*)(void *))dlsym(library, "uchardet_delete");
  detector.handle_data = (int (*)(void *, const char *, size_t))dlsym(library, "uchardet_handle_data");
  detector.data_end = (void (*)(void *))dlsym(library, "uchardet_data_end");
  detector.charset = (const char *(*)(void *))dlsym(library, "uchardet_get_charset");
  is_loaded = detector.create && detector.delete && detector.handle_data && detector.data_end && detector.charset;
}

bool shelfmark_encoding_detect(const uint8_t *bytes, size_t count, char *name, size_t room) {
  pthread_once(&once, load);
  void *run = is_loaded ? detector.create() : NULL;
  if (!run) return false;
  bool is_known = false;
  if (detector.handle_data(run, (const char *)bytes, count) == 0) {
    detector.data_end(run);
    const char *found = detector.charset(run);
    size_t length = strlen(found);
    is_known = length > 0 && length < room;
    if (is_known) memcpy(name, found, length + 1);
  }
  detector.delete(run);
  return is_known;
}
