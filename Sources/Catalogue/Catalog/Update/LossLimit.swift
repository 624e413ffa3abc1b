/// A limit on how many products, and how many codes, a full update may lose. A server that answers with half a catalogue is faulty.
public struct LossLimit: Sendable {
  /// The share of the products, 0 … 1, that may disappear or be marked as deleted. Products that were already marked as
  /// deleted do not count. It is also the share of the codes that may disappear.
  public var share: Double
  /// The largest number of products for which a catalogue is replaced regardless of the losses; and the largest number of
  /// codes for which any may disappear.
  public var smallCatalogue: Int

  /// Creates a limit.
  ///
  /// - Parameters:
  ///   - share: The share of the products, 0 … 1, that may disappear or be marked as deleted.
  ///   - smallCatalogue: The largest number of products for which any loss is accepted.
  public init(share: Double = 0.5, smallCatalogue: Int = 1000) {
    self.share = share
    self.smallCatalogue = smallCatalogue
  }

  /// A limit that accepts every update.
  public static let open = LossLimit(share: 1)

  /// Checks how many codes an update loses.
  ///
  /// - Throws: `CatalogError.wouldLoseCodes`.
  func check(lostCodes lost: Int, of all: Int) throws(CatalogError) {
    if all > smallCatalogue, Double(lost) > share * Double(all) {
      throw .wouldLoseCodes(lost: lost, of: all, share: share)
    }
  }

  /// Checks the losses of an update.
  ///
  /// - Throws: `CatalogError.wouldLose`.
  func check(lost: Int, of all: Int) throws(CatalogError) {
    if all > smallCatalogue, Double(lost) > share * Double(all) {
      throw .wouldLose(lost: lost, of: all, share: share)
    }
  }
}
