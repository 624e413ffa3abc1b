public import CatalogRows
public import LogStore

extension ProductView {
  /// The texts of a product as UTF-8, lent like the product: bytes of the store's mapping, which nothing copies.
  public struct UTF8: ~Escapable, BitwiseCopyable {
    @usableFromInline
    let view: ProductView

    @inlinable @inline(__always)
    @_lifetime(copy view)
    init(_ view: ProductView) { self.view = view }

    /// The id, which is never normalised; empty for a product that the server sent without an id.
    public var id: RawSpan {
      @inlinable @inline(__always)
      @_lifetime(copy self)
      get { view.record.key(0) }
    }

    /// The barcode as the server wrote it.
    public var barcode: RawSpan {
      @inlinable @inline(__always)
      @_lifetime(copy self)
      get {
        if view.flags & ProductLayout.hasBarcode == 0 { return view.record.key(1) }
        return view.text(1)
      }
    }

    /// The name for people; may be empty.
    public var name: RawSpan {
      @inlinable @inline(__always)
      @_lifetime(copy self)
      get {
        let body = view.body
        let flags = view.flags
        let start = view.textsEnd(ProductLayout.textCount(flags), flags, in: body)
        // The bytes after the texts, or none if those lead outside.
        return unsafe body.extracting(unchecked: min(start, body.byteCount)..<body.byteCount)
      }
    }

    /// The stock-keeping code; may be empty.
    public var skuCode: RawSpan {
      @inlinable @inline(__always)
      @_lifetime(copy self)
      get { view.text(0) }
    }

    /// The fields beyond the 25 as a JSON object; empty for a product without any.
    public var extra: RawSpan {
      @_lifetime(copy self)
      get {
        let flags = view.flags
        if flags & ProductLayout.hasExtra == 0 { return view.body.slice(0, 0) }
        return view.text(ProductLayout.extraIndex(flags))
      }
    }

    /// A text that rows share: brand, brandId, category, createBy, orgId, unit or updateBy.
    ///
    /// - Throws: `StoreError.damaged` if the text does not pass its check.
    @_lifetime(copy self)
    public func shared(_ field: ProductText) throws(StoreError) -> RawSpan {
      guard let index = ProductLayout.sharedIndex(field) else {
        preconditionFailure("\(field) is not a shared text")
      }
      let bit = ProductLayout.shared(index)
      if view.flags & bit == 0 { return view.body.slice(0, 0) }
      return try view.record.shared(ProductLayout.sharedCount(view.flags, before: bit))
    }
  }
}
