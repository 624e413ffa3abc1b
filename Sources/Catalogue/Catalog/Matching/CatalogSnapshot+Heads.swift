import Barcodes
import Bytes
import LogStore

extension CatalogSnapshot {
  /// Finds the longest barcode that is a prefix of the code, first letter for letter, then ignoring case.
  func matchHead(_ scan: Scan, _ options: HeadOptions, _ match: inout Match) throws(StoreError) {
    let lookup = HeadLookup(text: scan.headText, options: options, isGTIN: scan.kind == .gtin)
    let code = lookup.text.utf8.span.rawSpan
    if CodeKey.isFolded(code) {
      try matchHead(lookup, key: code, isKey: true, &match)
    } else {
      let key = lookup.text.utf8.map(CodeKey.upper)
      try matchHead(lookup, key: key.rawSpan, isKey: key.rawSpan.hasSameBytes(as: code), &match)
    }
  }

  private func matchHead(_ lookup: HeadLookup, key: RawSpan, isKey: Bool, _ match: inout Match) throws(StoreError) {
    if let trace { trace.noteHeads(of: key, shortest: lookup.options.minimumLength) }
    guard let store else { return }
    let code = lookup.text.utf8.span.rawSpan
    let shortest = lookup.options.minimumLength
    let lengths = store.keyLengths(CatalogSchema.productByCode)
    if hasCodes { return try matchHeadWithCodes(lookup, key: key, isKey: isKey, &match) }
    var folded: (rows: [RowID], length: Int)?
    var length = lengths.longest(below: code.byteCount)
    while length >= shortest, length > 0 {
      let shorter = lengths.longest(below: length)
      // Prefetch the next shorter head during this lookup.
      if shorter >= shortest, shorter > 0 {
        store.prefetch(CatalogSchema.productByCode, key.extracting(first: shorter))
      }
      var found = Candidates()
      let head = code.extracting(first: length)
      try collect(head, key: key.extracting(first: length), isKey: isKey, &found)
      if !found.isEmpty, let refusal = lookup.refusal(of: head) {
        let count = found.exact.count + found.folded.count
        match.attempts.append(Match.Attempt(kind: .head, text: head.string, productCount: count, note: refusal))
      } else if !found.isEmpty {
        if !found.exact.isEmpty {
          match.found(found.exact, .head, lookup.text)
          match.rest = code.extracting(length...).string
          return
        }
        if folded == nil { folded = (found.folded, length) }
      }
      length = shorter
    }
    match.found(try copies(folded?.rows ?? []), .head, lookup.text)
    if let folded { match.rest = code.extracting(folded.length...).string }
  }
}

extension CatalogSnapshot {
  /// Finds the longest head in a catalogue with further codes. Of one length, a barcode precedes a further code, and a
  /// text that is letter for letter the same one in other capitals.
  private func matchHeadWithCodes(
    _ lookup: HeadLookup, key: RawSpan, isKey: Bool, _ match: inout Match
  ) throws(StoreError) {
    guard let store else { return }
    let code = lookup.text.utf8.span.rawSpan
    let shortest = max(1, lookup.options.minimumLength)
    let lengths = store.keyLengths(CatalogSchema.productByCode)
    let codeLengths = hasCodeTable ? store.keyLengths(CatalogSchema.codesByCode) : nil
    let hasFieldCodes = !codeFields.isEmpty
    var folded: (found: FoundHead, length: Int)?
    for length in (shortest..<max(shortest, code.byteCount)).reversed() {
      let head = code.extracting(first: length)
      let headKey = key.extracting(first: length)
      var found = Candidates()
      if lengths.contains(length) { try collect(head, key: headKey, isKey: isKey, &found) }
      var codes: [FoundCode] = []
      if found.isEmpty, hasFieldCodes || codeLengths?.contains(DigitKey.byteCount(of: headKey)) == true {
        codes = try self.codes(head, key: headKey)
      }
      if found.isEmpty, codes.isEmpty { continue }
      if let refusal = lookup.refusal(of: head) {
        let count = found.exact.count + found.folded.count + codes.count
        match.attempts.append(Match.Attempt(kind: .head, text: head.string, productCount: count, note: refusal))
        continue
      }
      let exactCodes = codes.filter(\.isExact)
      if !found.exact.isEmpty || !exactCodes.isEmpty {
        if found.exact.isEmpty {
          match.foundCodes(exactCodes, .head, lookup.text)
        } else {
          match.found(found.exact, .head, lookup.text)
        }
        match.rest = code.extracting(length...).string
        return
      }
      if folded == nil { folded = (found.isEmpty ? .codes(codes) : .rows(found.folded), length) }
    }
    switch folded?.found {
    case .codes(let codes): match.foundCodes(codes, .head, lookup.text)
    case .rows(let rows): match.found(try copies(rows), .head, lookup.text)
    case nil: match.found([Product](), .head, lookup.text)
    }
    if let folded { match.rest = code.extracting(folded.length...).string }
  }

  private enum FoundHead {
    case codes([FoundCode])
    case rows([RowID])
  }
}

/// The search for the head of one code.
private struct HeadLookup {
  /// The code.
  let text: String
  let options: HeadOptions
  /// Whether the code is a sound GTIN that is not restricted.
  let isGTIN: Bool

  /// Returns why a barcode that begins the code is not its head, for users; `nil` if it is.
  func refusal(of head: RawSpan) -> String? {
    // Count characters, not bytes: every byte that is not a UTF-8 continuation byte begins a character.
    var count = 0
    var hasOnlyDigits = true
    for offset in head.byteOffsets {
      let byte = head.u8(at: offset)
      if byte & 0xC0 != 0x80 { count += 1 }
      if byte < 0x30 || byte > 0x39 { hasOnlyDigits = false }
    }
    if count < options.minimumLength {
      return "a head has at least \(options.minimumLength) characters (matching.heads.minimum)"
    }
    if isGTIN, hasOnlyDigits, count < options.minimumDigits {
      return
        "the code is a sound GTIN, so a head of digits has at least \(options.minimumDigits) (matching.heads.digits)"
    }
    return nil
  }
}
