internal import Zstd

/// The text of a source in UTF-8: it decompresses zstd, which its first bytes show, and converts other encodings, as
/// the bytes arrive.
///
///     var text = SourceText(encoding: nil)
///     while let piece = try file.next() {
///       read(try text.decode(piece))
///       while text.hasMore { read(try text.decode([])) }
///     }
///     read(try text.finish())
///
/// gzip is unpacked before, by `OptionalGzip`; `SourceReader` joins the two. Memory: the first megabyte for the guess
/// of the encoding, one chunk and at most 128 KiB of its text, however well it is packed, and the window of the
/// decompressor, at most 128 MiB if the file asks for it. Text in UTF-8 is passed on as it is: the reader of rows
/// checks it, so that a message names the line and the column. A byte order mark outweighs the encoding that was asked
/// for: a mapping may have been saved for another export of the same program.
package struct SourceText: ~Copyable {
  /// The number of bytes from which the encoding is guessed.
  package static let sampleByteCount = 1 << 20
  /// The number of bytes by which the format of a file is recognised.
  private static let beginningByteCount = 512
  private static let zstdMagic: [UInt8] = [0x28, 0xB5, 0x2F, 0xFD]

  /// Formats that are not text, by their first bytes.
  private static let otherFiles: [(magic: [UInt8], what: String, remedy: String)] = {
    let sheet = "save the sheet as CSV, in its program or with 'soffice --headless --convert-to csv FILE'"
    let frame = "write the rows as CSV, as DuckDB does with COPY (FROM 'FILE') TO 'rows.csv'"
    let rows = "export the rows as CSV, or as JSON"
    let again = "unpack it, or pack it with gzip or zstd"
    return [
      (
        [0xD0, 0xCF, 0x11, 0xE0, 0xA1, 0xB1, 0x1A, 0xE1], "an old Excel workbook, or another file of old Office", sheet
      ),
      ([0x09, 0x08, 0x10, 0], "a very old Excel workbook", sheet),
      ([0x09, 0x08, 0x08, 0], "a very old Excel workbook", sheet),
      (Array("PAR1".utf8), "Parquet", frame), (Array("PARE".utf8), "encrypted Parquet", rows),
      (Array("ARROW1".utf8) + [0], "Arrow", rows), (Array("FEA1".utf8) + [0], "Feather", rows),
      (Array("ORC".utf8) + [0x08], "ORC", rows),
      (Array("Obj".utf8) + [1], "Avro", rows), (Array("SQLite format 3\0".utf8), "an SQLite database", sqlite),
      ([0, 1, 0, 0] + Array("Standard Jet DB".utf8), "an Access database", rows),
      ([0, 1, 0, 0] + Array("Standard ACE DB".utf8), "an Access database", rows),
      (Array("PGDMP".utf8) + [1], "a dump of PostgreSQL", "restore it, and import from the database"),
      ([0x89, 0x48, 0x44, 0x46], "HDF5", rows), (Array("{\\rtf".utf8), "a document of a word processor", rows),
      ([0x25, 0x50, 0x44, 0x46, 0x2D], "a PDF", "export the rows as CSV"),
      ([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A], "a picture", "name a file of rows"),
      ([0xFF, 0xD8, 0xFF], "a picture", "name a file of rows"),
      (Array("GIF89a".utf8), "a picture", "name a file of rows"),
      ([0x7F, 0x45, 0x4C, 0x46], "a program", "name a file of rows"),
      ([0x1F, 0x8B], "gzip inside gzip or zstd", "unpack it once"), ([0x1F, 0x9D], "packed by compress", again),
      (Array("BZh".utf8), "packed by bzip2", again), ([0xFD, 0x37, 0x7A, 0x58, 0x5A, 0], "packed by xz", again),
      ([0x04, 0x22, 0x4D, 0x18], "packed by lz4", again), (Array("LZIP".utf8) + [1], "packed by lzip", again),
      ([0x37, 0x7A, 0xBC, 0xAF, 0x27, 0x1C], "a 7z archive", "unpack it"),
      ([0x52, 0x61, 0x72, 0x21, 0x1A, 0x07], "a RAR archive", "unpack it"),
      ([0x50, 0x4B, 0x05, 0x06], "an empty ZIP archive", "name a file of rows"),
    ]
  }()

  private static let sqlite = "write the rows as CSV with 'sqlite3 -header -csv FILE \"SELECT * FROM …\" > rows.csv'"

  /// What a ZIP archive is by the name of its first member, and what to do.
  private static func zip(_ bytes: [UInt8]) -> (what: String, remedy: String)? {
    guard bytes.starts(with: [0x50, 0x4B, 0x03, 0x04]) else { return nil }
    let names = String(decoding: bytes.dropFirst(30).prefix(beginningByteCount * 4), as: UTF8.self)
    let sheet = "save the sheet as CSV, in its program or with 'soffice --headless --convert-to csv FILE'"
    if names.hasPrefix("mimetypeapplication/vnd.oasis.opendocument") {
      return ("a spreadsheet or another document of OpenDocument", sheet)
    }
    if ["[Content_Types].xml", "_rels/", "xl/", "docProps/"].contains(where: names.hasPrefix) {
      return ("an Excel workbook or another file of Office", sheet)
    }
    if names.hasPrefix("Index/") { return ("a file of Numbers or another program of iWork", "export the sheet as CSV") }
    return ("a ZIP archive, or an Excel workbook", "unpack it, or save the sheet as CSV")
  }

  /// Whether the bytes are the beginning of a tar archive.
  private static func isTar(_ bytes: [UInt8]) -> Bool {
    bytes.dropFirst(257).starts(with: "ustar".utf8) && bytes.prefix(257).contains(0)
  }

  /// Text formats that are not tables, by their beginnings in lower case. Some programs name them CSV or XLS.
  private static let otherTexts: [(beginning: String, what: String)] = [
    ("<?xml", "XML"), ("<!doc", "a web page"), ("<html", "a web page"), ("<table", "a web page"),
    ("<meta", "a web page"),
  ]

  private let limits: SourceLimits
  /// The encoding that was asked for.
  private let requested: String?
  /// The first bytes, until the packing is known.
  private var head: [UInt8] = []
  private var isPackingKnown = false
  private var inflater: ZstdInflater?
  /// The beginning of the unpacked text, until the encoding is known.
  private var sample: [UInt8] = []
  private var isEncodingKnown = false
  private var decoder: TextDecoder?
  private var byteCount = 0
  /// The encoding that was guessed; `nil` if it is the given one, or is not known yet.
  package private(set) var guess: EncodingGuess?

  /// - Parameters:
  ///   - encoding: The name of the encoding; `nil` to guess it.
  ///   - limits: The limits of decompression.
  /// - Throws: `SourceError.unknownEncoding`.
  package init(encoding: String?, limits: SourceLimits = SourceLimits()) throws(SourceError) {
    self.limits = limits
    requested = encoding
    inflater = nil
    decoder = nil
    if let encoding, !Self.isUTF8(encoding) { decoder = try TextDecoder(encoding) }
  }

  private static func isUTF8(_ name: String) -> Bool {
    let letters = name.lowercased()
    return letters == "utf-8" || letters == "utf8" || letters == "us-ascii" || letters == "ascii"
  }

  /// Whether the bytes so far have more text, which ``decode(_:)`` returns.
  package private(set) var hasMore = false

  /// Returns the text of the next bytes, which may be empty; of packed bytes, its beginning if there is much of it.
  ///
  /// - Throws: `SourceError`.
  package mutating func decode(_ bytes: [UInt8]) throws(SourceError) -> [UInt8] {
    byteCount += bytes.count
    if isPackingKnown { return try convert(unpack(bytes)) }
    head += bytes
    if head.count < Self.zstdMagic.count, Self.zstdMagic.starts(with: head) { return [] }
    return try startUnpacking()
  }

  private mutating func startUnpacking() throws(SourceError) -> [UInt8] {
    isPackingKnown = true
    if head.starts(with: Self.zstdMagic) {
      do { inflater = try ZstdInflater() } catch { throw SourceError(error, offset: byteCount) }
    }
    let first = head
    head = []
    return try convert(unpack(first))
  }

  private mutating func unpack(_ bytes: [UInt8]) throws(SourceError) -> [UInt8] {
    if inflater == nil { return bytes }
    var text: [UInt8] = []
    do { hasMore = try inflater?.unpack(bytes, into: &text) ?? false } catch {
      throw SourceError(error, offset: byteCount)
    }
    try limits.check(unpacked: inflater?.unpackedByteCount ?? 0, packed: byteCount)
    return text
  }

  private mutating func convert(_ bytes: [UInt8]) throws(SourceError) -> [UInt8] {
    if isEncodingKnown {
      if decoder == nil { return bytes }
      var text: [UInt8] = []
      try decoder?.decode(bytes, into: &text)
      return text
    }
    sample += bytes
    let sufficient = requested == nil ? Self.sampleByteCount : Self.beginningByteCount
    return sample.count < sufficient ? [] : try startDecoding()
  }

  private mutating func startDecoding() throws(SourceError) -> [UInt8] {
    isEncodingKnown = true
    let first = sample
    sample = []
    // A column may be called PAR1, but a text has no control characters.
    let isBinary = first.prefix(64).contains { $0 < 0x09 } || first.dropFirst(4).suffix(4).elementsEqual("PAR1".utf8)
    for file in Self.otherFiles where first.starts(with: file.magic) {
      if !isBinary, file.magic.starts(with: "PAR".utf8) { continue }
      throw .notRows(what: file.what, remedy: file.remedy)
    }
    if let zip = Self.zip(first) { throw .notRows(what: zip.what, remedy: zip.remedy) }
    if Self.isTar(first) { throw .notRows(what: "a tar archive", remedy: "unpack it") }
    let beginning = first.prefix(64).drop { $0 >= 0x80 || $0 <= 0x20 }
    let start = String(decoding: beginning, as: UTF8.self).lowercased()
    for text in Self.otherTexts where start.hasPrefix(text.beginning) {
      throw .notRows(what: text.what, remedy: "save the rows as CSV, or as JSON")
    }
    if let requested {
      let mark = EncodingGuess(mark: first)
      let isAsGiven = mark.map {
        Self.isUTF8(requested) ? $0.name == "UTF-8" : $0.name.hasPrefix(requested.uppercased())
      }
      if isAsGiven ?? true { return try convert(first) }
      guess = mark
    } else {
      // Text has no zeros, but a cell may have one that a program wrote.
      let zeros = first.count { $0 == 0 }
      let guess = EncodingGuess(first)
      if guess.name == "UTF-8", zeros * 10 > first.count {
        throw .notRows(
          what: "a file with \(zeros) zero bytes among its first \(first.count)", remedy: "name another file")
      }
      self.guess = guess
    }
    decoder = nil
    if let guess, guess.name != "UTF-8" { decoder = try TextDecoder(guess.name) }
    return try convert(first)
  }

  /// Ends the bytes, and returns the rest of the text.
  ///
  /// - Throws: `SourceError`.
  package mutating func finish() throws(SourceError) -> [UInt8] {
    var text = isPackingKnown ? [] : try startUnpacking()
    while hasMore { text += try decode([]) }
    if let inflater = inflater.take(), !inflater.isAtEndOfFrame { throw .zstdEndsEarly(offset: byteCount) }
    if !isEncodingKnown { text += try startDecoding() }
    try decoder?.finish(into: &text)
    return text
  }
}
