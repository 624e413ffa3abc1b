import CatalogRows
import LogStore
import ServerAnswers

/// An incremental encoder of an answer as an envelope: each call encodes rows until there are bytes to send.
struct AnswerEncoding {
  private enum Stage { case products, relations, codes, end, done }

  private let answer: OriginAnswer
  private let encoder = PayloadEncoder()
  private var stage = Stage.products
  private var place = 0
  private var product = ProductRow()
  private var relation = RelationRow()
  private var code = CodeRow()

  init(_ answer: OriginAnswer) {
    self.answer = answer
    encoder.writesCodes = answer.hasCodes
  }

  /// The next bytes, never empty; `nil` at the end.
  ///
  /// - Throws: `StoreError.damaged`.
  mutating func next() throws -> [UInt8]? {
    while stage != .done {
      try step()
      let bytes = encoder.takeOutput()
      if !bytes.isEmpty { return bytes }
    }
    return nil
  }

  private mutating func step() throws {
    switch stage {
    case .products:
      guard place < answer.productPlaceCount else { return advance(to: .relations) }
      if try answer.product(at: place, into: &product) { encoder.product(product) }
      place += 1
    case .relations:
      guard place < answer.relationPlaceCount else { return advance(to: .codes) }
      try answer.relations(at: place, reusing: &relation, product: &product) { encoder.relation($0) }
      place += 1
    case .codes:
      guard answer.hasCodes, place < answer.codePlaceCount else { return advance(to: .end) }
      try answer.codes(at: place, reusing: &code, product: &product) { encoder.code($0) }
      place += 1
    case .end:
      encoder.finish(updateTime: answer.updateTime)
      stage = .done
    case .done:
      break
    }
  }

  private mutating func advance(to next: Stage) {
    place = 0
    stage = next
  }
}
