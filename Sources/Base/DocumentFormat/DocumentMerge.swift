import Bytes

/// Preserves fields that a newer program wrote and this one does not know.
public enum DocumentMerge {
  /// Returns the document `new` with the fields of `old` that this program does not know.
  ///
  /// A field is unknown if `old` has it and `oldAsKnown` does not, at the same path. Unknown fields are appended after
  /// those of `new`, unless `new` has a field with the same name or no longer has the enclosing object. Arrays are
  /// merged element by element if all three have the same count; otherwise the array of `new` is used unchanged.
  ///
  /// - Parameters:
  ///   - old: The document as it was read.
  ///   - oldAsKnown: The old document, decoded and encoded again by this program.
  ///   - new: The document that this program wants to store.
  /// - Complexity: O(heads in `old` and `oldAsKnown`), without a copy, if nothing is unknown and both have their fields
  ///   in the same order.
  public static func keepingUnknownFields(
    old: [UInt8], oldAsKnown: [UInt8], new: [UInt8]
  ) throws(DocumentError) -> [UInt8] {
    guard try hasUnknown(old.rawSpan, 0, oldAsKnown.rawSpan, 0, depth: 0) else { return new }
    var merged: [UInt8] = []
    merged.reserveCapacity(new.count + 64)
    try merge(old.rawSpan, 0, oldAsKnown.rawSpan, 0, new.rawSpan, 0, into: &merged, depth: 0)
    return merged
  }

  /// Whether the value of `old` contains a field that `known` does not.
  private static func hasUnknown(
    _ old: RawSpan, _ oldStart: Int, _ known: RawSpan, _ knownStart: Int, depth: Int
  ) throws(DocumentError) -> Bool {
    guard depth <= DocumentLimits.nestingDepth else { throw .nestedTooDeeply(offset: oldStart) }
    switch (try old.item(at: oldStart), try known.item(at: knownStart)) {
    case (.object(let oldList), .object(let knownList)):
      var fields = ItemCursor(old, oldList)
      var knownFields = FieldFinder(known, knownList)
      while let (name, value) = try fields.nextField() {
        guard let knownValue = try knownFields.find(old.extracting(name)) else { return true }
        if try hasUnknown(old, value, known, knownValue, depth: depth + 1) { return true }
      }
      return false
    case (.array(let oldList), .array(let knownList)):
      guard try ItemCursor.count(old, oldList) == ItemCursor.count(known, knownList) else { return false }
      var elements = ItemCursor(old, oldList)
      var knownElements = ItemCursor(known, knownList)
      while let element = try elements.nextItem(), let knownElement = try knownElements.nextItem() {
        if try hasUnknown(old, element, known, knownElement, depth: depth + 1) { return true }
      }
      return false
    default: return false
    }
  }

  private static func merge(
    _ old: RawSpan, _ oldStart: Int, _ known: RawSpan, _ knownStart: Int, _ new: RawSpan, _ newStart: Int,
    into merged: inout [UInt8], depth: Int
  ) throws(DocumentError) {
    guard depth <= DocumentLimits.nestingDepth else { throw .nestedTooDeeply(offset: oldStart) }
    switch (try old.item(at: oldStart), try known.item(at: knownStart), try new.item(at: newStart)) {
    case (.object(let oldList), .object(let knownList), .object(let newList)):
      let header = merged.count
      merged.append(Major.map << 5)
      var count = 0
      var oldFields = FieldFinder(old, oldList)
      var knownFields = FieldFinder(known, knownList)
      var newFields = ItemCursor(new, newList)
      while let (name, value) = try newFields.nextField() {
        merged.appendHead(Major.text, UInt64(name.count))
        merged.append(copying: new.extracting(name))
        count += 1
        if let oldValue = try oldFields.find(new.extracting(name)),
          let knownValue = try knownFields.find(new.extracting(name))
        {
          try merge(old, oldValue, known, knownValue, new, value, into: &merged, depth: depth + 1)
        } else {
          merged.append(copying: new.extracting(value..<(try new.skip(value))))
        }
      }
      var fields = ItemCursor(old, oldList)
      var taken = FieldFinder(new, newList)
      while let (name, value) = try fields.nextField() {
        let bytes = old.extracting(name)
        guard try knownFields.find(bytes) == nil, try taken.find(bytes) == nil else { continue }
        merged.appendHead(Major.text, UInt64(name.count))
        merged.append(copying: bytes)
        merged.append(copying: old.extracting(value..<(try old.skip(value))))
        count += 1
      }
      merged.setCount(count, ofListAt: header)
    case (.array(let oldList), .array(let knownList), .array(let newList)):
      let count = try ItemCursor.count(new, newList)
      guard try ItemCursor.count(old, oldList) == count, try ItemCursor.count(known, knownList) == count else {
        merged.append(copying: new.extracting(newStart..<(try new.skip(newStart))))
        return
      }
      merged.appendHead(Major.array, UInt64(count))
      var oldElements = ItemCursor(old, oldList)
      var knownElements = ItemCursor(known, knownList)
      var newElements = ItemCursor(new, newList)
      while let element = try newElements.nextItem(), let oldElement = try oldElements.nextItem(),
        let knownElement = try knownElements.nextItem()
      {
        try merge(old, oldElement, known, knownElement, new, element, into: &merged, depth: depth + 1)
      }
    default:
      merged.append(copying: new.extracting(newStart..<(try new.skip(newStart))))
    }
  }
}

/// Iterates over the items of a list.
struct ItemCursor: ~Escapable {
  let bytes: RawSpan
  private var offset: Int
  /// The number of remaining items or fields; `nil` if the list ends with a break.
  private var remaining: Int?

  @_lifetime(copy bytes)
  init(_ bytes: RawSpan, _ list: ItemList) {
    self.bytes = bytes
    offset = list.start
    remaining = list.count
  }

  /// Whether another item follows.
  private mutating func advance() throws(DocumentError) -> Bool {
    guard let left = remaining else { return try !bytes.isBreak(at: offset) }
    remaining = left - 1
    return left > 0
  }

  /// The offset of the next element; `nil` at the end.
  mutating func nextItem() throws(DocumentError) -> Int? {
    guard try advance() else { return nil }
    let item = offset
    offset = try bytes.skip(item)
    return item
  }

  /// The byte range of the next field's name and the offset of its value; `nil` at the end.
  mutating func nextField() throws(DocumentError) -> (name: Range<Int>, value: Int)? {
    guard try advance() else { return nil }
    let name = try bytes.name(at: offset)
    offset = try bytes.skip(name.upperBound)
    return (name, name.upperBound)
  }

  /// The number of elements in `list`.
  static func count(_ bytes: RawSpan, _ list: ItemList) throws(DocumentError) -> Int {
    if let count = list.count { return count }
    var cursor = ItemCursor(bytes, list)
    var count = 0
    while try cursor.nextItem() != nil { count += 1 }
    return count
  }
}

/// Finds fields by name. It is fast if they are looked up in the order in which they are stored.
struct FieldFinder: ~Escapable {
  private let bytes: RawSpan
  private let list: ItemList
  private var cursor: ItemCursor

  @_lifetime(copy bytes)
  init(_ bytes: RawSpan, _ list: ItemList) {
    self.bytes = bytes
    self.list = list
    cursor = ItemCursor(bytes, list)
  }

  /// The offset of the value of `name`; `nil` if there is no such field. Complexity: O(fields between the last one
  /// found and this one, wrapping).
  mutating func find(_ name: RawSpan) throws(DocumentError) -> Int? {
    while let (candidate, value) = try cursor.nextField() {
      if bytes.extracting(candidate).hasSameBytes(as: name) { return value }
    }
    cursor = ItemCursor(bytes, list)
    // Continue from the beginning. Fields that were skipped are examined again, at most once each.
    while let (candidate, value) = try cursor.nextField() {
      if bytes.extracting(candidate).hasSameBytes(as: name) { return value }
    }
    return nil
  }
}
