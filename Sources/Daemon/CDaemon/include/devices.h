// Serial devices, terminals and keyboards.

#ifndef SHELFMARK_DEVICES_H
#define SHELFMARK_DEVICES_H

/// Opens a device or a FIFO without waiting for it, and without making a terminal the one that controls the process; closes on
/// exec. Returns a descriptor, or -1 with errno set.
int shelfmark_open_device(const char *_Nonnull path, int flags);

/// Lets nobody else get what an event device of Linux says, until it is closed, or lets others again. -1 with errno set on
/// failure.
int shelfmark_grab_keyboard(int descriptor, int grabs);

/// Lets nobody else open a terminal, or lets others again. -1 with errno set on failure.
int shelfmark_claim_terminal(int descriptor, int claims);

/// Takes the lock that programs for serial devices take, without waiting: -1 with errno EWOULDBLOCK when another open of the
/// device has it. Unlike a claim it also keeps out a process with privileges. It ends with the descriptor.
int shelfmark_lock_device(int descriptor);

#endif
