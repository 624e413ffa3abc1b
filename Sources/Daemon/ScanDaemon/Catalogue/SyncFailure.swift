/// A failed synchronisation, with a message that names the daemon's settings.
struct SyncFailure: Error, CustomStringConvertible {
  let description: String
}
