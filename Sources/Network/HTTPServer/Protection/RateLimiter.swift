import Synchronization

/// A token-bucket rate limiter with one bucket per client; above the limit, requests are refused with 429.
///
/// The table is bounded. A client whose bucket is full again is removed, because a new bucket starts full. If the table
/// is full nevertheless, the clients that are not in it share one bucket.
package final class RateLimiter: Sendable {
  /// The maximum number of buckets.
  static let callerLimit = 4096

  /// The number of tokens added per second.
  let perSecond: Double
  /// The number of tokens in a full bucket.
  let burst: Double
  private let table = Mutex(Table())

  private struct Table {
    var buckets: [String: Bucket] = [:]
    var others: Bucket?
    /// When the table was last swept, in seconds. It is swept at most once a second.
    var swept = -Double.infinity
  }

  private struct Bucket {
    var tokens: Double
    /// The time at which the bucket had this number of tokens, in seconds.
    var time: Double
  }

  /// - Parameters:
  ///   - perSecond: The rate in tokens per second, above 0.
  ///   - burst: The number of tokens in a full bucket, at least 1.
  package init(perSecond: Double, burst: Int) {
    self.perSecond = max(perSecond, 1e-6)
    self.burst = Double(max(burst, 1))
  }

  /// Takes one of a client's tokens.
  ///
  /// - Parameter now: The time in seconds of a monotonic clock.
  /// - Returns: The number of seconds until a token is available; `nil` if one was taken.
  func take(_ caller: String, now: Double) -> Double? {
    table.withLock { table in
      if var bucket = table.buckets[caller] {
        let wait = take(&bucket, now)
        table.buckets[caller] = bucket
        return wait
      }
      if table.buckets.count >= Self.callerLimit, now - table.swept >= 1 {
        table.swept = now
        table.buckets = table.buckets.filter { level(of: $0.value, now) < burst }
      }
      if table.buckets.count >= Self.callerLimit {
        var bucket = table.others ?? Bucket(tokens: burst, time: now)
        let wait = take(&bucket, now)
        table.others = bucket
        return wait
      }
      var bucket = Bucket(tokens: burst, time: now)
      let wait = take(&bucket, now)
      table.buckets[caller] = bucket
      return wait
    }
  }

  /// The number of clients that have a bucket.
  var callerCount: Int { table.withLock { $0.buckets.count } }

  private func level(of bucket: Bucket, _ now: Double) -> Double {
    min(burst, bucket.tokens + max(0, now - bucket.time) * perSecond)
  }

  private func take(_ bucket: inout Bucket, _ now: Double) -> Double? {
    let tokens = level(of: bucket, now)
    bucket = Bucket(tokens: tokens >= 1 ? tokens - 1 : tokens, time: now)
    return tokens >= 1 ? nil : (1 - tokens) / perSecond
  }
}
