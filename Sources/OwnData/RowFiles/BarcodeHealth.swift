package import Barcodes
internal import JSONFormat

/// What is the matter with the barcodes of a file: how many there are of each kind, and where the first of each is.
package struct BarcodeHealth: Sendable, Equatable {
  /// A barcode, and its position in the file.
  package struct First: Sendable, Equatable {
    /// The line, from 1.
    package var line: Int
    /// The number of the row in its JSON array, from 1; `nil` for rows that have lines of their own.
    package var element: Int?
    /// The beginning of the code.
    package var text: String
  }

  private var counts = [Int](repeating: 0, count: WrittenCode.State.allCases.count)
  private var firsts = [First?](repeating: nil, count: WrittenCode.State.allCases.count)
  /// The number of barcodes that no scan can find, and the first of each reason.
  package private(set) var unscannable: [Scan.Unscannable: (count: Int, first: First)] = [:]

  /// For each separator of codes in a cell, the first text that has it, and is no list of codes.
  package private(set) var separated: [Character: String] = [:]

  /// Creates counts of no barcodes.
  package init() {}

  /// The number of products.
  package var total: Int { counts.reduce(0, +) }

  /// The number of barcodes in a state.
  package subscript(state: WrittenCode.State) -> Int { counts[Self.index(state)] }

  /// The first barcode in a state.
  package func first(_ state: WrittenCode.State) -> First? { firsts[Self.index(state)] }

  /// Adds the barcode of a product.
  ///
  /// - Complexity: A pass over the digits of a number. A text of other characters takes longer.
  package mutating func add(_ barcode: Span<UInt8>, line: Int, element: Int?) {
    let state = WrittenCode.state(of: barcode)
    let index = Self.index(state)
    counts[index] += 1
    if counts[index] == 1 { firsts[index] = Self.first(barcode, line, element) }
    if state == .text { noteSeparators(barcode) }
    guard state == .text || state == .several || state == .decorated, !Scan.isPlain(barcode),
      let reason = Scan.unscannable(String(copying: barcode))
    else { return }
    let former = unscannable[reason] ?? (0, Self.first(barcode, line, element))
    unscannable[reason] = (former.count + 1, former.first)
  }

  /// Notes the separators in a text that is no list of codes, and no web address.
  private mutating func noteSeparators(_ barcode: Span<UInt8>) {
    var hasSeparator = false
    for index in barcode.indices where !hasSeparator {
      // Letters, digits, hyphens, points and underscores separate nothing.
      let byte = barcode[index]
      hasSeparator = byte < 0x2D || byte == 0x2F || byte == 0x3B || byte == 0x7C || byte >= 0x80
    }
    guard hasSeparator else { return }
    let text = String(copying: barcode)
    if text.contains("://") { return }
    for character in text where separated[character] == nil && WrittenCode.isSeparator(character) {
      separated[character] = text.count > 60 ? text.prefix(60) + "…" : text
    }
  }

  private static func first(_ barcode: Span<UInt8>, _ line: Int, _ element: Int?) -> First {
    let text = String(copying: barcode)
    return First(line: line, element: element, text: text.count > 60 ? text.prefix(60) + "…" : text)
  }

  private static func index(_ state: WrittenCode.State) -> Int {
    switch state {
    case .sound: 0
    case .lostZero: 1
    case .exponent: 2
    case .decorated: 3
    case .several: 4
    case .wrongCheckDigit: 5
    case .text: 6
    case .none: 7
    }
  }

  package static func == (left: BarcodeHealth, right: BarcodeHealth) -> Bool {
    left.counts == right.counts && left.firsts == right.firsts
      && left.unscannable.mapValues(\.count) == right.unscannable.mapValues(\.count)
  }
}
