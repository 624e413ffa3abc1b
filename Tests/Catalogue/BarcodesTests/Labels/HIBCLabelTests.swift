import Testing

@testable import Barcodes

/// The examples are those of ANSI/HIBC 2.6 (sections 2.2 and 4.3, appendices B and C) unless noted otherwise.
@Suite struct HIBCLabelTests {
  private let today = ScanDate(year: 2026, month: 11, day: 23)!

  @Test(arguments: ["+A123BJC5D6E71G", "+H123ABC01234567890D", "*+A123BJC5D6E71G*"])
  func `primary data are read`(text: String) throws {
    let label = try #require(Label(text))
    let plain = text.filter { $0 != "*" }
    let data = label.data(today: today)
    #expect(label.kind == .hibc && !label.isWeak)
    #expect(data["labelerId"] == .text(String(plain.dropFirst().prefix(4))))
    #expect(data["productCode"] == .text(String(plain.dropFirst(5).dropLast(2))))
    #expect(data["unitOfMeasure"] == .text(String(plain.suffix(2).prefix(1))))
    #expect(label.parts == [plain, String(plain.dropFirst().dropLast()), String(plain.dropFirst(5).dropLast(2))])
    #expect(label.issues(today: today) == [])
  }

  @Test func `primary and secondary data in one symbol are read`() throws {
    let label = try #require(Label("+A99912345/$$52001510X3/16D20111212/S77DEFG457"))
    #expect(label.elements.map(\.ai) == ["+", "$$", "16D", "S"])
    #expect(label.parts == ["+A999123457", "A99912345", "1234"])
    let data = label.data(today: today)
    #expect(data.expiry == ScanDate(year: 2020, month: 1, day: 15))
    #expect(data.lot == "10X3")
    #expect(data.production == ScanDate(year: 2011, month: 12, day: 12))
    #expect(data.serial == "77DEFG45")
    #expect(label.issues(today: today) == [])
  }

  @Test(arguments: [
    ("+A99912345/$$52001510X33", "2020-01-15", "10X3"), ("+A123BJC5D6E71/$$52001510X3C", "2020-01-15", "10X3"),
    ("+A99912345/$10X3/16D20111231/14D202001313", "2020-01-31", "10X3"),
    ("+J123AQ3451/$$3231231BC34567/S4012R", "2023-12-31", "BC34567"),
    // Labels of devices, as decoders of device identifiers publish them.
    ("+J014652230580/$$3220909K010025/16D20200311Z", "2022-09-09", "K010025"),
    ("*+D002606030421/$$323101700056020/16D20201020Z*", "2023-10-17", "00056020"),
  ])
  func `lot and expiry are read`(text: String, expiry: String, lot: String) throws {
    let label = try #require(Label(text))
    let data = label.data(today: today)
    #expect(data.expiry?.description == expiry)
    #expect(data.lot == lot)
    #expect(label.issues(today: today) == [])
  }

  @Test func `a quantity of its own is read`() throws {
    let label = try #require(Label("+A99912349/$10X3/16D20111231/14D20200131/Q500Z"))
    #expect(label.data(today: today).count == ExactDecimal(500))
  }

  @Test(arguments: [
    ("+$$52001510X3GD", "2020-01-15", "10X3", "G"), ("+$$02231162074ZA", "2023-02-28", "1162074", "Z"),
    ("+$$0624J139276%5", "2024-06-30", "J139276", "%"),
  ])
  func `secondary data alone have a link`(text: String, expiry: String, lot: String, link: String) throws {
    let label = try #require(Label(text))
    let data = label.data(today: today)
    #expect(data.expiry?.description == expiry)
    #expect(data.lot == lot)
    #expect(data["link"] == .text(link))
    #expect(label.parts.isEmpty && label.gtin == nil)
  }

  /// Returns `message` with its check character.
  private func checked(_ message: String) -> String {
    message + String(decoding: [HIBCCheck.character(for: message.utf8)], as: UTF8.self)
  }

  @Test(
    arguments: [
      ("$$0928L1", "2028-09-30", nil, "L1", nil), ("$$2093028L1", "2028-09-30", nil, "L1", nil),
      ("$$3280930L1", "2028-09-30", nil, "L1", nil), ("$$428093023L1", nil, "2028-09-30T23:00", "L1", nil),
      ("$$528060L1", "2028-02-29", nil, "L1", nil), ("$$62806023L1", nil, "2028-02-29T23:00", "L1", nil),
      ("$$7L1", nil, nil, "L1", nil), ("$$8240928L1", "2028-09-30", nil, "L1", "24"),
      ("$$9001007L1", nil, nil, "L1", "100"), ("$$912345", nil, nil, nil, "12345"), ("$L1", nil, nil, "L1", nil),
      ("28060L1", "2028-02-29", nil, "L1", nil),
    ] as [(String, String?, String?, String?, String?)]
  )
  func `every format of the secondary data is read`(
    secondary: String, expiry: String?, time: String?, lot: String?, count: String?
  ) throws {
    for text in [checked("+A99912345/" + secondary), checked("+" + secondary + "G")] {
      let label = try #require(Label(text))
      let data = label.data(today: today)
      if time == nil { #expect(data.expiry?.description == expiry) }
      if case .dateTime(let value) = data["expiryTime"] {
        #expect(value.description == time)
      } else {
        #expect(time == nil)
      }
      #expect(data.lot == lot)
      #expect(data.count?.description == count)
      #expect(label.issues(today: today) == [])
    }
  }

  @Test(arguments: ["$$+0928S1", "$$+7S1", "$+S1", "$$+3280930S1"])
  func `a plus sign after the flag makes the lot a serial number`(secondary: String) throws {
    let label = try #require(Label(checked("+A99912345/" + secondary)))
    let data = label.data(today: today)
    #expect(data.serial == "S1" && data.lot == nil)
  }

  @Test(arguments: ["$$31399013L1", "$$527366L1", "$$1328L1", "$$3281301L1", "14D20201301", "$$3", "$$8X0928L1"])
  func `an impossible value is reported at its flag and is not typed`(secondary: String) throws {
    let text = checked("+A99912345/" + secondary)
    let label = try #require(Label(text))
    let issue = try #require(label.issues(today: today).first)
    #expect(issue.position == 11)
    #expect(text.dropFirst(11).hasPrefix(issue.ai ?? "?"))
    #expect(label.data(today: today).expiry == nil || secondary.hasPrefix("$$8"))
  }

  @Test(arguments: ["+A99912345/$$52001510X34", "+A123BJC5D6E71H", "+$$52001510X3GE", "*+A123BJC5D6E71H*"])
  func `a wrong check character is reported, and nothing is typed`(text: String) throws {
    let label = try #require(Label(text))
    #expect(label.kind == .hibc && label.isWeak)
    #expect(label.parts.isEmpty && label.data(today: today).isEmpty && !label.elements.isEmpty)
    let issues = label.issues(today: today)
    #expect(issues.map(\.reason) == ["the check character of HIBC is wrong"])
    #expect(Array(text.utf8)[try #require(issues.first).position] == text.utf8.filter { $0 != UInt8(ascii: "*") }.last)
  }

  @Test func `a blank as check character may have been trimmed`() throws {
    // The sum of +A123XX1 is 124, which is 38 modulo 43: a blank.
    let text = "+A123XX1"
    #expect(checked(text) == text + " ")
    #expect(try #require(Label(text)).parts.first == text + " ")
    #expect(try #require(Label(text + " ")).parts == #require(Label(text)).parts)
  }

  @Test func `data of the provider applications standard are named`() throws {
    let label = try #require(Label("+/EO5232013"))
    #expect(label.issues(today: today).count == 1)
    #expect(label.parts.isEmpty)
  }

  @Test(arguments: [
    "+", "++", "+A", "+491601234567", "+A12", "+a123bjc5d6e71g", "+1 234", "*", "**", "*+*", "+$", "+/",
  ])
  func `other texts with a plus sign are no labels`(text: String) {
    #expect(Label(text) == nil)
  }
}
