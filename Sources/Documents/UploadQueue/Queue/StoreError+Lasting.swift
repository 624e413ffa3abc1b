import LogStore

extension StoreError {
  /// Whether the error persists until someone intervenes. Full disks, locks held by other processes and renamed files
  /// are, or may be, temporary.
  var lasts: Bool {
    switch self {
    case .damaged, .unreadable, .unusable, .newer, .schema, .sealed, .closed, .forked: true
    case .io(let error): error.kind == .missing || error.kind == .permission
    case .locked, .replaced, .poisoned, .full, .noRoom, .tooLarge: false
    }
  }
}
