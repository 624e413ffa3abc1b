/// Refuses a full update that would lose too much: a server that answers with half a catalogue has a fault.
public struct LossGate: Sendable {
  /// The share of the products, 0 … 1, that may vanish, or come marked as deleted. Those that were so marked before
  /// do not count.
  public var share: Double
  /// A catalogue of up to this many products is replaced whatever is lost.
  public var smallCatalogue: Int

  public init(share: Double = 0.5, smallCatalogue: Int = 1000) {
    self.share = share
    self.smallCatalogue = smallCatalogue
  }

  /// Lets everything through.
  public static let open = LossGate(share: 1)

  /// - Throws: `CatalogError.wouldLose`.
  func check(lost: Int, of all: Int) throws(CatalogError) {
    if all > smallCatalogue, Double(lost) > share * Double(all) {
      throw .wouldLose(lost: lost, of: all, share: share)
    }
  }
}
