import JSONFormat
import RandomTestSupport
import Testing

/// Moving over a key that is known does what reading it does.
@Suite struct JSONKeyTests {
  private static let names = [
    "a", "id", "unit", "barcode", "category", "brandName", "isGroupedProduct", "isMarketingProductMark0",
  ]
  private static let keys = names.map(JSONKey.init)

  /// What a document says: each key and the offset behind it, and each other token.
  private func read(
    _ document: [UInt8], pieces: [Int], tries: Bool, limits: JSONLimits = JSONLimits()
  ) -> (found: [String], moved: Int) {
    var tokens = JSONTokenizer(limits: limits)
    var found: [String] = []
    var moved = 0
    var start = 0
    do throws(JSONError) {
      for end in pieces + [document.count] {
        tokens.append(document.span.extracting(start..<end))
        start = end
        if end == document.count { tokens.finish() }
        while true {
          if tries, let index = Self.keys.indices.first(where: { tokens.skipKey(Self.keys[$0]) }) {
            moved += 1
            found.append("key \(Self.names[index])")
            continue
          }
          let token = try tokens.next()
          if token == .needsInput || token == .endOfDocument { break }
          let text = [.key, .string, .number].contains(token) ? tokens.textString : ""
          found.append("\(token) \(text)".trimmed)
          if token != .key { found.append("at \(tokens.tokenOffset), depth \(tokens.depth)") }
        }
      }
      found.append("end")
    } catch {
      found.append("\(error)")
    }
    return (found, moved)
  }

  private func document(_ random: inout SeededGenerator, depth: Int = 0) -> String {
    let space = { (random: inout SeededGenerator) in Int.random(in: 0..<12, using: &random) == 0 ? " " : "" }
    var text = "{"
    for number in 0..<Int.random(in: 0..<6, using: &random) {
      if number > 0 { text += "," }
      var name = Self.names.randomElement(using: &random)!
      switch Int.random(in: 0..<12, using: &random) {
      case 0: name += "x"
      case 1: name = String(name.dropLast())
      case 2: name = "\\u0069" + name.dropFirst()
      case 3: name = "é" + name
      default: break
      }
      text += space(&random) + "\"\(name)\"" + space(&random) + ":" + space(&random)
      switch Int.random(in: 0..<(depth < 3 ? 7 : 5), using: &random) {
      case 0: text += "\"\(name)\""
      case 1: text += "12.5"
      case 2: text += "null"
      case 3: text += "\"\""
      case 4: text += "[\"id\",{},[]]"
      default: text += document(&random, depth: depth + 1)
      }
    }
    return text + "}"
  }

  @Test func `a document reads the same whether keys are moved over or read, however it is cut`() {
    var random = SeededGenerator(for: "JSONKeyTests, documents")
    var moved = 0
    for _ in 0..<(300 * depth) {
      var bytes = Array(document(&random).utf8)
      if Bool.random(using: &random), !bytes.isEmpty {
        // Damaged, or cut.
        bytes[Int.random(in: 0..<bytes.count, using: &random)] = Array("\",:}{ax\\".utf8).randomElement(using: &random)!
      }
      let expected = read(bytes, pieces: [], tries: false).found
      let whole = read(bytes, pieces: [], tries: true)
      #expect(whole.found == expected)
      moved += whole.moved
      for piece in 1...3 {
        #expect(
          read(bytes, pieces: Array(stride(from: piece, to: bytes.count, by: piece)), tries: true).found == expected)
      }
    }
    #expect(moved > 300)
  }

  @Test func `a key that is too long for the limit is refused as ever`() {
    let document = Array(#"{"barcode":1,"id":2}"#.utf8)
    for limit in 1...12 {
      let limits = JSONLimits(nestingDepth: 8, tokenByteCount: limit)
      #expect(
        read(document, pieces: [], tries: true, limits: limits).found
          == read(document, pieces: [], tries: false, limits: limits).found)
    }
  }
}

extension String {
  fileprivate var trimmed: String { last == " " ? String(dropLast()) : self }
}
