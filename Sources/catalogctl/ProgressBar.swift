import CatalogSync

/// Draws how far a synchronisation has come, on standard error, where people look at it or asked for it.
struct ProgressBar: Sendable {
  /// Whether people look, or asked for it.
  let isShown: Bool
  private let expectedByteCount: Int?
  private var last = ContinuousClock.now - .seconds(1)
  private var isDrawn = false

  /// - Parameter expectedByteCount: bytes of the whole answer, where they are known.
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

  /// Leaves the line, so that what follows begins on one of its own.
  mutating func end() {
    if isDrawn { Console.show("\r\u{1B}[K") }
    isDrawn = false
  }

  /// The part of a line that fits the terminal: a longer one would begin a second line, which is not drawn over.
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

  /// A line with a bar of the share that is done, as long as the terminal leaves room for between the words.
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

/// Numbers as people read them.
enum Quantity {
  /// 1234567 as `1,234,567`.
  static func count(_ number: Int) -> String {
    let digits = String(number.magnitude)
    var result = ""
    for (index, digit) in digits.enumerated() {
      if index > 0, (digits.count - index) % 3 == 0 { result.append(",") }
      result.append(digit)
    }
    return number < 0 ? "-" + result : result
  }

  /// So many of what `noun` names one of: `1 row`, `1,234 rows`.
  static func of(_ number: Int, _ noun: String) -> String { count(number) + " " + (number == 1 ? noun : noun + "s") }

  /// Bytes in the largest unit that leaves a whole number before the point.
  static func bytes(_ count: Int) -> String {
    var value = Double(count)
    var unit = "B"
    for larger in ["KiB", "MiB", "GiB", "TiB"] where value >= 1024 {
      value /= 1024
      unit = larger
    }
    return unit == "B" ? "\(count) B" : "\(rounded(value)) \(unit)"
  }

  /// One digit behind the point.
  static func rounded(_ value: Double) -> String {
    let tenths = Int((value * 10).rounded())
    return "\(tenths / 10).\(abs(tenths % 10))"
  }
}
