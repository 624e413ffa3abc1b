import LogStore
import Storage

extension Workspace {
  /// Where a store beside a user's catalogue lies, or with no user one of the default store's directory; `nil` if the
  /// directory is not there yet. Creates nothing.
  ///
  /// - Parameter name: what the store's files begin with, such as `documents`.
  /// - Throws: `WorkspaceError.userID`, `.store`.
  public func store(_ name: String, of id: String?) throws(WorkspaceError) -> StoreLocation? {
    if let id { return try catalogue(of: id).map { StoreLocation($0.directory, name: name) } }
    return try wrapped { () throws(StoreError) in try open(["default"]).map { StoreLocation($0, name: name) } }
  }

  /// As ``store(_:of:)``; the directories are made where they are missing.
  public func makeStore(_ name: String, of id: String?) throws(WorkspaceError) -> StoreLocation {
    if let id { return StoreLocation(try makeCatalogue(of: id).directory, name: name) }
    return try wrapped { () throws(StoreError) in StoreLocation(try make(["default"]), name: name) }
  }
}
