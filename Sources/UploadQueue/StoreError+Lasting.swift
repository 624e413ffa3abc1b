import LogStore
import Storage

extension StoreError {
  /// Whether somebody must do something before the store can be read and written again. Full disks, locks of others and files that
  /// were renamed pass by themselves, or may.
  var lasts: Bool {
    switch self {
    case .damaged, .unreadable, .unusable, .schema, .closed, .forked: true
    case .io(let error): error.kind == .missing || error.kind == .permission
    case .locked, .replaced, .poisoned, .full, .noRoom, .tooLarge: false
    }
  }
}
