import Foundation
import JSONFormat
import RandomTestSupport
import Testing

/// Compares the tokenizer with `JSONSerialization`.
///
/// Where the two differ by decision, and what the comparison does about it:
/// - Foundation accepts a comma before a closing bracket (Linux); the tokenizer refuses it. Skipped.
/// - Foundation accepts a byte order mark and detects UTF-16 and UTF-32; the tokenizer reads UTF-8 only.
///   Documents with a zero byte, or that begin with EF, FE or FF, are skipped.
/// - Foundation refuses half a surrogate pair; the tokenizer reads U+FFFD. Skipped.
/// - Foundation may refuse numbers that overflow, that have an exponent or more than 15 characters; the
///   tokenizer accepts the grammar and leaves the value to the caller. Skipped.
/// - Foundation keeps one of several equal keys; the random documents are compared only if keys are unique.
@Suite struct FoundationOracleTests {
  private func foundation(_ document: [UInt8]) -> Any? {
    try? JSONSerialization.jsonObject(with: Data(document), options: [.fragmentsAllowed])
  }

  private func agrees(_ tree: Tree, _ value: Any) -> Bool {
    switch tree {
    case .object(let keys, let values):
      guard let dictionary = value as? [String: Any] else { return false }
      guard Set(keys).count == keys.count else { return true }
      return dictionary.count == keys.count
        && zip(keys, values).allSatisfy { key, value in dictionary[key].map { agrees(value, $0) } ?? false }
    case .array(let elements):
      guard let array = value as? [Any], array.count == elements.count else { return false }
      return zip(elements, array).allSatisfy { agrees($0, $1) }
    case .string(let string): return (value as? String).map { Array($0.utf8) == Array(string.utf8) } ?? false
    case .number(let number):
      // Foundation takes a way through NSDecimal that loses the last bits; `JSONNumberTests` looks at those.
      guard let other = (value as? NSNumber)?.doubleValue else { return false }
      return abs(other - number) <= abs(number) * 1e-12
    case .boolean(let boolean): return (value as? Bool) == boolean
    case .null: return value is NSNull
    }
  }

  @Test func `valid documents are read alike`() throws {
    var generator = DocumentGenerator(random: SeededGenerator(for: "valid documents are read alike"))
    for _ in 0..<3_000 {
      let document = generator.document()
      let ours = try tree(document)
      guard let theirs = foundation(document) else { continue }
      guard agrees(ours, theirs) else {
        Issue.record("\(String(decoding: document, as: UTF8.self)) \(ours) \(theirs)")
        return
      }
    }
  }

  @Test func `spoiled documents are refused alike`() {
    var generator = DocumentGenerator(random: SeededGenerator(for: "spoiled documents are refused alike"))
    var accepted = 0
    var refused = 0
    for _ in 0..<6_000 {
      let document = generator.spoil(generator.document())
      guard !document.contains(0), ![0xEF, 0xFE, 0xFF].contains(document.first ?? 0) else { continue }
      let ours = TokenLog(document)
      let text = String(decoding: document, as: UTF8.self)
      let isAccepted = ours.failure == nil
      if isAccepted { accepted += 1 } else { refused += 1 }
      guard isAccepted != (foundation(document) != nil) else { continue }
      if case .unexpected(let byte, _, let expected) = ours.failure, byte == 0x5D || byte == 0x7D,
        expected == .key || expected == .value
      {
        // The comma before a closing bracket.
        continue
      }
      // Half a pair, and numbers of many digits or with great exponents.
      let isLong = ours.lines.contains { $0.hasPrefix("number") && $0.split(separator: " ")[2].count > 15 }
      let isOverflow = ours.lines.contains { $0.hasSuffix("overflow") }
      let hasExponent = ours.lines.contains {
        $0.hasPrefix("number") && $0.split(separator: " ")[2].lowercased().contains("e")
      }
      if isAccepted,
        isLong || isOverflow || hasExponent || ours.lines.contains(where: { $0.unicodeScalars.contains("\u{FFFD}") })
      {
        continue
      }
      Issue.record("ours: \(ours.failure?.description ?? "accepted") \(text.debugDescription)")
      return
    }
    print("accepted \(accepted), refused \(refused)")
  }
}
