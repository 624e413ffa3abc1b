import Bytes

/// Values to assign to fields of documents. Everything else of a document keeps its bytes.
///
/// An array on the way stands for each of its elements; an array at the end of a path is replaced as a whole.
public struct DocumentEdit: Sendable {
  private struct Assignment: Sendable {
    let path: FieldPath
    let names: [[UInt8]]
    let value: [UInt8]
  }

  private let assignments: [Assignment]
  private let createsObjects: Bool

  /// Creates an edit.
  ///
  /// - Parameters:
  ///   - values: The values to assign, in this order.
  ///   - createsObjects: Whether missing objects on the way to a field are created. If not, such a field is left alone,
  ///     as in an assignment through an optional that is `nil`.
  public init(_ values: [(path: FieldPath, value: DocumentValue)], createsObjects: Bool) {
    assignments = values.map { path, value in
      Assignment(path: path, names: path.names.map { Array($0.utf8) }, value: value.documentBytes)
    }
    self.createsObjects = createsObjects
  }

  /// The paths of the fields.
  public var paths: [FieldPath] { assignments.map(\.path) }

  /// The document with the values assigned.
  ///
  /// - Throws: ``DocumentEditError/notAnObject(_:)`` if objects are to be created and a value on the way is neither an
  ///   object nor null; `DocumentError` if the bytes are damaged.
  /// - Complexity: A copy of the document for each assignment.
  public func applied(to document: RawSpan) throws -> [UInt8] {
    var bytes = document.copied()
    for assignment in assignments {
      var edited: [UInt8] = []
      edited.reserveCapacity(bytes.count + assignment.value.count + 16)
      try assign(assignment, bytes.rawSpan, 0, level: 0, depth: 0, into: &edited)
      bytes = edited
    }
    return bytes
  }

  private func assign(
    _ assignment: Assignment, _ bytes: RawSpan, _ start: Int, level: Int, depth: Int, into edited: inout [UInt8]
  ) throws {
    guard depth <= DocumentLimits.nestingDepth else { throw DocumentError.nestedTooDeeply(offset: start) }
    if level == assignment.names.count { return edited += assignment.value }
    switch try bytes.item(at: start) {
    case .array(let list):
      edited.appendHead(Major.array, UInt64(try ItemCursor.count(bytes, list)))
      var elements = ItemCursor(bytes, list)
      while let element = try elements.nextItem() {
        try assign(assignment, bytes, element, level: level, depth: depth + 1, into: &edited)
      }
    case .object(let list):
      let name = assignment.names[level]
      let header = edited.count
      edited.append(Major.map << 5)
      var count = 0
      var isFound = false
      var fields = ItemCursor(bytes, list)
      while let (own, value) = try fields.nextField() {
        edited.appendName(bytes.extracting(own))
        // Of two fields with this name, the first one counts.
        if !isFound, bytes.extracting(own).hasSameBytes(as: name.rawSpan) {
          isFound = true
          try assign(assignment, bytes, value, level: level + 1, depth: depth + 1, into: &edited)
        } else {
          edited.append(copying: bytes.extracting(value..<(try bytes.skip(value))))
        }
        count += 1
      }
      if !isFound, createsObjects || level == assignment.names.count - 1 {
        edited.appendName(name.rawSpan)
        edited.appendObjects(assignment.names[(level + 1)...], around: assignment.value)
        count += 1
      }
      edited.setCount(count, ofListAt: header)
    case .null where createsObjects && level > 0:
      edited.appendObjects(assignment.names[level...], around: assignment.value)
    default:
      if createsObjects { throw DocumentEditError.notAnObject(assignment.path) }
      edited.append(copying: bytes.extracting(start..<(try bytes.skip(start))))
    }
  }
}

extension [UInt8] {
  fileprivate mutating func appendName(_ name: RawSpan) {
    appendHead(Major.text, UInt64(name.byteCount))
    append(copying: name)
  }

  /// Appends an object for each name, each in the field of the one before, and `value` in the last one.
  fileprivate mutating func appendObjects(_ names: ArraySlice<[UInt8]>, around value: [UInt8]) {
    for name in names {
      appendHead(Major.map, 1)
      appendName(name.rawSpan)
    }
    self += value
  }
}

/// An error of a ``DocumentEdit``.
public enum DocumentEditError: Error, Equatable, Sendable {
  /// A value on the way to the field is neither an object nor null, so it cannot have the field.
  case notAnObject(FieldPath)
}

extension DocumentEditError: CustomStringConvertible {
  /// Which field cannot be assigned, and why, for people.
  public var description: String {
    switch self {
    case .notAnObject(let path): "\(path) cannot be set: a value on the way to it is no object"
    }
  }
}
