#define _GNU_SOURCE
#include "mapping_guard.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#if !defined(MAP_ANONYMOUS)
#define MAP_ANONYMOUS MAP_ANON
#endif

// The table is a list of chunks that grows and never shrinks, so that the handler may walk it at any moment. A range
// that is being changed has an odd version; the handler passes over it. The range that it looks for is never one of
// these: a range is registered before anyone touches its memory, and unregistered after the last one did.

struct shelfmark_range {
  atomic_bool taken;
  atomic_uint version;
  _Atomic uintptr_t start;
  _Atomic uintptr_t end;
  atomic_bool lost;
};

enum { ranges_per_chunk = 64 };

struct chunk {
  struct shelfmark_range ranges[ranges_per_chunk];
  _Atomic(struct chunk *) next;
};

static struct chunk first_chunk;

// Written once, before the handler is installed.
static struct sigaction previous;
static uintptr_t page_size;

static void set_range(struct shelfmark_range *range, uintptr_t start, uintptr_t end) {
  // As in a sequence lock: whoever sees one of the new values sees an odd or a newer version too.
  atomic_fetch_add_explicit(&range->version, 1, memory_order_relaxed);
  atomic_thread_fence(memory_order_release);
  atomic_store_explicit(&range->start, start, memory_order_relaxed);
  atomic_store_explicit(&range->end, end, memory_order_relaxed);
  atomic_store_explicit(&range->lost, false, memory_order_relaxed);
  atomic_fetch_add_explicit(&range->version, 1, memory_order_release);
}

static struct chunk *chunk_after(struct chunk *chunk) {
  struct chunk *next = atomic_load_explicit(&chunk->next, memory_order_acquire);
  if (next) return next;
  struct chunk *fresh = calloc(1, sizeof *fresh);
  if (!fresh) return NULL;
  // Another thread may have been faster; then its chunk is the next one.
  if (atomic_compare_exchange_strong_explicit(
          &chunk->next, &next, fresh, memory_order_acq_rel, memory_order_acquire)) {
    return fresh;
  }
  free(fresh);
  return next;
}

struct shelfmark_range *shelfmark_guard(const void *start, size_t count) {
  for (struct chunk *chunk = &first_chunk; chunk; chunk = chunk_after(chunk)) {
    for (int i = 0; i < ranges_per_chunk; i++) {
      struct shelfmark_range *range = &chunk->ranges[i];
      if (atomic_load_explicit(&range->taken, memory_order_relaxed)) continue;
      if (atomic_exchange_explicit(&range->taken, true, memory_order_acquire)) continue;
      set_range(range, (uintptr_t)start, (uintptr_t)start + count);
      return range;
    }
  }
  return NULL;
}

void shelfmark_unguard(struct shelfmark_range *range) {
  set_range(range, 0, 0);
  atomic_store_explicit(&range->taken, false, memory_order_release);
}

bool shelfmark_is_lost(const struct shelfmark_range *range) {
  // The handler says so before it lets the page be read. The fence keeps the load behind those of the page.
  atomic_thread_fence(memory_order_acquire);
  return atomic_load_explicit(&range->lost, memory_order_relaxed);
}

// Whether the signal was raised by an access to memory whose contents the system could not bring, and not sent by
// a program or raised by an address that the instruction does not take.
static bool is_paging_fault(const siginfo_t *info) {
#if defined(__linux__)
  return info->si_code > 0 && info->si_code != BUS_ADRALN;
#else
  return info->si_code != SI_USER && info->si_code != SI_QUEUE;
#endif
}

static bool put_zeros(uintptr_t start, uintptr_t end) {
  int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED;
  return mmap((void *)start, end - start, PROT_READ, flags, -1, 0) != MAP_FAILED;
}

// Async-signal-safe: atomics, and mmap, which is a bare system call.
static bool replace_page(uintptr_t address) {
  struct chunk *chunk = &first_chunk;
  for (; chunk; chunk = atomic_load_explicit(&chunk->next, memory_order_acquire)) {
    for (int i = 0; i < ranges_per_chunk; i++) {
      struct shelfmark_range *range = &chunk->ranges[i];
      unsigned version = atomic_load_explicit(&range->version, memory_order_acquire);
      uintptr_t start = atomic_load_explicit(&range->start, memory_order_relaxed);
      uintptr_t end = atomic_load_explicit(&range->end, memory_order_relaxed);
      atomic_thread_fence(memory_order_acquire);
      if (version & 1 || version != atomic_load_explicit(&range->version, memory_order_relaxed)) continue;
      if (address < start || address >= end) continue;
      atomic_store_explicit(&range->lost, true, memory_order_seq_cst);
      uintptr_t page = address & ~(page_size - 1);
      // Each piece costs one of the system's limited number of mappings; where that is used up, the range becomes one.
      return put_zeros(page, page + page_size) || put_zeros(start, end);
    }
  }
  return false;
}

static void restore_default(int signal) {
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_handler = SIG_DFL;
  sigemptyset(&action.sa_mask);
  sigaction(signal, &action, NULL);
}

// What would have happened without the guard.
static void pass_on(int signal, siginfo_t *info, void *context) {
  bool is_fault = is_paging_fault(info) || info->si_code == BUS_ADRALN;
  bool is_function = (previous.sa_flags & SA_SIGINFO) ||
                     (previous.sa_handler != SIG_DFL && previous.sa_handler != SIG_IGN);
  if (is_function) {
    if (previous.sa_flags & (int)SA_RESETHAND) restore_default(signal);
    if (previous.sa_flags & SA_SIGINFO) {
      previous.sa_sigaction(signal, info, context);
    } else {
      previous.sa_handler(signal);
    }
  } else if (is_fault) {
    // A fault cannot be ignored. On return the instruction runs again, and the system ends the process as it would have.
    restore_default(signal);
  } else if (previous.sa_handler == SIG_DFL) {
    // It was sent. Blocked while the handler runs, it arrives on return.
    restore_default(signal);
    raise(signal);
  }
}

static void handle(int signal, siginfo_t *info, void *context) {
  int saved = errno;
  if (!is_paging_fault(info) || !replace_page((uintptr_t)info->si_addr)) pass_on(signal, info, context);
  errno = saved;
}

int shelfmark_install_guard(void) {
  static atomic_flag installed = ATOMIC_FLAG_INIT;
  // A second time could make a circle of handlers, if someone put his own on top that calls this one.
  if (atomic_flag_test_and_set(&installed)) return 0;
  page_size = (uintptr_t)sysconf(_SC_PAGESIZE);
  if (sigaction(SIGBUS, NULL, &previous) != 0) goto failed;
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_sigaction = handle;
  // What the handler before it asked for, it gets when it is called from here.
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART | (previous.sa_flags & SA_NODEFER);
  action.sa_mask = previous.sa_mask;
  if (sigaction(SIGBUS, &action, NULL) == 0) return 0;
failed:;
  int code = errno;
  atomic_flag_clear(&installed);
  errno = code;
  return -1;
}
