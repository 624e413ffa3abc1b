#define _GNU_SOURCE
#include "CProcessSupport.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static int make_pipe(int ends[2]) {
  if (pipe(ends) != 0) return -1;
  // Raised above the standard descriptors, so that the child's copies keep out of each other's way.
  for (int i = 0; i < 2; i++) {
    int moved = fcntl(ends[i], F_DUPFD_CLOEXEC, 10);
    close(ends[i]);
    if (moved < 0) return -1;
    ends[i] = moved;
  }
  return 0;
}

int process_spawn(const char *path, char *const *arguments, int *input, int *output) {
  int in[2], out[2];
  if (make_pipe(in) != 0 || make_pipe(out) != 0) return -1;
  // A fault ends the child at once, without a search for symbols.
  char *environment[512];
  int count = 0;
  for (char **entry = environ; *entry && count < 510; entry++) {
    if (strncmp(*entry, "SWIFT_BACKTRACE=", 16) != 0) environment[count++] = *entry;
  }
  environment[count++] = "SWIFT_BACKTRACE=enable=no";
  environment[count] = NULL;
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, in[0], 0);
  posix_spawn_file_actions_adddup2(&actions, out[1], 1);
  pid_t id = -1;
  int code = posix_spawn(&id, path, &actions, NULL, arguments, environment);
  posix_spawn_file_actions_destroy(&actions);
  close(in[0]);
  close(out[1]);
  if (code != 0) {
    close(in[1]);
    close(out[0]);
    errno = code;
    return -1;
  }
  *input = in[1];
  *output = out[0];
  return id;
}

int process_wait(int id) {
  int status;
  while (waitpid(id, &status, 0) < 0) {
    if (errno != EINTR) return -1;
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int process_open_pty(char *path, size_t count) {
  int scanner = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
  if (scanner < 0) return -1;
  if (grantpt(scanner) != 0 || unlockpt(scanner) != 0 || ptsname_r(scanner, path, count) != 0) {
    close(scanner);
    return -1;
  }
  return scanner;
}

int process_fork(void) { return fork(); }

int process_limit(enum process_limit_kind kind, uint64_t value) {
  int resource = kind == process_limit_file_size    ? (int)RLIMIT_FSIZE
                 : kind == process_limit_open_files ? (int)RLIMIT_NOFILE
                                                    : (int)RLIMIT_AS;
  struct rlimit limit;
  if (getrlimit(resource, &limit) != 0) return -1;
  limit.rlim_cur = value == UINT64_MAX ? limit.rlim_max : (rlim_t)value;
  return setrlimit(resource, &limit);
}

int process_mount_memory(const char *path, uint64_t bytes) {
#if defined(__linux__)
  char options[64];
  snprintf(options, sizeof options, "size=%llu,nr_inodes=256,mode=0700", (unsigned long long)bytes);
  if (unshare(CLONE_NEWNS) != 0) return -1;
  if (mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0) return -1;
  return mount("none", path, "tmpfs", 0, options);
#else
  errno = ENOTSUP;
  return -1;
#endif
}

int process_remount(const char *path, int read_only) {
#if defined(__linux__)
  return mount("none", path, "tmpfs", MS_REMOUNT | (read_only ? MS_RDONLY : 0), NULL);
#else
  errno = ENOTSUP;
  return -1;
#endif
}

int process_become(unsigned id) {
  if (setgroups(0, NULL) != 0 || setgid((gid_t)id) != 0) return -1;
  return setuid((uid_t)id);
}

void process_touch_truncated(const char *path) {
  int file = open(path, O_RDWR | O_CREAT, 0600);
  if (file < 0 || ftruncate(file, 4096) != 0) return;
  volatile char *bytes = mmap(NULL, 4096, PROT_READ, MAP_SHARED, file, 0);
  if (bytes == MAP_FAILED || ftruncate(file, 0) != 0) return;
  (void)bytes[100];
}

static void leave(int signal) {
  (void)signal;
  _exit(42);
}

static void leave_with_info(int signal, siginfo_t *info, void *context) {
  (void)context;
  _exit(signal == SIGBUS && info->si_addr ? 42 : 43);
}

void process_exit_on_bus_error(int takes_info) {
  struct sigaction action;
  memset(&action, 0, sizeof action);
  if (takes_info) {
    action.sa_sigaction = leave_with_info;
    action.sa_flags = SA_SIGINFO;
  } else {
    action.sa_handler = leave;
  }
  sigaction(SIGBUS, &action, NULL);
}
