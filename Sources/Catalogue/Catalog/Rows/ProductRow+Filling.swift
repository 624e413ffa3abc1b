import Bytes
import CatalogRows
import LogStore

extension ProductRow {
  /// Takes the fields that the source says nothing about from a product; of those beyond the 25, each that the row
  /// lacks, unless the row has an `extra` of its own.
  ///
  /// - Throws: `StoreError.damaged`; `.tooLarge` if there are too many fields beyond the 25 together.
  mutating func fill(from product: borrowing ProductView) throws(StoreError) {
    for field in ProductField.allCases where givenFields & 1 << UInt32(field.rawValue) == 0 {
      switch field.slot {
      case .integer(let slot): integers[slot] = product.integer(slot)
      case .flag(let slot): setFlag(slot, product.flag(slot))
      case .double(let slot): doubles[slot] = product.double(UInt32(slot))
      case .text(let slot):
        switch field {
        case .createTime: texts.set(slot, product.createTime)
        case .updateTime: texts.set(slot, product.updateTime)
        default: if let text = field.text { texts.set(slot, try product.text(of: text)) }
        }
      }
    }
    if givenFields & Self.extraBit == 0, product.utf8.extra.byteCount > 0 {
      try addExtra(of: product.utf8.extra.copied())
    }
    givenFields = Self.allFields
  }

  /// Adds the members of a product's `extra` that the row lacks.
  private mutating func addExtra(of product: [UInt8]) throws(StoreError) {
    var json: [UInt8] = []
    texts.withText(Self.extraText) { json.append(copying: $0) }
    guard !json.isEmpty, var members = ExtraMembers(json: json.span), let former = ExtraMembers(json: product.span)
    else { return texts.set(Self.extraText, product.span) }
    members.addMissing(former)
    json.removeAll(keepingCapacity: true)
    do throws(ExtraProblem) { try members.append(to: &json) } catch {
      throw .tooLarge(
        what: "the extra of the product \(self[.id]), with the fields that it had before,",
        byteCount: json.count + product.count, limit: ExtraLimits.byteCount)
    }
    texts.set(Self.extraText, json.span)
  }
}
