// What tests need of the system that Swift does not offer: fork, limits, mounts, networks, and a process that is cheap to start.

#ifndef SHELFMARK_CPROCESSSUPPORT_H
#define SHELFMARK_CPROCESSSUPPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// Starts the program at `path` with these arguments, the last NULL. Its standard input and output are pipes, whose other
/// ends come back; nobody else inherits them. Returns its id, or -1 with errno set.
int process_spawn(
    const char *_Nonnull path, char *_Nullable const *_Nonnull arguments, int *_Nonnull input, int *_Nonnull output);

/// Waits for a child: its exit code, or 128 and the number of the signal that ended it.
int process_wait(int id);

/// Opens a new pty: returns the side of whoever plays a device, and with the path of the other side in `path`, which has room for `count`
/// bytes. -1 with errno set.
int process_open_pty(char *_Nonnull path, size_t count);

/// fork.
int process_fork(void);

/// What `process_limit` limits.
enum process_limit_kind {
  process_limit_file_size,
  process_limit_open_files,
  process_limit_address_space,
};

/// Sets a soft limit of this process; `UINT64_MAX` raises it to the hard one. Returns 0, or -1 with errno set.
int process_limit(enum process_limit_kind kind, uint64_t value);

/// Mounts a file system in memory of `bytes` at `path`, in a mount namespace of this process alone. Returns 0, or -1
/// with errno set where that is not permitted or not known.
int process_mount_memory(const char *_Nonnull path, uint64_t bytes);

/// Makes what `process_mount_memory` mounted read-only, or writable again.
int process_remount(const char *_Nonnull path, int read_only);

/// Gives the calling thread a network of its own, which has nothing but a loopback that is down. Returns 0, or -1 with errno set
/// where that is not permitted or not known.
int process_isolate_network(void);

/// Makes an interface that ends in this process, in the network of the calling thread. It goes with the descriptor that is
/// returned; -1 with errno set where there is no such thing.
int process_open_tunnel(const char *_Nonnull name);

/// Turns an interface of the calling thread's network on or off. Returns 0, or -1 with errno set.
int process_turn_interface(const char *_Nonnull name, int on);

/// Gives an interface of the calling thread's network an IPv4 address. Returns 0, or -1 with errno set.
int process_give_address(const char *_Nonnull name, const char *_Nonnull address);

/// Gives up root's rights for those of the user and group `id`. Returns 0, or -1 with errno set.
int process_become(unsigned id);

/// Maps the file at `path`, cuts it to nothing, and reads it through the mapping, which raises SIGBUS.
void process_touch_truncated(const char *_Nonnull path);

/// Shows `count` bytes of shared memory from `from` on a second time, at `to`, to be read. Returns 0, or -1 with errno set.
int show_again(void *_Nonnull from, void *_Nonnull to, size_t count);

/// Installs a handler of SIGBUS that ends the process with exit code 42: a plain one, or one that takes an info.
void process_exit_on_bus_error(int takes_info);

/// Whether `count` bytes contain `part`.
bool memory_has(const void *_Nonnull bytes, size_t count, const void *_Nonnull part, size_t part_count);

#endif
