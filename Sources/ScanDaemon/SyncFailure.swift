/// A synchronisation that failed at the server or on the way to it, in words that name the daemon's settings.
struct SyncFailure: Error, CustomStringConvertible {
  let description: String
}
