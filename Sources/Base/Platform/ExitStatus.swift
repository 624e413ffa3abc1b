/// How a program ends if it does not succeed: the codes of `sysexits.h`, and 1 for a plain no.
package enum ExitStatus: Int32, Sendable {
  case no = 1
  case usage = 64
  case data = 65
  case noInput = 66
  case unavailable = 69
  case software = 70
  case cannotCreate = 73
  case io = 74
  case temporary = 75
  case permission = 77

  /// What an error of the file system means for the caller of a program.
  package init(_ error: StorageError) {
    self =
      switch error.kind {
      case .permission: .permission
      case .noSpace: .io
      // Where a file stands in the place of a directory, no store can be, whether somebody reads or writes.
      default: error.operation.hasPrefix("create") || error.code == ENOTDIR ? .cannotCreate : .io
      }
  }
}
