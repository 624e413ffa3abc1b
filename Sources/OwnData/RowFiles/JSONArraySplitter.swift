/// A splitter of one JSON array, which arrives byte by byte, into its elements.
///
/// It knows only strings and brackets; the reader of the elements checks the rest. Memory: one element.
struct JSONArraySplitter {
  private enum State { case beforeArray, beforeElement, inElement, afterElement, afterArray }

  private let elementByteCount: Int
  private var state = State.beforeArray
  private var element: [UInt8] = []
  private var depth = 0
  private var isInString = false
  private var isEscaped = false
  private var hasElements = false
  private var firstLine = 1
  /// The bytes of white space between rows.
  private var blanks = BlankLines()
  /// The number of elements that have begun.
  private var count = 0
  /// The line of the current byte, from 1.
  private(set) var line = 1

  init(elementByteCount: Int) { self.elementByteCount = elementByteCount }

  /// Whether the array has ended.
  var isComplete: Bool { state == .afterArray }

  /// Takes the next byte of the text; returns the first line of an element that it completes.
  ///
  /// - Throws: `RowRefusal` for text that is not an array.
  mutating func take(_ byte: UInt8) throws(RowRefusal) -> Int? {
    defer { if byte == 0x0A { line += 1 } }
    if state == .inElement { return try takeInElement(byte) }
    if byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D {
      if let problem = blanks.add(afterRows: count) { throw RowRefusal(problem) }
      return nil
    }
    blanks.end()
    switch (state, byte) {
    case (.beforeArray, 0xEF), (.beforeArray, 0xBB), (.beforeArray, 0xBF): return nil
    case (.beforeArray, UInt8(ascii: "[")): state = .beforeElement
    case (.beforeElement, UInt8(ascii: "]")) where !hasElements: state = .afterArray
    case (.beforeElement, UInt8(ascii: ",")), (.beforeElement, UInt8(ascii: "]")):
      throw RowRefusal("a comma in the array without a row after it; remove the comma")
    case (.beforeElement, _):
      state = .inElement
      hasElements = true
      count += 1
      firstLine = line
      return try takeInElement(byte)
    case (.afterElement, UInt8(ascii: ",")): state = .beforeElement
    case (.afterElement, UInt8(ascii: "]")): state = .afterArray
    case (.afterElement, _): throw RowRefusal("a row in the array is not followed by a comma or by ]; correct it")
    default: throw RowRefusal("something follows the end of the array; remove it, or write a row on each line")
    }
    return nil
  }

  private mutating func takeInElement(_ byte: UInt8) throws(RowRefusal) -> Int? {
    if !isInString, depth == 0, byte == UInt8(ascii: ",") || byte == UInt8(ascii: "]") {
      // A number or a word ends here.
      state = byte == UInt8(ascii: ",") ? .beforeElement : .afterArray
      return firstLine
    }
    guard element.count < elementByteCount else {
      throw RowRefusal("a row is longer than \(elementByteCount) bytes; is a bracket or a quote not closed?")
    }
    element.append(byte)
    if isInString {
      if isEscaped {
        isEscaped = false
      } else if byte == UInt8(ascii: "\\") {
        isEscaped = true
      } else if byte == UInt8(ascii: "\"") {
        isInString = false
      }
      return nil
    }
    switch byte {
    case UInt8(ascii: "\""): isInString = true
    case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
    case UInt8(ascii: "}"), UInt8(ascii: "]"):
      depth -= 1
      if depth == 0 {
        state = .afterElement
        return firstLine
      }
    default: break
    }
    return nil
  }

  /// Returns the bytes of the element that is complete.
  mutating func takeElement() -> [UInt8] {
    var taken: [UInt8] = []
    swap(&taken, &element)
    return taken
  }

  /// Returns the memory of an element for reuse.
  mutating func reuse(_ memory: consuming [UInt8]) {
    memory.removeAll(keepingCapacity: true)
    element = memory
  }
}
