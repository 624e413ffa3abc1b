import LogStore
import Platform
import Storage

extension Setting where Value == Bool? {
  /// Whether the stores of new users are sealed; of the default store.
  package static var sealsNewUsers: Setting { Setting("sealing.newUsers", default: nil) }
}

extension WorkspaceDirectory {
  /// The directory of a user, which is created if it does not exist. If new users are sealed, a user without stores gets
  /// keys first, so that no file of the user ever has anything in clear.
  ///
  /// - Parameter make: Creates the directory and those above it.
  /// - Throws: `WorkspaceError.keys` without a key; nothing was created then.
  func makeHome(
    _ id: String, make: () throws(WorkspaceError) -> PosixDirectory
  ) throws(WorkspaceError) -> PosixDirectory {
    if sealsNewUsers == false { return try make() }
    if let existing = try directory(of: id), try isInUse(existing) { return existing }
    guard try sealsNewUsersNow() else { return try make() }
    let path = ([root, "users"] + UserDirectory.path(of: id) + [KeyFile.name]).joined(separator: "/")
    do throws(KeyError) { _ = try keyRing.material(for: path) } catch { throw .keys(error) }
    let home = try make()
    do throws(KeyError) { try makeKeys(in: home, path) } catch { throw .keys(error) }
    return home
  }

  /// Whether a directory has a store, or keys. Then its user is not new.
  private func isInUse(_ home: PosixDirectory) throws(WorkspaceError) -> Bool {
    do throws(StorageError) {
      return try home.names().contains { $0 == KeyFile.name || $0.hasSuffix(".log") }
    } catch { throw .store(.io(error)) }
  }

  private func sealsNewUsersNow() throws(WorkspaceError) -> Bool {
    if let sealsNewUsers { return sealsNewUsers }
    let settings = try settings(of: nil)
    do { return try settings.get(.sealsNewUsers) ?? false } catch let error as WorkspaceError { throw error } catch let
      error as StoreError
    {
      throw WorkspaceError(settings: error)
    } catch { throw .settings(.unusable(path: root + "/default/settings.log", reason: "\(error)")) }
  }

  private func makeKeys(in home: PosixDirectory, _ path: String) throws(KeyError) {
    let end = ContinuousClock.now + lockTimeout
    while true {
      do throws(KeyError) {
        let lock = try KeyFile.lock(in: home)
        defer { lock.release() }
        // Another process may have made them.
        if try KeyFile.exists(in: home) { return }
        let made = try KeyFile.new(path: path, with: keyRing.material(for: path), now: StoreEnvironment.system.now())
        return try made.file.setting(.sealed, made.dataKey).write(in: home)
      } catch {
        guard case .locked = error, ContinuousClock.now < end else { throw error }
        usleep(10_000)
      }
    }
  }
}
