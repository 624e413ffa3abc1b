import TextFormat

/// The period in which a server's certificate is valid, in seconds since 1970: an answer to why it is not trusted.
package struct ServerCertificate: Sendable, Equatable {
  package let validity: ClosedRange<Int64>

  /// Connects once more, without verification and without a request, and reads the dates of the server's certificate.
  ///
  /// - Parameter request: The request whose certificate was not trusted.
  /// - Returns: `nil` if that fails, or takes longer than `timeout`.
  package static func of(_ request: ClientRequest, timeout: Duration) async -> ServerCertificate? {
    var probe = ClientRequest(url: request.url)
    probe.proxy = request.proxy
    probe.verifiesCertificates = false
    probe.onlyConnects = true
    probe.connectTimeout = timeout
    guard let exchange = try? HTTPClient(keepsConnections: false).begin(probe),
      let dates = try? await exchange.certificateDates()
    else { return nil }
    return ServerCertificate(first: dates.first, last: dates.last)
  }

  /// - Parameters: Dates as libcurl writes them.
  init?(first: String, last: String) {
    guard let first = Self.seconds(first), let last = Self.seconds(last), first <= last else { return nil }
    validity = first...last
  }

  /// `Jan  1 00:00:00 2021 GMT` with OpenSSL, `2021-01-01 00:00:00 GMT` with GnuTLS.
  static func seconds(_ text: String) -> Int64? {
    let words = text.split(separator: " ")
    let date: CalendarDate?
    let clock: Substring
    switch words.count {
    case 5:
      guard let month = CalendarDate.monthNames.firstIndex(of: String(words[0])), let day = Int(words[1]),
        let year = Int(words[3])
      else { return nil }
      (date, clock) = (Self.date(year, month + 1, day), words[2])
    case 3:
      let parts = words[0].split(separator: "-").compactMap { Int($0) }
      guard parts.count == 3 else { return nil }
      (date, clock) = (Self.date(parts[0], parts[1], parts[2]), words[1])
    default: return nil
    }
    let time = clock.split(separator: ":").compactMap { Int64($0) }
    guard let date, time.count == 3 else { return nil }
    return Int64(date.daysSince1970) * 86_400 + time[0] * 3_600 + time[1] * 60 + time[2]
  }

  private static func date(_ year: Int, _ month: Int, _ day: Int) -> CalendarDate? {
    guard (1...9999).contains(year), (1...12).contains(month), (1...31).contains(day) else { return nil }
    return CalendarDate(year: year, month: month, day: day)
  }
}
