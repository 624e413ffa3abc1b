package import CatalogRows
package import JSONFormat

/// Storage for the field values of one kind of row.
package protocol FieldStore {
  /// The keys, by number of the field.
  static var keys: [String] { get }
  /// The number of the field that is an object and is read whole; -1 if there is none.
  static var objectField: Int { get }
  /// Resets every field to its default.
  mutating func reset()
  /// Stores the value of ``objectField``; returns `false` for one that exceeds its limits or has a key twice.
  mutating func take(object: ExtraMembers) -> Bool
  /// Stores the value that `tokens` has just read; returns `false` if it has the wrong type for the field.
  mutating func take(_ field: Int, _ token: JSONToken, _ tokens: inout JSONTokenizer) -> Bool
}

extension ProductRow: FieldStore {
  package static var keys: [String] { ProductField.allCases.map(\.key) + ["extra"] }
  package static var objectField: Int { ProductField.allCases.count }

  package mutating func take(object: ExtraMembers) -> Bool {
    if object.isEmpty { return true }
    var object = object
    var json: [UInt8] = []
    do { try object.append(to: &json) } catch { return false }
    texts.set(ProductRow.extraText, json.span)
    return true
  }

  @inline(__always)
  package mutating func take(_ field: Int, _ token: JSONToken, _ tokens: inout JSONTokenizer) -> Bool {
    if token == .string {
      guard field < ProductField.categoryId.rawValue else { return false }
      tokens.withText { texts.set(field, $0) }
      return true
    }
    switch ProductField(rawValue: field)?.slot {
    case .integer(let slot): return tokens.assignInteger(token, to: &integers[slot])
    case .double(let slot): return tokens.assignDouble(token, to: &doubles[slot])
    case .flag(let slot):
      guard token == .true || token == .false else { return false }
      setFlag(slot, token == .true)
      return true
    case .text, nil: return false
    }
  }
}

extension RelationRow: FieldStore {
  package static var keys: [String] { RelationField.allCases.map(\.key) }
  package static var objectField: Int { -1 }

  package mutating func take(object: ExtraMembers) -> Bool { false }

  @inline(__always)
  package mutating func take(_ field: Int, _ token: JSONToken, _ tokens: inout JSONTokenizer) -> Bool {
    if token == .string {
      guard field < RelationField.groupNum.rawValue else { return false }
      tokens.withText { texts.set(field, $0) }
      return true
    }
    guard field == RelationField.groupNum.rawValue else { return false }
    return tokens.assignInteger(token, to: &groupNum)
  }
}

extension JSONTokenizer {
  @inline(__always)
  fileprivate func assignInteger(_ token: JSONToken, to field: inout Int64) -> Bool {
    guard token == .number, let value = int64Value else { return false }
    field = value
    return true
  }

  @inline(__always)
  fileprivate func assignDouble(_ token: JSONToken, to field: inout Double) -> Bool {
    guard token == .number, let value = doubleValue else { return false }
    field = value
    return true
  }
}

/// A reader of the fields of successive objects into a row that it reuses.
///
/// If a key is duplicated, the first value is used, even if it is `null` or of the wrong type. Unknown keys are skipped
/// with their values.
package struct RowReader<Row: FieldStore> {
  package private(set) var row: Row
  private var matcher = KeyMatcher(Row.keys)
  /// One bit for each field whose key has been read.
  private var seen: UInt32 = 0
  /// The field of the next value; `nil` for an unknown key or a duplicate.
  private var pending: Int?
  /// The reader of an object, of which a part has been read.
  private var object = ExtraValueReader()
  private var isInObject = false

  package init(_ row: Row) { self.row = row }

  /// Begins a row, after its opening brace.
  package mutating func begin() {
    row.reset()
    matcher.restart()
    seen = 0
    pending = nil
    isInObject = false
  }

  /// Expects the value of `field`, unless its key has been read before.
  @inline(__always)
  private mutating func begin(_ field: Int) {
    let bit: UInt32 = 1 << UInt32(field)
    pending = seen & bit == 0 ? field : nil
    seen |= bit
  }

  /// Continues reading the row at nesting depth `depth`; returns `true` at its end, `false` if the window ends first.
  ///
  /// `onWrongType` receives the number of each field that keeps its default because of a wrong type, and the offset of
  /// the value.
  // Callers in other modules get the code for their row.
  @_specialize(where Row == ProductRow)
  @_specialize(where Row == RelationRow)
  package mutating func read(
    _ tokens: inout JSONTokenizer, depth: Int, onWrongType: (_ field: Int, _ offset: Int) -> Void
  ) throws(JSONError) -> Bool {
    while true {
      if tokens.depth == depth, let field = matcher.skipLikelyKey(&tokens) { begin(field) }
      let token = try tokens.next()
      if isInObject {
        if token == .needsInput || token == .endOfDocument { return false }
        if object.take(token, tokens) {
          isInObject = false
          if !row.take(object: object.members) { onWrongType(Row.objectField, tokens.tokenOffset) }
        }
        continue
      }
      switch token {
      case .key:
        guard tokens.depth == depth else { continue }
        pending = nil
        if let field = matcher.match(tokens.textByteCount, tokens.textWords) { begin(field) }
      case .string, .number, .true, .false, .null:
        guard let field = pending, tokens.depth == depth else { continue }
        if token != .null, !row.take(field, token, &tokens) { onWrongType(field, tokens.tokenOffset) }
      case .beginObject, .beginArray:
        guard let field = pending, tokens.depth == depth + 1 else { continue }
        pending = nil
        if field == Row.objectField, token == .beginObject {
          object = ExtraValueReader()
          isInObject = !object.take(token, tokens)
          continue
        }
        onWrongType(field, tokens.tokenOffset)
      case .endObject:
        if tokens.depth == depth - 1 { return true }
      case .endArray, .stringPart, .stringEnd:
        continue
      case .needsInput, .endOfDocument:
        return false
      }
    }
  }
}
