import JSONFormat

extension JSONText {
  /// Prints the value as one line of standard output, at once.
  func print() {
    var bytes = bytes
    bytes.append(UInt8(ascii: "\n"))
    Console.print(bytes)
  }
}
