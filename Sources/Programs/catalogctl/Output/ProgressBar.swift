import CatalogSync

/// A progress bar of a synchronisation on standard error, if that is a terminal or progress was requested.
struct ProgressBar: Sendable {
  /// Whether progress is shown.
  let isShown: Bool
  private let expectedByteCount: Int?
  private var last = ContinuousClock.now - .seconds(1)
  private var isDrawn = false

  /// - Parameter expectedByteCount: The size of the complete response in bytes, if it is known.
  init(isForced: Bool, expectedByteCount: Int? = nil) {
    isShown = isForced || Console.isWatched
    self.expectedByteCount = expectedByteCount
  }

  mutating func update(_ progress: SyncProgress) {
    guard isShown else { return }
    let now = ContinuousClock.now
    if progress.phase == .receiving || progress.phase == .importing, now - last < .milliseconds(100) { return }
    last = now
    isDrawn = true
    Console.show("\r\u{1B}[K" + Self.cut(line(progress)))
    if progress.phase == .done {
      Console.show("\n")
      isDrawn = false
    }
  }

  /// Shows a text instead of the progress.
  mutating func show(_ text: String) {
    guard isShown else { return }
    isDrawn = true
    Console.show("\r\u{1B}[K" + Self.cut(text))
  }

  /// Ends the line, so that following output begins on a new one.
  mutating func end() {
    if isDrawn { Console.show("\r\u{1B}[K") }
    isDrawn = false
  }

  /// The part of a line that fits the terminal: a longer one would wrap to a second line, which is not overwritten.
  private static func cut(_ line: String) -> String { String(line.prefix(max(0, Console.progressColumns - 1))) }

  private func line(_ progress: SyncProgress) -> String {
    let received = Quantity.bytes(progress.bytesReceived)
    let rows = Quantity.of(progress.rowsDecoded, "row")
    switch progress.phase {
    case .receiving:
      guard let expectedByteCount, expectedByteCount > 0 else {
        return "receiving  \(received)" + (progress.rowsDecoded > 0 ? "  \(rows)" : "")
      }
      return Self.bar("receiving", progress.bytesReceived, of: expectedByteCount, "\(received)  \(rows)")
    case .importing:
      return Self.bar("importing", progress.bytesImported, of: progress.bytesReceived, rows)
    case .committing: return "writing    \(received)  \(rows)"
    case .done: return "done       \(received)  \(Quantity.of(progress.rowsWritten, "row"))"
    }
  }

  /// A line with a bar for the completed share, as wide as the terminal allows between the labels.
  private static func bar(_ name: String, _ done: Int, of all: Int, _ words: String) -> String {
    let share = all > 0 ? min(1, Double(done) / Double(all)) : 1
    let rest = "\(Int(share * 100)) %  \(words)"
    let length = min(30, Console.progressColumns - 1 - "\(name)   ".count - rest.count)
    if length < 5 { return "\(name)  \(rest)" }
    let filled = Int(share * Double(length))
    let bar = String(repeating: "█", count: filled) + String(repeating: "░", count: length - filled)
    return "\(name)  \(bar) \(rest)"
  }
}

/// Formats numbers for people.
enum Quantity {
  /// A number with separators: 1234567 as `1,234,567`.
  static func count(_ number: Int) -> String {
    let digits = String(number.magnitude)
    var result = ""
    for (index, digit) in digits.enumerated() {
      if index > 0, (digits.count - index) % 3 == 0 { result.append(",") }
      result.append(digit)
    }
    return number < 0 ? "-" + result : result
  }

  /// A number with a noun in the right form: `1 row`, `1,234 rows`.
  static func of(_ number: Int, _ noun: String) -> String { count(number) + " " + (number == 1 ? noun : noun + "s") }

  /// A size in the largest unit in which it is at least 1.
  static func bytes(_ count: Int) -> String {
    var value = Double(count)
    var unit = "B"
    for larger in ["KiB", "MiB", "GiB", "TiB"] where value >= 1024 {
      value /= 1024
      unit = larger
    }
    return unit == "B" ? "\(count) B" : "\(rounded(value)) \(unit)"
  }

  /// A number with one decimal digit.
  static func rounded(_ value: Double) -> String {
    let tenths = Int((value * 10).rounded())
    return "\(tenths / 10).\(abs(tenths % 10))"
  }
}
