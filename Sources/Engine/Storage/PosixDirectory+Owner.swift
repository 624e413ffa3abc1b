import CStorage
import Platform

// What root creates in the directory of another user belongs to that user, so that a command that an administrator runs
// next to a service leaves nothing that the service cannot use. It is given away by the descriptor of what was just
// created, and never by a name: the owner of the directory may have linked any other file to that name.

/// The user and group to whom an entry is given.
struct EntryOwner {
  let user: uid_t
  let group: gid_t
}

extension PosixDirectory {
  /// The owner that an entry of this directory gets: that of the directory, if root creates it and the directory belongs
  /// to another user; otherwise `nil`, and it stays with this process's user.
  func ownerOfNewEntries() throws(StorageError) -> EntryOwner? {
    guard geteuid() == 0 else { return nil }
    var status = stat()
    // The call fills in the local structure.
    if retrying({ unsafe fstat(descriptor, &status) }) != 0 {
      throw StorageError(operation: "look at", path: path, code: errno)
    }
    return status.st_uid == 0 ? nil : EntryOwner(user: status.st_uid, group: status.st_gid)
  }

  /// Creates the file `name`, which must be a free name, with mode 0600, and gives it to `owner`.
  ///
  /// - Returns: Its descriptor, open for reading and writing.
  func create(_ name: String, for owner: EntryOwner) throws(StorageError) -> Int32 {
    let flags = O_RDWR | O_CREAT | O_EXCL | O_NONBLOCK
    let file = retrying { unsafe shelfmark_openat(descriptor, checked(name), flags, 0o600) }
    if file < 0 { throw failure("create", name) }
    do throws(StorageError) { try give(file, name, mode: 0o600, to: owner) } catch {
      close(file)
      _ = try? remove(name)
      throw error
    }
    return file
  }

  /// Opens the file `name` for reading and writing, and creates it if it is missing. An existing one keeps its owner.
  ///
  /// - Returns: Its descriptor.
  func openOrCreate(_ name: String) throws(StorageError) -> Int32 {
    let owner = try ownerOfNewEntries()
    let flags = O_RDWR | O_NONBLOCK | (owner == nil ? O_CREAT : 0)
    while true {
      let file = retrying { unsafe shelfmark_openat(descriptor, checked(name), flags, 0o600) }
      if file >= 0 { return file }
      guard let owner, errno == ENOENT else { throw failure("open", name) }
      // Another process may create it meanwhile.
      do throws(StorageError) { return try create(name, for: owner) } catch { if error.code != EEXIST { throw error } }
    }
  }

  /// Gives the directory `name`, which this process has just created, to `owner`, with mode 0700.
  func give(directory name: String, to owner: EntryOwner) throws(StorageError) {
    let made = retrying { unsafe shelfmark_openat(descriptor, checked(name), O_RDONLY | O_DIRECTORY, 0) }
    if made < 0 { throw failure("open directory", name) }
    defer { close(made) }
    var status = stat()
    // The call fills in the local structure.
    if retrying({ unsafe fstat(made, &status) }) != 0 { throw failure("look at", name) }
    // Another process has put a directory of its own in its place.
    if status.st_uid != 0 { return }
    do throws(StorageError) { try give(made, name, mode: 0o700, to: owner) } catch {
      try removeDirectory(name)
      throw error
    }
  }

  private func give(_ entry: Int32, _ name: String, mode: mode_t, to owner: EntryOwner) throws(StorageError) {
    if retrying({ fchmod(entry, mode) }) != 0 { throw failure("change the mode of", name) }
    var status = stat()
    // The call fills in the local structure.
    if retrying({ unsafe fstat(entry, &status) }) != 0 { throw failure("look at", name) }
    // Some file systems have one owner for all of their files.
    if status.st_uid == owner.user, status.st_gid == owner.group { return }
    if retrying({ fchown(entry, owner.user, owner.group) }) != 0 {
      throw failure("give to the owner of its directory the new", name)
    }
  }
}
