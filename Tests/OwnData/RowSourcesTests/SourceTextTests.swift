import RowSources
import Testing

@Suite struct SourceTextTests {
  private func text(_ bytes: [UInt8], _ encoding: String? = nil, step: Int = 3) throws -> (String, EncodingGuess?) {
    var source = try SourceText(encoding: encoding)
    var text: [UInt8] = []
    var start = 0
    while start < bytes.count {
      let end = min(bytes.count, start + step)
      text += try source.decode(Array(bytes[start..<end]))
      while source.hasMore {
        let more = try source.decode([])
        #expect(more.count <= 2 << 20)
        text += more
      }
      start = end
    }
    text += try source.finish()
    return (String(decoding: text, as: UTF8.self), source.guess)
  }

  private func utf16(_ text: String, bigEndian: Bool = false) -> [UInt8] {
    text.utf16.flatMap { unit -> [UInt8] in
      let bytes = [UInt8(truncatingIfNeeded: unit), UInt8(truncatingIfNeeded: unit >> 8)]
      return bigEndian ? bytes.reversed() : bytes
    }
  }

  @Test(arguments: ["WINDOWS-1252", "GB18030", "UTF-16LE", "ISO-2022-JP"])
  func `what is written in an encoding is read back`(encoding: String) throws {
    let line = encoding == "WINDOWS-1252" ? "id;Größe €\n" : encoding == "ISO-2022-JP" ? "id;日本\n" : "id;空调 é 😀\n"
    let long = String(repeating: line, count: 20_000)
    var encoder = try TextEncoder(encoding)
    let bytes = try encoder.encode(Array(long.utf8)) + encoder.finish()
    #expect(try text(bytes, encoding, step: 4096).0 == long)
  }

  private static let zip: [UInt8] = [0x50, 0x4B, 0x03, 0x04] + Array(repeating: 0, count: 26)

  @Test(
    arguments: [
      ([0x50, 0x4B, 0x03, 0x04, 0x14], "Excel"), ([0x25, 0x50, 0x44, 0x46, 0x2D, 0x31], "PDF"),
      (Array("PAR1".utf8) + [0x15, 4, 0x15], "Parquet"), (Array("SQLite format 3\0".utf8) + [0x10], "SQLite"),
      (zip + Array("[Content_Types].xml".utf8), "Excel workbook or another file of Office"),
      (zip + Array("mimetypeapplication/vnd.oasis.opendocument.spreadsheet".utf8), "OpenDocument"),
      (zip + Array("rows.csv".utf8), "ZIP archive"), (Array("Obj\u{1}".utf8), "Avro"),
      (Array(repeating: 0, count: 257) + Array("ustar\0".utf8), "tar"), (Array("Rar!\u{1A}\u{7}".utf8), "RAR"),
    ] as [([UInt8], String)])
  func `a file that is no text is called what it is`(bytes: [UInt8], what: String) {
    let error = #expect(throws: SourceError.self) { try text(bytes + Array(repeating: 0x90, count: 100)) }
    #expect(error?.description.contains(what) == true)
  }

  @Test(arguments: [
    ("<?xml version='1.0'?><rows/>", "XML"), ("\u{FEFF}\r\n<!DOCTYPE html>", "web page"), ("<TABLE><tr>", "web page"),
    ("\r\n          <html>", "web page"), ("BZh91AY&SY", "bzip2"),
  ])
  func `text of another kind is called what it is, whatever encoding was given`(beginning: String, what: String) {
    for encoding in [nil, "UTF-8", "GB18030"] {
      for step in [1, 100] {
        let error = #expect(throws: SourceError.self) { try text(Array(beginning.utf8), encoding, step: step) }
        #expect(error?.description.contains(what) == true)
      }
    }
  }

  @Test func `a character that an encoding lacks is named with its line`() throws {
    var encoder = try TextEncoder("WINDOWS-1252")
    _ = try encoder.encode(Array("a\nb\n".utf8))
    #expect(throws: SourceError.notInEncoding(encoding: "WINDOWS-1252", line: 4, character: "品")) {
      try encoder.encode(Array("é\nx品".utf8))
    }
    #expect(throws: SourceError.unknownEncoding(name: "UTF-8//IGNORE")) { _ = try TextEncoder("UTF-8//IGNORE") }
  }

  @Test(arguments: [1, 2, 7, 4096]) func `UTF-8 is passed on as it is`(step: Int) throws {
    let (text, guess) = try text(Array("id,name\n1,空调 é\n".utf8), step: step)
    #expect(text == "id,name\n1,空调 é\n" && guess?.name == "UTF-8")
  }

  @Test(arguments: [false, true]) func `UTF-16 is recognised with and without a mark`(bigEndian: Bool) throws {
    let name = bigEndian ? "UTF-16BE" : "UTF-16LE"
    let plain = utf16("id,name\n1,é\n", bigEndian: bigEndian)
    let (text, guess) = try text(plain)
    #expect(text == "id,name\n1,é\n" && guess == EncodingGuess(plain) && guess?.name == name && guess?.reason == .zeros)
    let marked = try self.text(utf16("\u{FEFF}id,name\n", bigEndian: bigEndian))
    #expect(marked.0 == "\u{FEFF}id,name\n" && marked.1?.name == name && marked.1?.reason == .mark)
  }

  @Test func `GB18030 and Windows-1252 are told apart`() throws {
    // 编号,名称 and 空调 in GB18030; Größe in Windows-1252.
    let chinese: [UInt8] = [
      0xB1, 0xE0, 0xBA, 0xC5, 0x2C, 0xC3, 0xFB, 0xB3, 0xC6, 0x0A, 0x31, 0x2C, 0xBF, 0xD5, 0xB5, 0xF7,
    ]
    let (text, guess) = try text(chinese)
    #expect(text == "编号,名称\n1,空调" && guess?.name == "GB18030")
    let german = try self.text(Array("id;Gr".utf8) + [0xF6, 0xDF] + Array("e\n".utf8))
    #expect(german.0 == "id;Größe\n" && german.1?.name == "WINDOWS-1252")
    #expect(try self.text(chinese, "GBK").0 == "编号,名称\n1,空调")
  }

  /// Two rows in a language, the encoding in which its programs write them, and the name that is guessed.
  private static let languages: [(text: String, encoding: String, guessed: String)] = [
    ("1;Masło extra;śmietana\n2;Żurek śląski;kiełbasa\n", "WINDOWS-1250", "WINDOWS-1250"),
    ("1;Mléko polotučné;rohlík\n2;Šunka výběrová;hořká čokoláda\n", "WINDOWS-1250", "WINDOWS-1250"),
    ("1;Молоко отборное;сыр\n2;Хлеб бородинский;масло\n", "WINDOWS-1251", "WINDOWS-1251"),
    ("1;МОЛОКО ОТБОРНОЕ;СЫР\n2;ХЛЕБ БОРОДИНСКИЙ;МАСЛО\n", "WINDOWS-1251", "WINDOWS-1251"),
    ("1;Молоко отборное;сыр\n2;Хлеб бородинский;масло\n", "KOI8-R", "KOI8-R"),
    ("1;Çikolatalı gofret;süt\n2;Ayçiçek yağı;beyaz peynir ışık\n", "WINDOWS-1254", "WINDOWS-1254"),
    ("1;明治ミルクチョコレート;菓子\n2;日清カップヌードル;㈱日清\n", "CP932", "CP932"),
    ("1;明治ミルクチョコレート;菓子\n2;日清カップヌードル;麺\n", "EUC-JP", "EUC-JP"),
    ("1;농심 신라면;라면\n2;오뚜기 진라면;서울우유\n", "EUC-KR", "CP949"),
    ("1;義美小泡芙巧克力;餅乾\n2;康師傅牛肉麵;金門高粱酒\n", "BIG5", "BIG5"),
    ("1;格力空调挂机;空调\n2;农夫山泉矿泉水;统一冰红茶\n", "GB18030", "GB18030"),
    ("1;Müllermilch;süß\n2;Käse Gouda;Weißbrot\n", "WINDOWS-1252", "WINDOWS-1252"),
    ("1;Crème fraîche;râpé\n2;Bœuf haché;gruyère\n", "WINDOWS-1252", "WINDOWS-1252"),
    ("1;Caffè macinato;tè verde\n2;Ragù di carne;più\n", "WINDOWS-1252", "WINDOWS-1252"),
    ("1;Lay’s Classic;crisps\n2;Café au lait;coffee\n", "WINDOWS-1252", "WINDOWS-1252"),
  ]

  @Test(arguments: languages)
  func `an encoding is guessed by the characters of its language`(
    _ language: (text: String, encoding: String, guessed: String)
  ) throws {
    var encoder = try TextEncoder(language.encoding)
    let bytes = try encoder.encode(Array(("id;name;kind\n" + language.text).utf8)) + encoder.finish()
    let (text, guess) = try text(bytes)
    #expect(guess?.name == language.guessed && text == "id;name;kind\n" + language.text)
  }

  @Test func `a few damaged bytes do not make UTF-8 another encoding`() throws {
    let bytes = Array("id;name\n1;Größe\n2;Käse\n3;K".utf8) + [0xE4] + Array("se\n".utf8)
    #expect(try text(bytes).1?.name == "UTF-8")
    // Two characters of GB18030 are a guess, and said to be one.
    #expect(EncodingGuess([0x31, 0x2C, 0xC5, 0xAC, 0xBB, 0xF0]).reason != .valid)
  }

  @Test(arguments: [1, 3, 4096]) func `a byte order mark outweighs the encoding that was given`(step: Int) throws {
    let plain = Array("\u{FEFF}id;name\n1;Größe\n".utf8)
    let (marked, guess) = try text(plain, "WINDOWS-1252", step: step)
    #expect(marked == "\u{FEFF}id;name\n1;Größe\n" && guess?.name == "UTF-8" && guess?.reason == .mark)
    let wide = try text(utf16("\u{FEFF}id;é\n"), "GB18030", step: step)
    #expect(wide.0 == "\u{FEFF}id;é\n" && wide.1?.name == "UTF-16LE")
    // As it was given: nothing was guessed.
    #expect(try text(plain, "utf8", step: step).1 == nil)
    #expect(try text(utf16("\u{FEFF}id;é\n"), "utf-16", step: step).1 == nil)
    #expect(try text(Array("a".utf8), "WINDOWS-1252", step: step).0 == "a")
  }

  @Test func `zeros are no text, and a cell may have one`() throws {
    #expect {
      try text([UInt8](repeating: 0, count: 100))
    } throws: { error in
      "\(error)".contains("zero bytes")
    }
    #expect(try text(Array("id,name\n1,a\0b\n".utf8)).0 == "id,name\n1,a\0b\n")
  }

  @Test func `half a UTF-16 file and unknown names are errors with a remedy`() throws {
    #expect(throws: SourceError.endsInCharacter(encoding: "UTF-16LE", line: 2)) {
      try text(Array(utf16("id,name\n1,ab").dropLast()))
    }
    for name in ["klingon", "UTF-8//IGNORE", ""] {
      #expect(throws: SourceError.unknownEncoding(name: name)) { _ = try SourceText(encoding: name) }
    }
    #expect(throws: SourceError.notText(encoding: "EUC-JP", line: 2, byte: 0xFF)) {
      try text([0x61, 0x0A, 0xFF, 0x62], "EUC-JP")
    }
    #expect(SourceError.unknownEncoding(name: "x").description.contains("iconv --list"))
  }

  /// `id,name` and one row, packed by zstd 1.5.
  private static let packed: [UInt8] = [
    0x28, 0xb5, 0x2f, 0xfd, 0x24, 0x0e, 0x71, 0x00, 0x00, 0x69, 0x64, 0x2c, 0x6e, 0x61, 0x6d, 0x65, 0x0a, 0x31, 0x2c,
    0x61, 0x62, 0x63, 0x0a, 0x1d, 0x31, 0x7f, 0x7d,
  ]

  @Test func `zstd is unpacked, and what is cut or damaged is refused`() throws {
    #expect(try text(Self.packed).0 == "id,name\n1,abc\n")
    #expect(try text(Self.packed + Self.packed, step: 100).0 == "id,name\n1,abc\nid,name\n1,abc\n")
    for count in 4..<Self.packed.count {
      #expect(throws: SourceError.zstdEndsEarly(offset: count)) { try text(Array(Self.packed.prefix(count))) }
    }
    #expect(throws: SourceError.self) { try text(Self.packed.dropLast() + [0]) }
  }

  @Test func `what unpacks to much is passed on in small pieces`() throws {
    // A frame of blocks of 128 KiB that repeat one byte.
    var frame: [UInt8] = [0x28, 0xB5, 0x2F, 0xFD, 0x00, 0x38]
    for index in 0..<200 { frame += [index == 199 ? 0x03 : 0x02, 0x00, 0x10, 0x61] }
    var source = try SourceText(encoding: "UTF-8")
    var sizes = [try source.decode(frame).count]
    while source.hasMore { sizes.append(try source.decode([]).count) }
    #expect(sizes.max() == 128 << 10 && sizes.reduce(0, +) == 200 * 128 << 10)
    #expect(try source.finish().isEmpty)
  }
}
