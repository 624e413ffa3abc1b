import CatalogRows
import ServerAnswers

/// An incremental encoder of an answer as an envelope: each call encodes rows until there are bytes to send.
struct AnswerEncoding {
  private enum Stage { case products, relations, end, done }

  private let answer: OriginAnswer
  private let encoder = PayloadEncoder()
  private var stage = Stage.products
  private var place = 0
  private var product = ProductRow()
  private var relation = RelationRow()

  init(_ answer: OriginAnswer) { self.answer = answer }

  /// The next bytes, never empty; `nil` at the end.
  mutating func next() -> [UInt8]? {
    while stage != .done {
      step()
      let bytes = encoder.takeOutput()
      if !bytes.isEmpty { return bytes }
    }
    return nil
  }

  private mutating func step() {
    switch stage {
    case .products:
      if answer.product(at: place, into: &product) { encoder.product(product) }
      advance(to: .relations)
    case .relations:
      answer.relations(at: place, reusing: &relation) { encoder.relation($0) }
      advance(to: .end)
    case .end:
      encoder.finish(updateTime: answer.updateTime)
      stage = .done
    case .done:
      break
    }
  }

  private mutating func advance(to next: Stage) {
    place += 1
    guard place == answer.placeCount else { return }
    place = 0
    stage = next
  }
}
