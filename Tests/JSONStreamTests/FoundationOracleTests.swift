import Foundation
import JSONStream
import Testing

/// Compares the tokenizer with `JSONSerialization`.
///
/// Where the two differ by decision, and what the comparison does about it:
/// - Foundation accepts a comma before a closing bracket (Linux); the tokenizer refuses it. Skipped.
/// - Foundation accepts a byte order mark and detects UTF-16 and UTF-32; the tokenizer reads UTF-8 only. Documents with
///   a zero byte, or that begin with EF, FE or FF, are skipped.
/// - Foundation refuses half a surrogate pair; the tokenizer reads U+FFFD. Skipped.
/// - Foundation refuses numbers that overflow a double, and may refuse other very long ones; the tokenizer accepts the
///   grammar and leaves the value to the caller. Skipped.
/// - Foundation keeps one of several equal keys; the random documents are compared only if keys are unique.
@Suite struct FoundationOracleTests {
  private func foundation(_ document: [UInt8]) -> Any? {
    try? JSONSerialization.jsonObject(with: Data(document), options: [.fragmentsAllowed])
  }

  private func agrees(_ tree: Tree, _ value: Any) -> Bool {
    switch tree {
    case .object(let members):
      guard let dictionary = value as? [String: Any] else { return false }
      guard Set(members.map(\.0)).count == members.count else { return true }
      return dictionary.count == members.count
        && members.allSatisfy { member in dictionary[member.0].map { agrees(member.1, $0) } ?? false }
    case .array(let elements):
      guard let array = value as? [Any], array.count == elements.count else { return false }
      return zip(elements, array).allSatisfy { agrees($0, $1) }
    case .string(let string): return (value as? String).map { Array($0.utf8) == Array(string.utf8) } ?? false
    case .number(let number): return (value as? NSNumber)?.doubleValue == number
    case .boolean(let boolean): return (value as? Bool) == boolean
    case .null: return value is NSNull
    }
  }

  @Test func `valid documents are read alike`() throws {
    var generator = DocumentGenerator(random: .seeded("valid documents are read alike"))
    for _ in 0..<3_000 {
      let document = generator.document()
      let ours = try tree(document)
      guard let theirs = foundation(document) else { continue }
      guard agrees(ours, theirs) else {
        Issue.record("\(String(decoding: document, as: UTF8.self))")
        return
      }
    }
  }

  @Test func `spoiled documents are refused alike`() {
    var generator = DocumentGenerator(random: .seeded("spoiled documents are refused alike"))
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
      if case .unexpected(let byte, _, _) = ours.failure, byte == 0x5D || byte == 0x7D {
        // The comma before a closing bracket.
        continue
      }
      // Half a pair, and numbers of many digits or with great exponents.
      if isAccepted, ours.lines.contains(where: { $0.contains("\u{FFFD}") || $0.hasPrefix("number") }) { continue }
      Issue.record("ours: \(ours.failure?.description ?? "accepted") \(text.debugDescription)")
      return
    }
    print("accepted \(accepted), refused \(refused)")
  }
}
