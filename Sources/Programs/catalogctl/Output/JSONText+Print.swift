import JSONFormat

extension JSONText {
  /// Prints the value as one line to standard output, without buffering.
  func print() {
    var bytes = bytes
    bytes.append(UInt8(ascii: "\n"))
    Console.print(bytes)
  }
}
