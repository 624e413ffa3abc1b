import Synchronization

/// How often each caller may ask: a bucket of tokens a caller (RFC 9110 knows the answer, 429).
///
/// The table is bounded. A caller whose bucket is full again is forgotten, for a new one begins with a full bucket; when the
/// table is full all the same, those who are not in it share one bucket.
final class RateLimiter: Sendable {
  /// Callers that are told apart.
  static let callerLimit = 4096

  /// Tokens that come back each second.
  let perSecond: Double
  /// Tokens of a full bucket.
  let burst: Double
  private let table = Mutex(Table())

  private struct Table {
    var buckets: [String: Bucket] = [:]
    var others: Bucket?
    /// When the table was last looked through, in seconds; that is done once a second at most.
    var swept = -Double.infinity
  }

  private struct Bucket {
    var tokens: Double
    /// When it had so many, in seconds.
    var time: Double
  }

  /// - Parameters:
  ///   - perSecond: above 0.
  ///   - burst: at least 1.
  init(perSecond: Double, burst: Int) {
    self.perSecond = max(perSecond, 1e-6)
    self.burst = Double(max(burst, 1))
  }

  /// Takes one token of a caller.
  ///
  /// - Parameter now: seconds of a clock that never goes back.
  /// - Returns: after how many seconds there will be one; `nil` if there was.
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

  /// How many callers have a bucket now.
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
