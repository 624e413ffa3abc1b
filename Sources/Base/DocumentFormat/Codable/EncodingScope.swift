import Essentials

/// The encoder of one value: it writes nothing, a single value, or one list.
final class EncodingScope: Encoder {
  // Invariants: `header` and all offsets in `deferred` are offsets in the buffer that do not change before `finish`,
  // because inner scopes finish first and outer scopes begin earlier.
  private enum State { case empty, single, keyed, unkeyed }

  let buffer: EncodingBuffer
  private let parent: EncodingScope?
  private let key: (any CodingKey)?
  private let number: Int
  /// The number of enclosing scopes: the nesting level of its list, counted from 1.
  private let depth: Int
  private var state = State.empty
  /// The offset of the list's head.
  private var header = 0
  private(set) var count = 0
  /// Lists in separate buffers, and the offsets at which they are inserted.
  private var deferred: [(offset: Int, scope: EncodingScope)] = []
  /// An error that occurred in a method that cannot throw.
  private var failure: EncodingError?

  init(_ buffer: EncodingBuffer, parent: EncodingScope?, key: (any CodingKey)?) {
    self.buffer = buffer
    self.parent = parent
    self.key = key
    depth = parent.map { $0.depth + 1 } ?? 0
    buffer.lastScope += 1
    number = buffer.lastScope
    if parent == nil || parent?.buffer !== buffer { buffer.openScope = number }
  }

  var userInfo: [CodingUserInfoKey: Any] { buffer.userInfo }

  var codingPath: [any CodingKey] {
    guard let parent else { return key.map { [$0] } ?? [] }
    return parent.codingPath + (key.map { [$0] } ?? [])
  }

  func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
    open(.keyed, Major.map)
    return KeyedEncodingContainer(KeyedEncoding<Key>(scope: self))
  }

  func unkeyedContainer() -> any UnkeyedEncodingContainer {
    open(.unkeyed, Major.array)
    return UnkeyedEncoding(scope: self)
  }

  func singleValueContainer() -> any SingleValueEncodingContainer { SingleEncoding(scope: self) }

  private func open(_ state: State, _ major: UInt8) {
    if self.state == state { return }
    guard self.state == .empty, buffer.openScope == number else {
      failure = failure ?? misuse("a second container of another form")
      return
    }
    if depth > DocumentLimits.nestingDepth { failure = failure ?? tooDeep("a list") }
    self.state = state
    header = buffer.bytes.count
    buffer.bytes.append(major << 5)
  }

  private func tooDeep(_ value: Any) -> EncodingError {
    .invalidValue(
      value,
      .init(codingPath: codingPath, debugDescription: "More than \(DocumentLimits.nestingDepth) levels of nesting."))
  }

  private func misuse(_ what: String, _ path: [any CodingKey]? = nil) -> EncodingError {
    .invalidValue(what, .init(codingPath: path ?? codingPath, debugDescription: "The encoder was asked for \(what)."))
  }

  /// Counts an entry of the list, writes its name if it has one, and calls `body` to write the value. If `body` throws,
  /// the entry is removed.
  @inline(__always)
  func entry(_ key: some CodingKey, _ body: () throws -> Void) throws {
    guard buffer.openScope == number, failure == nil else { throw outOfTurn(codingPath + [key]) }
    let start = buffer.bytes.count
    if state == .keyed { buffer.bytes.appendItem(key.stringValue) }
    try counted(from: start, body)
  }

  /// Like `entry(_:_:)`, for an element of an array, which has no name.
  @inline(__always)
  func element(_ body: () throws -> Void) throws {
    guard buffer.openScope == number, failure == nil else { throw outOfTurn(codingPath) }
    try counted(from: buffer.bytes.count, body)
  }

  private func outOfTurn(_ path: [any CodingKey]) -> EncodingError {
    failure ?? misuse("a value out of its turn", path)
  }

  @inline(__always)
  private func counted(from start: Int, _ body: () throws -> Void) throws {
    let deferredCount = deferred.count
    count += 1
    do {
      try body()
    } catch {
      buffer.bytes.removeSubrange(start...)
      deferred.removeSubrange(deferredCount...)
      buffer.openScope = number
      count -= 1
      throw error
    }
  }

  /// Writes the single value of a scope without a list.
  @inline(__always)
  func single(_ body: () throws -> Void) throws {
    guard state == .empty, buffer.openScope == number else { throw misuse("a second value") }
    state = .single
    try body()
  }

  /// Writes `value`: natively if the format has its own representation of the type, otherwise in a scope of its own.
  func write<T: Encodable>(_ value: T, key: (any CodingKey)?) throws {
    if try writeKnown(value) { return }
    // A value that wraps another one has no list, so this check only bounds the recursion.
    guard depth <= DocumentLimits.nestingDepth else { throw tooDeep(value) }
    let inner = EncodingScope(buffer, parent: self, key: key)
    let outer = buffer.openScope
    buffer.openScope = inner.number
    try value.encode(to: inner)
    try inner.finish()
    buffer.openScope = outer
  }

  /// Writes `value` if the format has its own representation of the type; returns whether it has.
  private func writeKnown<T: Encodable>(_ value: T) throws -> Bool {
    // Comparing types costs one pointer comparison each. The cast is made only if it succeeds.
    if T.self == String.self {
      buffer.bytes.appendItem(value as! String)
    } else if T.self == Date.self {
      buffer.bytes.appendItem(value as! Date)
    } else if T.self == Data.self {
      buffer.bytes.appendItem(value as! Data)
    } else if T.self == UUID.self {
      buffer.bytes.appendItem((value as! UUID).uuidString)
    } else if T.self == URL.self {
      buffer.bytes.appendItem((value as! URL).absoluteString)
    } else if T.self == Decimal.self {
      buffer.bytes.appendItem(DocumentValue(value as! Decimal))
    } else if T.self == DocumentValue.self {
      let value = value as! DocumentValue
      if value.isNested(deeperThan: DocumentLimits.nestingDepth - depth) { throw tooDeep(value) }
      buffer.bytes.appendItem(value)
    } else {
      return false
    }
    return true
  }

  /// Creates a scope with a separate buffer, which is inserted at the current end of the buffer. Its list counts as an
  /// entry.
  func deferredScope(_ key: any CodingKey) -> EncodingScope {
    let scope = EncodingScope(EncodingBuffer(userInfo: userInfo), parent: self, key: key)
    // Set the error in both scopes now, to stop further descent immediately.
    if scope.depth > DocumentLimits.nestingDepth {
      failure = failure ?? scope.tooDeep("a list")
      scope.failure = failure
      return scope
    }
    do {
      try entry(key) { deferred.append((buffer.bytes.count, scope)) }
    } catch {
      failure = failure ?? error as? EncodingError
    }
    return scope
  }

  /// Completes the value: inserts the separate buffers and sets the count, or writes an empty map if nothing was
  /// written.
  func finish() throws {
    if let failure { throw failure }
    if state == .empty { buffer.bytes.append(Major.map << 5) }
    // In reverse order, so that the earlier offsets stay valid.
    for (offset, scope) in deferred.reversed() {
      try scope.finish()
      buffer.bytes.insert(contentsOf: scope.buffer.bytes, at: offset)
    }
    if state == .keyed || state == .unkeyed { buffer.bytes.setCount(count, ofListAt: header) }
    deferred = []
  }
}

extension DocumentValue {
  /// The exact integer or double for `value`; otherwise its text.
  init(_ value: Decimal) {
    let text = value.description
    if let integer = Int64(text) {
      self = .integer(integer)
    } else if let double = Double(text), Decimal(string: double.description) == value {
      self = .double(double)
    } else {
      self = .text(text)
    }
  }
}
