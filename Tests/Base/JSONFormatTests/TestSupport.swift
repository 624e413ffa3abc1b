import Foundation
import JSONFormat
import RandomTestSupport

/// A document read whole, comparable with what Foundation makes of it.
indirect enum Tree: Equatable {
  case object([String], [Tree])
  case array([Tree])
  case string(String)
  case number(Double)
  case boolean(Bool)
  case null

  static func == (left: Tree, right: Tree) -> Bool {
    switch (left, right) {
    case (.object(let leftKeys, let left), .object(let rightKeys, let right)):
      leftKeys.map { Array($0.utf8) } == rightKeys.map { Array($0.utf8) } && left == right
    case (.array(let left), .array(let right)): left == right
    case (.string(let left), .string(let right)): Array(left.utf8) == Array(right.utf8)
    case (.number(let left), .number(let right)): left.bitPattern == right.bitPattern
    case (.boolean(let left), .boolean(let right)): left == right
    case (.null, .null): true
    default: false
    }
  }
}

/// One line for each token, with its text and offset.
struct TokenLog: Equatable {
  var lines: [String] = []
  var failure: JSONError?

  /// Reads `document` in chunks of the given sizes, the last one again and again.
  init(_ document: [UInt8], chunks: [Int] = [Int.max], limits: JSONLimits = JSONLimits(), parts: Bool = false) {
    var tokens = JSONTokenizer(limits: limits)
    tokens.deliversStringParts = parts
    var start = 0
    var index = 0
    var part = ""
    do throws(JSONError) {
      while true {
        let token = try tokens.next()
        switch token {
        case .needsInput:
          guard start < document.count else {
            tokens.finish()
            continue
          }
          let stop = start + min(document.count - start, chunks[min(index, chunks.count - 1)])
          tokens.append(document.span.extracting(start..<stop))
          start = stop
          index += 1
        case .endOfDocument:
          lines.append("end")
          return
        case .key, .string, .number:
          lines.append("\(token) \(tokens.tokenOffset) \(tokens.textString)")
          if token == .number {
            let double = tokens.doubleValue.map { String($0.bitPattern) } ?? "overflow"
            lines[lines.count - 1] += " \(tokens.int64Value.map(String.init) ?? "-") \(double)"
          }
        case .stringPart:
          part += tokens.textString
        case .stringEnd:
          lines.append("string parts \(part)")
          part = ""
        default:
          lines.append("\(token) \(tokens.tokenOffset) \(tokens.depth)")
        }
      }
    } catch {
      failure = error
    }
  }
}

/// Reads `document` into a tree, or throws; refuses what the tokenizer refuses and nothing else.
func tree(_ document: [UInt8]) throws(JSONError) -> Tree {
  var tokens = JSONTokenizer()
  tokens.append(document.span)
  tokens.finish()
  // Open containers: their elements, and the keys of an object.
  var stack: [(isObject: Bool, keys: [String], values: [Tree])] = []
  var result = Tree.null
  func add(_ value: Tree) {
    if stack.isEmpty { result = value } else { stack[stack.count - 1].values.append(value) }
  }
  while true {
    switch try tokens.next() {
    case .needsInput, .endOfDocument: return result
    case .beginObject: stack.append((true, [], []))
    case .beginArray: stack.append((false, [], []))
    case .endObject, .endArray:
      let top = stack.removeLast()
      add(top.isObject ? .object(top.keys, top.values) : .array(top.values))
    case .key: stack[stack.count - 1].keys.append(tokens.textString)
    case .string: add(.string(tokens.textString))
    case .number: add(.number(tokens.doubleValue ?? .infinity))
    case .true: add(.boolean(true))
    case .false: add(.boolean(false))
    case .null: add(.null)
    case .stringPart, .stringEnd: break
    }
  }
}

/// Random documents, and spoiled ones.
struct DocumentGenerator {
  var random: SeededGenerator

  mutating func document() -> [UInt8] {
    var json: [UInt8] = []
    value(&json, depth: 0)
    space(&json)
    return json
  }

  private mutating func space(_ json: inout [UInt8]) {
    guard Int.random(in: 0..<6, using: &random) == 0 else { return }
    for _ in 0..<Int.random(in: 1..<20, using: &random) {
      json.append([0x20, 0x20, 0x20, 0x09, 0x0A, 0x0D].randomElement(using: &random)!)
    }
  }

  private mutating func value(_ json: inout [UInt8], depth: Int) {
    space(&json)
    switch Int.random(in: 0..<(depth > 5 ? 6 : 9), using: &random) {
    case 0: json += "true".utf8
    case 1: json += "false".utf8
    case 2: json += "null".utf8
    case 3: number(&json)
    case 4, 5: string(&json)
    case 6:
      json.append(UInt8(ascii: "["))
      for index in 0..<Int.random(in: 0..<6, using: &random) {
        if index > 0 { json.append(UInt8(ascii: ",")) }
        value(&json, depth: depth + 1)
      }
      space(&json)
      json.append(UInt8(ascii: "]"))
    default:
      json.append(UInt8(ascii: "{"))
      for index in 0..<Int.random(in: 0..<6, using: &random) {
        if index > 0 { json.append(UInt8(ascii: ",")) }
        space(&json)
        string(&json)
        space(&json)
        json.append(UInt8(ascii: ":"))
        value(&json, depth: depth + 1)
      }
      space(&json)
      json.append(UInt8(ascii: "}"))
    }
    space(&json)
  }

  mutating func number(_ json: inout [UInt8]) {
    if Bool.random(using: &random) { json.append(UInt8(ascii: "-")) }
    let digits = Int.random(in: 1..<[3, 8, 24].randomElement(using: &random)!, using: &random)
    json += digits == 1 ? "0".utf8 : String(Int.random(in: 1...9, using: &random)).utf8
    for _ in 1..<digits { json.append(UInt8(ascii: "0") + UInt8.random(in: 0...9, using: &random)) }
    if Int.random(in: 0..<3, using: &random) == 0 {
      json.append(UInt8(ascii: "."))
      for _ in 0..<Int.random(in: 1..<20, using: &random) {
        json.append(UInt8(ascii: "0") + UInt8.random(in: 0...9, using: &random))
      }
    }
    if Int.random(in: 0..<4, using: &random) == 0 {
      json += ["e", "E", "e+", "e-", "E-"].randomElement(using: &random)!.utf8
      json += String(Int.random(in: 0..<250, using: &random)).utf8
    }
  }

  mutating func string(_ json: inout [UInt8]) {
    json.append(UInt8(ascii: "\""))
    for _ in 0..<Int.random(in: 0..<[2, 9, 40].randomElement(using: &random)!, using: &random) {
      switch Int.random(in: 0..<12, using: &random) {
      case 0:
        json +=
          ["\\n", "\\\"", "\\\\", "\\/", "\\b", "\\f", "\\r", "\\t"].randomElement(using: &random)!.utf8
      case 1:
        json +=
          ["\\u00e9", "\\u683C", "\\uD83D\\uDe00", "\\u0041", "\\u2028"].randomElement(using: &random)!.utf8
      case 2: json += ["é", "格力", "😀", "\u{2028}", "ß", "\u{10FFFF}"].randomElement(using: &random)!.utf8
      default:
        let byte = UInt8.random(in: 0x20..<0x7F, using: &random)
        json.append(byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") ? UInt8(ascii: "x") : byte)
      }
    }
    json.append(UInt8(ascii: "\""))
  }

  /// Changes, drops or adds a few bytes.
  mutating func spoil(_ document: [UInt8]) -> [UInt8] {
    var bytes = document
    for _ in 0..<Int.random(in: 1...2, using: &random) where !bytes.isEmpty {
      let index = bytes.indices.randomElement(using: &random)!
      let likely =
        Array("{}[]\",:\\0123456789.eE+-truefalsn u\n".utf8) + [0x00, 0x1F, 0x80, 0xC0, 0xE6, 0xFF]
      switch Int.random(in: 0..<4, using: &random) {
      case 0: bytes[index] = likely.randomElement(using: &random)!
      case 1: bytes.remove(at: index)
      case 2: bytes.insert(likely.randomElement(using: &random)!, at: index)
      default: bytes.removeSubrange(index...)
      }
    }
    return bytes
  }

  /// Sizes of chunks.
  mutating func chunks() -> [Int] {
    (0..<40).map { _ in Int.random(in: 1...12, using: &random) }
  }
}
