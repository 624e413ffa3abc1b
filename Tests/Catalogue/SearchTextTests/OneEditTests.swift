import Bytes
import RandomTestSupport
import SearchText
import Testing

@Suite struct OneEditTests {
  private func matches(_ first: String, _ second: String) -> Bool {
    OneEdit.matches(Array(first.utf8).rawSpan, Array(second.utf8).rawSpan)
  }

  @Test(arguments: [
    ("", "", true), ("", "a", true), ("", "ab", false), ("lindor", "lindor", true), ("lindor", "lndor", true),
    ("lindor", "lindorr", true), ("lindor", "lindar", true), ("lindor", "lidnor", true), ("lindor", "lidnro", false),
    ("lindor", "ldnior", false), ("ab", "ba", true), ("abc", "cab", false), ("你好", "您好", true), ("é", "è", true),
    ("é", "e", true), ("éa", "aé", true), ("格力空调", "格力调空", true), ("格力空调", "力格调空", false), ("𠀀", "𠀁", true),
  ])
  func `texts with one edit between them match`(first: String, second: String, expected: Bool) {
    #expect(matches(first, second) == expected)
    #expect(matches(second, first) == expected)
  }

  @Test func `random texts match if the edit distance by definition is at most one`() {
    var random = SeededGenerator(for: "OneEditTests")
    // Characters that share their first bytes.
    let letters: [Unicode.Scalar] = ["a", "b", "é", "è", "ĩ", "好", "妈", "㐀", "𠀀", "𠀁"]
    var matchCount = 0
    for _ in 0..<5_000 * depth {
      let first = (0..<Int.random(in: 0...6, using: &random)).map { _ in letters.randomElement(using: &random)! }
      var second = first
      for _ in 0..<Int.random(in: 0...2, using: &random) {
        let index = Int.random(in: 0...second.count, using: &random)
        switch Int.random(in: 0...3, using: &random) {
        case 0: second.insert(letters.randomElement(using: &random)!, at: index)
        case 1 where index < second.count: second.remove(at: index)
        case 2 where index < second.count: second[index] = letters.randomElement(using: &random)!
        case 3 where index + 1 < second.count: second.swapAt(index, index + 1)
        default: break
        }
      }
      let expected = isOneEdit(first, second)
      matchCount += expected ? 1 : 0
      #expect(matches(text(first), text(second)) == expected, "\(first) \(second)")
      #expect(matches(text(second), text(first)) == expected)
    }
    #expect(matchCount > 500)
  }

  private func text(_ scalars: [Unicode.Scalar]) -> String { String(String.UnicodeScalarView(scalars)) }

  /// By trying every edit.
  private func isOneEdit(_ first: [Unicode.Scalar], _ second: [Unicode.Scalar]) -> Bool {
    if first == second { return true }
    for index in 0...first.count {
      if index < second.count {
        var edited = first
        edited.insert(second[index], at: index)
        if edited == second { return true }
        edited = first
        if index < first.count {
          edited[index] = second[index]
          if edited == second { return true }
        }
      }
      if index < first.count {
        var edited = first
        edited.remove(at: index)
        if edited == second { return true }
      }
      if index + 1 < first.count {
        var edited = first
        edited.swapAt(index, index + 1)
        if edited == second { return true }
      }
    }
    return false
  }

  @Test func `bytes that are not UTF-8 are compared without a trap`() {
    var random = SeededGenerator(for: "OneEditTests.bytes")
    for _ in 0..<5_000 * depth {
      let first = random.bytes(Int.random(in: 0...6, using: &random))
      var second = first
      if let index = second.indices.randomElement(using: &random) { second[index] = random.bytes(1)[0] }
      let isSame = OneEdit.matches(first.rawSpan, first.rawSpan)
      let isForth = OneEdit.matches(first.rawSpan, second.rawSpan)
      let isBack = OneEdit.matches(second.rawSpan, first.rawSpan)
      #expect(isSame && isForth == isBack)
    }
  }
}
