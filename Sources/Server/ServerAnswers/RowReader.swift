internal import Barcodes
package import CatalogRows
package import JSONFormat

/// Storage for the field values of one kind of row.
package protocol FieldStore {
  /// The keys: those of the fields by number, then other names of fields.
  static var keys: [String] { get }
  /// Returns the number of the field that a key, by its index in ``keys``, belongs to.
  static func field(ofKey key: Int) -> Int
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

extension FieldStore {
  @inline(__always)
  package static func field(ofKey key: Int) -> Int { key }
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

extension CodeRow: FieldStore {
  /// The keys of a payload, and the one by which a dump calls `barcode`.
  package static var keys: [String] { CodeField.allCases.map(\.payloadKey) + [CodeField.code.key] }
  package static var objectField: Int { -1 }

  @inline(__always)
  package static func field(ofKey key: Int) -> Int { key == CodeField.allCases.count ? CodeField.code.rawValue : key }

  package mutating func take(object: ExtraMembers) -> Bool { false }

  @inline(__always)
  package mutating func take(_ field: Int, _ token: JSONToken, _ tokens: inout JSONTokenizer) -> Bool {
    if let text = CodeField(rawValue: field)?.text {
      guard token == .string else { return false }
      tokens.withText { texts.set(text.rawValue, $0) }
      return true
    }
    guard token == .number || token == .string else { return false }
    guard let value = tokens.withText({ ExactDecimal(utf8: $0) }), value.coefficient > 0 else { return false }
    quantity = value
    return true
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
/// with their values, except those that are kept in the row's object: a member of the object comes before a value of the
/// same name beside it, and `null` is no value.
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
  /// The keys whose values are kept in the row's object.
  private let extraKeys: Set<[UInt8]>
  /// The key in ``extraKeys`` of the next value, or of the one that is being read.
  private var extraKey: [UInt8]?
  /// The values under ``extraKeys``, and the keys that have been read, with values or without.
  private var extra = ExtraMembers()
  private var seenExtra: [[UInt8]] = []
  /// The row's own object, if values are to be added to it.
  private var ownObject = ExtraMembers()

  /// Creates a reader.
  ///
  /// - Parameters:
  ///   - row: The row to fill.
  ///   - extraKeys: The keys, other than the fields', whose values are kept in the row's object.
  package init(_ row: Row, extraKeys: Set<String> = []) {
    self.row = row
    self.extraKeys = Set(extraKeys.map { Array($0.utf8) })
  }

  /// Begins a row, after its opening brace.
  package mutating func begin() {
    row.reset()
    matcher.restart()
    seen = 0
    pending = nil
    isInObject = false
    if extraKeys.isEmpty { return }
    extraKey = nil
    extra.removeAll()
    seenExtra.removeAll()
    ownObject.removeAll()
  }

  /// The number that stands for a key in ``extraKeys``; no field has it.
  private static var extraField: Int { 255 }

  /// Expects the value of a key, unless its field has been read before.
  @inline(__always)
  private mutating func begin(_ key: Int) {
    let field = Row.field(ofKey: key)
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
  @_specialize(where Row == CodeRow)
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
          if !takeObject() { onWrongType(Row.objectField, tokens.tokenOffset) }
        }
        continue
      }
      switch token {
      case .key:
        guard tokens.depth == depth else { continue }
        pending = nil
        if let field = matcher.match(tokens.textByteCount, tokens.textWords) {
          begin(field)
        } else if !extraKeys.isEmpty {
          beginExtra(tokens)
        }
      case .string, .number, .true, .false, .null:
        guard let field = pending, tokens.depth == depth else { continue }
        if token != .null, !row.take(field, token, &tokens) {
          let isExtra = field == Self.extraField
          if !isExtra || !takeExtra(token, tokens) {
            onWrongType(isExtra ? Row.objectField : field, tokens.tokenOffset)
          }
        }
      case .beginObject, .beginArray:
        guard let field = pending, tokens.depth == depth + 1 else { continue }
        pending = nil
        let isExtra = field == Self.extraField
        if isExtra || field == Row.objectField && token == .beginObject {
          if !isExtra { extraKey = nil }
          object = ExtraValueReader(isMember: isExtra)
          isInObject = !object.take(token, tokens)
          continue
        }
        onWrongType(field, tokens.tokenOffset)
      case .endObject:
        guard tokens.depth == depth - 1 else { continue }
        if !extra.isEmpty, !addExtra() { onWrongType(Row.objectField, tokens.tokenOffset) }
        return true
      case .endArray, .stringPart, .stringEnd:
        continue
      case .needsInput, .endOfDocument:
        return false
      }
    }
  }

  /// Expects the value of the key that `tokens` has just read, if it is to be kept and has not been read before.
  private mutating func beginExtra(_ tokens: borrowing JSONTokenizer) {
    let key = tokens.withText { Self.copy($0) }
    guard extraKeys.contains(key), !seenExtra.contains(key) else { return }
    seenExtra.append(key)
    extraKey = key
    pending = Self.extraField
  }

  /// Keeps a value that is no object and no array; returns `false` for one that exceeds the limits.
  private mutating func takeExtra(_ token: JSONToken, _ tokens: borrowing JSONTokenizer) -> Bool {
    object = ExtraValueReader(isMember: true)
    _ = object.take(token, tokens)
    return takeObject()
  }

  /// Takes the value that ``object`` has read: the row's object, or a value that is kept in it.
  private mutating func takeObject() -> Bool {
    if let key = extraKey {
      extraKey = nil
      guard object.members.problem == nil else { return false }
      extra.add(key, object.value)
      return true
    }
    guard row.take(object: object.members) else { return false }
    if !extraKeys.isEmpty { ownObject = object.members }
    return true
  }

  /// Adds the values that are kept to the row's object; returns `false`, and leaves them out, if they make it too large.
  private mutating func addExtra() -> Bool {
    ownObject.addMissing(extra)
    return row.take(object: ownObject)
  }

  private static func copy(_ span: Span<UInt8>) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.append(copying: span)
    return bytes
  }
}
