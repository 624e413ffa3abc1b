/// A synchronisation that failed, in words that name the daemon's settings.
struct SyncFailure: Error, CustomStringConvertible {
  let description: String
}
