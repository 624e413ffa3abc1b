package import DocumentFormat
package import Essentials
import TextFormat

/// What a device last said about the publication that it follows.
package struct FleetReport: Codable, Identifiable, Sendable, Equatable {
  /// The device: 1 to 128 letters, digits and `._:-`.
  package var id: String
  /// The state that it serves.
  package var sequence: UInt64
  /// The digest of this state; `nil` if the device's head no longer names the state.
  package var digest: String?
  /// When the state was committed.
  package var since: Date?
  /// The seconds since the catalogue was known to be current, when the device reported.
  package var age: Int?
  /// The mirror that the last files came from.
  package var mirror: String?
  /// A code, a colon and a reason; `nil` if all is well.
  package var problem: String?
  package var version: String?
  /// The catalogue that the device follows; `nil` if the device does not say so.
  package var catalogue: String?
  /// The percent of the device's ring; `nil` without rings.
  package var ring: Double?
  /// The state that the publisher had for the device; `nil` if the device does not know.
  package var target: UInt64?
  /// The number of the report, which rises by one from report to report; 0 if the device does not count.
  package var number: UInt64
  /// When the device made the report, by its clock, which may be wrong.
  package var time: Date?
  /// When the report arrived.
  package var received: Date

  /// The most characters of the texts that people read. The rest of a longer one is dropped: that a device has a
  /// problem matters more than its last words.
  static let textLimit = 1000

  /// Reads a report.
  ///
  /// - Parameters:
  ///   - json: What the device sent. Fields that are not known are ignored.
  ///   - received: The time now.
  /// - Throws: ``FleetReportError``.
  package init(_ json: DocumentValue, received: Date) throws(FleetReportError) {
    guard case .object = json else { throw FleetReportError("a report is a JSON object, and this is none") }
    let fields = Fields(json)
    guard let id = try fields.text("device") else {
      throw FleetReportError("\"device\" is missing: whose report is it?")
    }
    guard Self.isDevice(id) else {
      throw FleetReportError("\"device\" has to be 1 to 128 letters, digits and the characters . _ : -")
    }
    guard let sequence = try fields.number("sequence"), sequence > 0 else {
      throw FleetReportError(
        "\"sequence\" is missing or 0: it is the state that the device serves, a whole number from 1")
    }
    self.id = id
    self.sequence = sequence
    digest = try fields.text("digest", upTo: 128)
    since = try fields.date("since")
    age = try fields.age("age")
    mirror = try fields.text("mirror").map(Self.shortened)
    problem = try fields.text("problem").map(Self.shortened)
    version = try fields.text("version").map(Self.shortened)
    catalogue = try fields.text("catalogue", upTo: 255)
    ring = try fields.percent("ring")
    target = try fields.number("target")
    number = try fields.number("number") ?? 0
    time = try fields.date("time")
    self.received = received
  }

  private static func isDevice(_ text: String) -> Bool {
    (1...128).contains(text.utf8.count)
      && text.utf8.allSatisfy { byte in
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
          UInt8(ascii: "0")...UInt8(ascii: "9"):
          true
        default: "._:-".utf8.contains(byte)
        }
      }
  }

  private static func shortened(_ text: String) -> String {
    let scalars = text.unicodeScalars
    return scalars.count <= textLimit ? text : String(String.UnicodeScalarView(scalars.prefix(textLimit))) + "…"
  }

  /// Whether the report came late or twice: the device has made `other` since.
  ///
  /// The numbers of a device whose stores were lost begin anew, and its clock may be set back. So a report is older
  /// only by both. A time that was not reached yet when this report arrived is of a clock that was ahead, and proves
  /// nothing once the clock is right.
  func isOlder(than other: FleetReport) -> Bool {
    if number > other.number { return false }
    let isCounted = number > 0
    guard let own = time ?? since, let others = other.time ?? other.since else { return isCounted }
    if others > received, own <= received { return false }
    return isCounted ? own <= others : own < others
  }

  /// The code of the problem: `other` if it has none that programs can use.
  package var problemCode: String? {
    guard let problem else { return nil }
    let code = problem.prefix { $0 != ":" }
    let isCode = code.utf8.allSatisfy { byte in
      (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte) || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
        || byte == UInt8(ascii: "_")
    }
    return isCode && (1...64).contains(code.utf8.count) ? String(code) : "other"
  }
}

/// Why a report cannot be kept.
package struct FleetReportError: Error, Sendable, Equatable, CustomStringConvertible {
  package let description: String

  init(_ description: String) { self.description = description }
}

/// The fields of a report.
private struct Fields {
  private let value: DocumentValue

  init(_ value: DocumentValue) { self.value = value }

  private func wrong(_ name: String, _ expected: String) -> FleetReportError {
    FleetReportError("\"\(name)\" has to be \(expected), or null")
  }

  func text(_ name: String, upTo limit: Int = .max) throws(FleetReportError) -> String? {
    switch value[name] {
    case nil, .null?: return nil
    case .text(let text)?:
      guard text.utf8.count <= limit else { throw wrong(name, "a text of at most \(limit) bytes") }
      return text
    default: throw wrong(name, "a text")
    }
  }

  func number(_ name: String) throws(FleetReportError) -> UInt64? {
    switch value[name] {
    case nil, .null?: return nil
    case .integer(let number)? where number >= 0: return UInt64(number)
    default: throw wrong(name, "a whole number from 0 to \(Int64.max)")
    }
  }

  func age(_ name: String) throws(FleetReportError) -> Int? {
    switch value[name] {
    case nil, .null?: return nil
    case .integer(let number)?: return Int(clamping: max(0, number))
    case .double(let number)? where number.isFinite: return Int(min(max(0, number), 1e15))
    default: throw wrong(name, "a number of seconds")
    }
  }

  func percent(_ name: String) throws(FleetReportError) -> Double? {
    let percent: Double
    switch value[name] {
    case nil, .null?: return nil
    case .integer(let number)?: percent = Double(number)
    case .double(let number)?: percent = number
    default: percent = -1
    }
    guard (0...100).contains(percent) else { throw wrong(name, "a number from 0 to 100") }
    return percent
  }

  func date(_ name: String) throws(FleetReportError) -> Date? {
    guard let text = try text(name, upTo: 64) else { return nil }
    guard let date = DateText.date(text) else { throw wrong(name, "a time such as 2026-01-31T08:00:00Z") }
    return date
  }
}
