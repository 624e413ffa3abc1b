import DocumentFormat
import Foundation

/// What a condition means, told on trees with the simplest code that says it.
enum ConditionModel {
  /// The values of a path, null for a missing one.
  static func values(_ value: DocumentValue, _ names: ArraySlice<String>, flattensLast: Bool) -> [DocumentValue] {
    if names.isEmpty, !flattensLast { return [value] }
    if case .array(let elements) = value {
      return elements.flatMap { values($0, names, flattensLast: flattensLast) }
    }
    guard let name = names.first else { return [value] }
    guard let field = value[name] else { return [.null] }
    return values(field, names.dropFirst(), flattensLast: flattensLast)
  }

  static func matches(_ condition: Condition, _ document: DocumentValue) -> Bool {
    func any(_ path: FieldPath, _ test: (DocumentValue) -> Bool) -> Bool {
      values(document, path.names[...], flattensLast: true).contains(where: test)
    }
    switch condition {
    case .and(let parts): return parts.allSatisfy { matches($0, document) }
    case .or(let parts): return parts.contains { matches($0, document) }
    case .not(let part): return !matches(part, document)
    case .isNull(let path): return any(path) { $0 == .null }
    case .isIn(let path, let constants): return any(path) { value in constants.contains { equal(value, $0) } }
    case .compare(let path, .notEqual, let constant): return !any(path) { equal($0, constant) }
    case .compare(let path, let comparison, let constant):
      return any(path) { value in
        guard value.kind == constant.kind, let order = order(value, constant) else { return false }
        return switch comparison {
        case .equal: order == .orderedSame
        case .notEqual: order != .orderedSame
        case .less: order == .orderedAscending
        case .lessOrEqual: order != .orderedDescending
        case .greater: order == .orderedDescending
        case .greaterOrEqual: order != .orderedAscending
        }
      }
    case .contains(let path, let constant, let ignoringCase):
      return values(document, path.names[...], flattensLast: false).contains { value in
        if case .array = value { return values(value, [], flattensLast: true).contains { equal($0, constant) } }
        guard let text = folded(value, ignoringCase), let part = folded(constant, ignoringCase) else { return false }
        return contains(text, part)
      }
    case .like(let path, let pattern, let ignoringCase):
      let pattern = Array((ignoringCase ? pattern.lowercased() : pattern).unicodeScalars)
      return any(path) { value in
        guard let text = folded(value, ignoringCase) else { return false }
        return isLike(Array(String(decoding: text, as: UTF8.self).unicodeScalars)[...], pattern[...])
      }
    case .hasPrefix(let path, let prefix, let ignoringCase):
      return any(path) { folded($0, ignoringCase)?.starts(with: folded(.text(prefix), ignoringCase)!) ?? false }
    }
  }

  static func equal(_ a: DocumentValue, _ b: DocumentValue) -> Bool { a.kind == b.kind && order(a, b) == .orderedSame }

  /// The order of two scalars of one kind.
  static func order(_ a: DocumentValue, _ b: DocumentValue) -> ComparisonResult? {
    switch (a, b) {
    case (.null, .null): .orderedSame
    case (.bool(let a), .bool(let b)): order(a ? 1 : 0, b ? 1 : 0)
    case (.text(let a), .text(let b)): order(Array(a.utf8), Array(b.utf8))
    case (.bytes(let a), .bytes(let b)): order(a, b)
    case (.date(let a), .date(let b)): order(a.timeIntervalSince1970, b.timeIntervalSince1970)
    default: number(a).flatMap { a in number(b).map { b in order(a, b) } }
    }
  }

  /// A number as an infinity or as a whole part and a fraction; integers of 64 bits and their neighbours are exact.
  private static func number(_ value: DocumentValue) -> [Double]? {
    switch value {
    case .integer(let value): split(Int128(value))
    case .unsigned(let value): split(Int128(value))
    case .double(let value) where value.isNaN: [-1]
    case .double(let value) where abs(value) >= 0x1p100: [value < 0 ? 0 : 2, value]
    case .double(let value):
      split(Int128(value.rounded(.down))) + [value - value.rounded(.down)]
    default: nil
    }
  }

  /// Pieces that doubles hold exactly, the most significant first; a fraction may follow.
  private static func split(_ value: Int128) -> [Double] { [1, Double(value >> 40), Double(value & (1 << 40 - 1))] }

  private static func order(_ a: [Double], _ b: [Double]) -> ComparisonResult {
    // What is missing at the end is a fraction of zero.
    let length = max(a.count, b.count)
    for index in 0..<length {
      let x = index < a.count ? a[index] : 0
      let y = index < b.count ? b[index] : 0
      if x != y { return x < y ? .orderedAscending : .orderedDescending }
    }
    return .orderedSame
  }

  private static func order<T: Comparable>(_ a: T, _ b: T) -> ComparisonResult {
    a == b ? .orderedSame : a < b ? .orderedAscending : .orderedDescending
  }

  private static func order(_ a: [UInt8], _ b: [UInt8]) -> ComparisonResult {
    a == b ? .orderedSame : a.lexicographicallyPrecedes(b) ? .orderedAscending : .orderedDescending
  }

  private static func folded(_ value: DocumentValue, _ ignoringCase: Bool) -> [UInt8]? {
    guard case .text(let text) = value else { return nil }
    return Array((ignoringCase ? text.lowercased() : text).utf8)
  }

  private static func contains(_ text: [UInt8], _ part: [UInt8]) -> Bool {
    part.isEmpty || text.indices.contains { text[$0...].starts(with: part) }
  }

  static func isLike(_ text: ArraySlice<Unicode.Scalar>, _ pattern: ArraySlice<Unicode.Scalar>) -> Bool {
    guard let first = pattern.first else { return text.isEmpty }
    switch first {
    case "%":
      return isLike(text, pattern.dropFirst()) || (!text.isEmpty && isLike(text.dropFirst(), pattern))
    case "_": return !text.isEmpty && isLike(text.dropFirst(), pattern.dropFirst())
    case "\\" where pattern.count > 1:
      let escaped = pattern.dropFirst()
      return text.first == escaped.first && isLike(text.dropFirst(), escaped.dropFirst())
    default: return text.first == first && isLike(text.dropFirst(), pattern.dropFirst())
    }
  }
}
