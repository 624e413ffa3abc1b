#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// An operating-system call that failed: what was tried, on which path, and why it was refused.
public struct StorageError: Error, Equatable, Sendable {
  /// What was tried, as a person would say it: "open", "write", "sync".
  public let operation: String
  public let path: String
  /// The value of `errno`.
  public let code: Int32

  public init(operation: String, path: String, code: Int32) {
    self.operation = operation
    self.path = path
    self.code = code
  }

  /// What a caller may want to tell apart.
  public enum Kind: Sendable {
    case noSpace, permission, missing, descriptors, other
  }

  public var kind: Kind {
    switch code {
    case ENOSPC, EDQUOT, EFBIG: .noSpace
    case EACCES, EPERM, EROFS: .permission
    case ENOENT, ENOTDIR: .missing
    case EMFILE, ENFILE: .descriptors
    default: .other
    }
  }

  /// Whether it says that this file cannot have another name there: another device, a file system without links, a file
  /// that has too many names or belongs to somebody else.
  package var cannotLink: Bool {
    operation == "link" && [EXDEV, EPERM, EMLINK, ENOTSUP, EOPNOTSUPP, ENOSYS].contains(code)
  }

  /// Whether it is the device that could not read what it holds.
  package var isUnreadable: Bool { operation == "read" && code == EIO }
}

extension StorageError: CustomStringConvertible {
  public var description: String {
    "cannot \(operation) \(path): \(reason)\(advice)"
  }

  private var reason: String {
    // strerror returns a C string that is valid until the next call on this thread.
    unsafe String(cString: strerror(code))
  }

  private var advice: String {
    switch kind {
    case .noSpace:
      code == EFBIG
        ? "; raise the limit of the size of files (ulimit -f); what was stored before is unharmed"
        : "; free some space and try again; what was stored before is unharmed"
    case .permission: "; check who owns it and its mode"
    case .descriptors: "; raise the limit of open files (ulimit -n)"
    case .missing: code == ENOTDIR ? "; a part of the path is not a directory" : ""
    case .other:
      switch code {
      case ELOOP: "; it is a symbolic link, which a store never follows"
      case ENOMEM: "; raise the limit of address space (ulimit -v)"
      default: ""
      }
    }
  }
}
