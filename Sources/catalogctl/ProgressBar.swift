import CatalogSync

/// Draws how far a synchronisation has come, on standard error, where people look at it or asked for it.
struct ProgressBar {
  private let isShown: Bool
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
    if progress.phase == .receiving, now - last < .milliseconds(100) { return }
    last = now
    isDrawn = true
    Console.show("\r\u{1B}[K" + Self.cut(line(progress)))
    if progress.phase == .done { Console.show("\n") }
  }

  /// Leaves the line, so that what follows begins on one of its own.
  mutating func end() {
    if isDrawn { Console.show("\r\u{1B}[K") }
    isDrawn = false
  }

  /// The part of a line that fits the terminal: a longer one would begin a second line, which is not drawn over.
  private static func cut(_ line: String) -> String { String(line.prefix(Console.progressColumns - 1)) }

  private func line(_ progress: SyncProgress) -> String {
    let received = Quantity.bytes(progress.bytesReceived)
    let rows = "\(Quantity.count(progress.rowsDecoded)) rows"
    switch progress.phase {
    case .receiving:
      guard let expectedByteCount, expectedByteCount > 0 else { return "receiving  \(received)  \(rows)" }
      let share = min(1, Double(progress.bytesReceived) / Double(expectedByteCount))
      let words = "\(Int(share * 100)) %  \(received)  \(rows)"
      // The bar takes what the words leave.
      let length = min(30, Console.progressColumns - 1 - "receiving   ".count - words.count)
      if length < 5 { return "receiving  \(words)" }
      let filled = Int(share * Double(length))
      let bar = String(repeating: "█", count: filled) + String(repeating: "░", count: length - filled)
      return "receiving  \(bar) \(words)"
    case .committing: return "writing    \(received)  \(rows)"
    case .done: return "done       \(received)  \(Quantity.count(progress.rowsWritten)) rows"
    }
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
