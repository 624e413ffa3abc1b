/// A failed system call: the operation, the path, and the error code.
public struct StorageError: Error, Equatable, Sendable {
  /// The operation in words that users understand: "open", "write", "sync".
  public let operation: String
  /// The path of the file or directory that the call was about.
  public let path: String
  /// The value of `errno`.
  public let code: Int32

  /// Creates an error from the value of `errno` after a failed call.
  public init(operation: String, path: String, code: Int32) {
    self.operation = operation
    self.path = path
    self.code = code
  }

  /// The kind of an error, for callers that handle some of them differently.
  public enum Kind: Sendable {
    case noSpace, permission, missing, descriptors, other
  }

  /// The kind of the error, by its code. A disk quota and the largest file size count as no space.
  public var kind: Kind {
    switch code {
    case ENOSPC, EDQUOT, EFBIG: .noSpace
    case EACCES, EPERM, EROFS: .permission
    case ENOENT, ENOTDIR: .missing
    case EMFILE, ENFILE: .descriptors
    default: .other
    }
  }

  /// Whether the error means that a hard link cannot be created: the name is on another device, the file system has no
  /// links, or the file has too many names or belongs to another user.
  package var cannotLink: Bool {
    operation == "link" && [EXDEV, EPERM, EMLINK, ENOTSUP, EOPNOTSUPP, ENOSYS].contains(code)
  }

  /// Whether the device could not read its own data.
  package var isUnreadable: Bool { operation == "read" && code == EIO }
}

extension StorageError: CustomStringConvertible {
  /// What failed, why, and what to do if there is an obvious remedy, for people.
  public var description: String {
    "cannot \(operation) \(path): \(reason)\(advice)"
  }

  /// The system's words for the code.
  package var reason: String {
    // strerror returns a C string that is valid until the next call on this thread.
    unsafe String(cString: strerror(code))
  }

  /// What to do where files cannot be locked; `nil` for any other reason.
  private var lockAdvice: String? {
    switch code {
    case EINVAL, ENOSYS:
      "; the kernel, or the sandbox that stands for it, has no locks of open files (F_OFD_SETLK, since Linux 3.15),"
        + " without which two programs could write at once"
    case ENOLCK, ENOTSUP, EOPNOTSUPP:
      "; the file system has no locks, without which two programs could write at once: use a local one (on NFS, the lock"
        + " service does not run)"
    default: nil
    }
  }

  private var advice: String {
    if operation == "lock", let advice = lockAdvice { return advice }
    return switch kind {
    case .noSpace: "; \(FileObstacle.room(path, code)); what was stored before is unharmed"
    case .permission where code == EROFS:
      "; it is mounted read-only: mount it writable, or use a directory on a medium that can be written"
    case .permission: "; \(FileObstacle.permission(path))"
    case .descriptors: "; raise the limit of open files (ulimit -n)"
    case .missing: code == ENOTDIR ? "; a part of the path is not a directory" : ""
    case .other:
      switch code {
      case ELOOP: "; it is a symbolic link, which a store never follows"
      case ENOMEM: "; raise the limit of address space (ulimit -v)"
      case EBUSY where operation == "rename":
        "; a single file is mounted there (a bind mount of a container), and a store replaces its files: mount the"
          + " directory, not the single file"
      case EXDEV where operation == "rename":
        "; it lies in a layer of a container's image (overlayfs), whose directories cannot be renamed: keep the stores on"
          + " a volume"
      default: ""
      }
    }
  }
}
