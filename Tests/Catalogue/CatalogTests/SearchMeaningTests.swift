import Testing

@testable import Catalog
import CatalogTestSupport

/// What people mean by a word that the product has in another form, and what tells when a mistake was corrected.
@Suite struct SearchMeaningTests {
  private func catalogue(_ names: [String], brands: [String: String] = [:]) throws -> CatalogSnapshot {
    try TestCatalogue(
      names.map { name in
        var product = Product(name, "")
        product.name = name
        product.brand = brands[name] ?? ""
        return product
      }
    ).snapshot
  }

  /// The names of the products that are found, which are their ids.
  private func found(_ text: String, in snapshot: CatalogSnapshot, _ options: SearchOptions = SearchOptions()) throws
    -> [String]
  { try snapshot.search(text, options).results.map(\.product.id) }

  // MARK: And

  @Test(arguments: ["mac and cheese", "mac & cheese", "mac + cheese", "mac und cheese", "mac et cheese", "mac cheese"])
  func `and between words is one with its sign, in either direction`(_ text: String) throws {
    let names = ["Mac & Cheese", "Mac and Cheese", "Mac+Cheese", "Mac ＆ Cheese", "Mac und Cheese", "Mac Cheese"]
    let snapshot = try catalogue(names + ["Mac", "Cheese and Crackers"])
    #expect(try Set(found(text, in: snapshot)) == Set(names))
    #expect(try !snapshot.search(text).results.contains(where: \.isApproximate))
  }

  @Test func `y and e are and too, after products that have the letter itself`() throws {
    let snapshot = try catalogue([
      "Sal & Pimienta", "Sal y Pimienta", "Vitamin E Capsules", "Vitamin C Capsules", "Pane e Olio", "Pane + Olio",
      "E-Bike 500", "Bike 500",
    ])
    #expect(try found("sal y pimienta", in: snapshot) == ["Sal y Pimienta", "Sal & Pimienta"])
    #expect(try found("sal and pimienta", in: snapshot).count == 2)
    #expect(try found("pane e olio", in: snapshot) == ["Pane e Olio", "Pane + Olio"])
    #expect(try found("vitamin e capsules", in: snapshot) == ["Vitamin E Capsules", "Vitamin C Capsules"])
    // Joined to another word, and at the end, it is a letter.
    #expect(try found("the-e-bike 500", in: snapshot) == [])
    #expect(try found("vitamin e", in: snapshot) == ["Vitamin E Capsules"])
  }

  @Test func `and is a word where nothing stands before it`() throws {
    let snapshot = try catalogue(["And Justice for All", "Justice", "Und", "Mac & Cheese", "Mac Andouille", "Mac"])
    #expect(try found("and justice", in: snapshot) == ["And Justice for All"])
    #expect(try found("und", in: snapshot).first == "Und")
    // While somebody types on, it may be the beginning of a word, or a sign.
    #expect(try Set(found("mac and", in: snapshot).prefix(2)) == ["Mac & Cheese", "Mac Andouille"])
    #expect(try found("mac and ch", in: snapshot) == ["Mac & Cheese"])
    #expect(try found("and and and", in: snapshot).first == "And Justice for All")
    #expect(try found(String(repeating: "and ", count: 5000), in: snapshot).first == "And Justice for All")
  }

  @Test func `a phrase and a whole name stay one across and`() throws {
    let snapshot = try catalogue([
      "Cheese with Mac", "Large Mac and a lot of Cheese", "Mac & Cheese Dinner", "Mac and Cheese",
    ])
    for text in ["mac and cheese", "mac & cheese"] {
      #expect(try Array(found(text, in: snapshot).prefix(2)) == ["Mac and Cheese", "Mac & Cheese Dinner"])
    }
    let same = try catalogue(["Mac & Cheese", "Mac and Cheese", "Mac Cheese"])
    #expect(try found("mac and cheese", in: same) == ["Mac and Cheese", "Mac & Cheese", "Mac Cheese"])
    let matched = try snapshot.search("mac and cheese").results.first?.matched
    #expect(matched == [SearchResult.MatchedField(field: "name", ranges: [0..<3, 4..<7, 8..<14])])
    let candy = try catalogue(["Candy & Mac"]).search("candy and mac").results.first?.matched
    #expect(candy == [SearchResult.MatchedField(field: "name", ranges: [0..<5, 8..<11])])
  }

  @Test func `a brand is found, and is a filter, whatever and it has`() throws {
    let snapshot = try catalogue(
      ["Fudge", "Drill", "Milch"],
      brands: ["Fudge": "Ben & Jerry's", "Drill": "Black and Decker", "Milch": "Müller"])
    #expect(try found("ben and jerry's", in: snapshot) == ["Fudge"])
    #expect(try found("black & decker drill", in: snapshot) == ["Drill"])
    for (brand, names) in [
      ("Ben and Jerry's", ["Fudge"]), ("ben & jerrys", ["Fudge"]), ("Black & Decker", ["Drill"]),
      ("Mueller", ["Milch"]), ("muller", ["Milch"]), ("MÜLLER", ["Milch"]), ("Ben", []),
    ] {
      var options = SearchOptions()
      options.brand = brand
      #expect(try ["fudge", "drill", "milch"].flatMap { try found($0, in: snapshot, options) } == names, "\(brand)")
    }
  }

  // MARK: Umlauts

  @Test(arguments: [
    ("müsli", ["Müsli", "Musli", "Muesli"]), ("muesli", ["Muesli", "Müsli"]), ("MUESLI", ["Muesli", "Müsli"]),
    ("mu\u{308}sli", ["Müsli", "Musli", "Muesli"]), ("mues", ["Muesli", "Müsli"]), ("musli", ["Müsli", "Musli"]),
    ("kaesekuchen", ["Käsekuchen"]), ("kaese", ["Käsekuchen"]), ("kuchen", ["Käsekuchen"]), ("roeste", ["Frühröster"]),
    ("frueh", ["Frühröster"]), ("ruehr", ["Frühröster"]), ("größe", ["Groesse 5", "GRÖSSE 7"]),
    ("groesse 7", ["GRÖSSE 7"]),
    ("strasse", ["Straße"]), ("straße", ["Straße"]), ("oel", ["Öl", "Oel"]), ("michael", ["Michael"]),
    ("soest", ["Soest"]), ("blue", ["Blue", "Blueberry"]), ("blu", ["Blu", "Blue", "Blueberry"]),
  ])
  func `an umlaut is two letters, and other words are not merged`(_ text: String, _ names: [String]) throws {
    let snapshot = try catalogue([
      "Müsli", "Muesli", "Musli", "Käsekuchen", "Groesse 5", "GRÖSSE 7", "Straße", "Öl", "Oel", "Michael", "Michal",
      "Frühröster", "Soest", "Sost", "Blue", "Blu", "Blueberry",
    ])
    #expect(try Set(found(text, in: snapshot)) == Set(names))
    #expect(try !snapshot.search(text).results.contains(where: \.isApproximate))
  }

  @Test func `the spelling that was typed comes first, and all of a word is marked`() throws {
    let snapshot = try catalogue(["Müsli Nuss", "Muesli Nuss"])
    #expect(try found("muesli nuss", in: snapshot) == ["Muesli Nuss", "Müsli Nuss"])
    #expect(try found("müsli nuss", in: snapshot) == ["Müsli Nuss", "Muesli Nuss"])
    let last = try snapshot.search("muesli nuss").results.last
    #expect(last?.matched == [SearchResult.MatchedField(field: "name", ranges: [0..<5, 6..<10])])
  }

  // MARK: Singular and plural

  @Test(arguments: [
    ("cookies", ["Cookies", "Cookie"]), ("cookie", ["Cookie", "Cookies"]), ("berries jam", ["Berry Jam"]),
    ("berry jam", ["Berry Jam"]), ("häuser", ["Haus"]), ("haus", ["Haus"]), ("gâteaux", ["Gâteau"]),
    ("galletas maría", ["Galleta María"]), ("kartoffeln", ["Kartoffel"]), ("choux", ["Chou"]), ("chou", ["Chou"]),
    ("lápices", ["Lápiz"]), ("knives", ["Knife"]), ("travaux", ["Travail"]), ("limones", ["Limón"]),
    ("pasta", ["Pasta"]), ("paste", ["Paste"]),
  ])
  func `the other number of a noun comes after the word itself`(_ text: String, _ names: [String]) throws {
    let snapshot = try catalogue([
      "Cookie", "Cookies", "Berry Jam", "Haus", "Gâteau", "Galleta María", "Limón", "Pasta", "Paste",
      "Kartoffel", "Chou", "Lápiz", "Knife", "Travail",
    ])
    #expect(try found(text, in: snapshot) == names)
    #expect(try !snapshot.search(text).results.contains(where: \.isApproximate))
  }

  @Test func `pages have each result once across other forms`() throws {
    let snapshot = try catalogue(
      (0..<300).flatMap { ["Cookie \($0)", "Cookies \($0)", "Müsli & Keks \($0)", "Muesli y Keks \($0)"] })
    for text in ["cookies", "muesli", "müsli", "keks y muesli", "muesli and keks"] {
      var options = SearchOptions()
      options.limit = .max
      let all = try found(text, in: snapshot, options)
      #expect(all.count == 600, "\(text)")
      options.limit = 83
      var paged: [String] = []
      repeat {
        let page = try snapshot.search(text, options)
        paged += page.results.map(\.product.id)
        options.cursor = page.next
      } while options.cursor != nil
      #expect(paged == all, "\(text)")
    }
    #expect(try found("cookies", in: snapshot).allSatisfy { $0.hasPrefix("Cookies") })
  }

  // MARK: Numbers that are spelled apart

  @Test(arguments: [
    ("dn 50", "Muffe DN50 lang"), ("m8 x 20", "Bolzen M8x20 lang"), ("1 l", "Milch 1L lang"),
    ("500 g", "Mehl 500g lang"), ("m 8 x 20", "Bolzen M8x20 lang"), ("m8 20", "Bolzen M8x20 lang"),
    ("m8x 20", "Bolzen M8x20 lang"), ("m8 x20", "Bolzen M8x20 lang"), ("m 8 20", "Bolzen M8x20 lang"),
    ("10 x 20 x 30 cm", "Kiste 10x20x30cm"), ("10x20 x30cm", "Kiste 10x20x30cm"),
  ])
  func `the whole number comes before what begins alike, among however many`(_ text: String, _ first: String) throws {
    let alike = (0..<700).flatMap { ["DN 50\($0)", "DN50\($0)", "M8 x 20\($0)", "1 Lauch \($0)", "500 Gramm \($0)"] }
    let snapshot = try catalogue(
      alike + ["Muffe DN50 lang", "Bolzen M8x20 lang", "Milch 1L lang", "Mehl 500g lang", "Kiste 10x20x30cm"])
    let names = try found(text, in: snapshot)
    #expect(names.first == first, "\(names.prefix(4))")
  }

  @Test func `in a few products the whole number comes first`() throws {
    let snapshot = try catalogue(["DN 500", "DN500", "Muffe für Rohre, verzinkt, DN50", "DN 50 Muffe"])
    #expect(try Array(found("dn 50", in: snapshot).prefix(2)) == ["DN 50 Muffe", "Muffe für Rohre, verzinkt, DN50"])
    let litres = try catalogue(["1 Lauch", "Vitasoy Soy Milk 1L", "1 Liter Milk"])
    #expect(try found("1 l", in: litres).first == "Vitasoy Soy Milk 1L")
    #expect(try found("milk 1 l", in: litres).first == "Vitasoy Soy Milk 1L")
  }

  @Test(arguments: ["m 8 x 20", "m8 20", "m8 x 20", "m8x20", "m8×20", "schraube m8 20", "m8 20 schraube"])
  func `a size is found however it is divided, before one that begins alike`(_ text: String) throws {
    let snapshot = try catalogue(["M8 x 200 Schraube", "M8x20 Schraube", "M6x20 Schraube"])
    let names = try found(text, in: snapshot)
    #expect(names.first == "M8x20 Schraube" && !names.contains("M6x20 Schraube"), "\(names)")
    #expect(try !snapshot.search(text).results.contains(where: \.isApproximate))
  }

  @Test(arguments: [
    ("10 mm", "1.0 mm"), ("10mm", "1.0mm"), ("10mm", "1.0 mm"), ("10 mm", "1,0 mm"), ("10 mm", "1/0 mm"),
    ("3x1.5", "Kabel 3x15"), ("3x15", "Kabel 3x1.5"), ("3x15", "Kabel 3x1,5"), ("3 x 1.5", "Kabel 3x15"),
    ("1/2 zoll", "12 Zoll"), ("12 zoll", "1/2 Zoll"), ("½ zoll", "12 Zoll"), ("12 zoll", "½ Zoll"),
    ("zoll 1/2", "Zoll 12"), ("15 l", "1.5 l"), ("15l", "1,5l"), ("15l", "1.5l"), ("1.5 l", "15 l"), ("1,5 l", "15 l"),
    ("1.5l", "15l"), ("0.5 l", "05 l"), ("025", "0.25"), ("0,125", "0125"), ("4500g", "4 50 0g"), ("1·5 l", "15 l"),
    ("dn15", "DN 1.5"), ("dn 1.5", "DN15"),
  ])
  func `another number is not found, or as a mistake`(_ text: String, _ name: String) throws {
    let snapshot = try catalogue([name])
    let results = try snapshot.search(text).results
    #expect(results.allSatisfy { $0.isApproximate }, "\(results.map { $0.meant ?? "" })")
    // Where the number itself is there, nothing else is found.
    let both = try catalogue([name, text + " same"])
    #expect(try found(text, in: both) == [text + " same"])
  }

  @Test(arguments: [
    ("10 mm", "1.0 mm", "1.0 mm"), ("3x1.5", "Kabel 3x15", "3x15"), ("3x15", "Kabel 3x1.5", "3x1.5"),
    ("12 zoll", "1/2 Zoll", "1/2 zoll"), ("1/2 zoll", "12 Zoll", "12 zoll"),
  ])
  func `the number that a product has is what was meant`(_ text: String, _ name: String, _ meant: String) throws {
    #expect(try catalogue([name]).search(text).results.map(\.meant) == [meant])
  }

  @Test(arguments: [
    ("1.5 l", "1.5 l"), ("1,5 l", "1.5 l"), ("1.5l", "1,5l"), ("1.5", "Saft 1.5l"), ("3x1,5", "Kabel 3x1.5"),
    ("3 x 1.5 mm", "Kabel 3x1.5mm"), ("½ zoll", "1/2 Zoll"), ("1/2 zoll", "½ Zoll"), ("1000 stück", "1,000 Stück"),
    ("1000 stück", "1.000 Stück"), ("1000 stück", "1 000 Stück"), ("10000", "10.000 Blatt"), ("123456", "Teil 123-456"),
    ("din933", "DIN-933"), ("kfr35gw", "KFR-35GW/N1"), ("kfr35gwn1", "KFR-35GW/N1"), ("6204.2rs", "Lager 6204.2RS"),
    ("m8x1.25x20", "M8x1.25x20"), ("m8x1.25", "M8x1.25x20"), ("a4.80", "Heft A4.80"), ("v2", "Version V.2"),
  ])
  func `the same number in another spelling is found as it is`(_ text: String, _ name: String) throws {
    let results = try catalogue([name]).search(text).results
    #expect(results.map(\.product.id) == [name])
    #expect(results.allSatisfy { !$0.isApproximate })
  }

  // MARK: The last word

  @Test(arguments: [
    ("coca c", ["Coca Cola"]), ("coca co", ["Coca Cola"]), ("coca coca", ["Coca Cola", "Coca Zero"]),
    ("nutella nu", []), ("nutella 400 nut", []), ("nutella f", ["Nutella 400g"]), ("400g nutella 40", []),
    ("zero ze", []), ("zero coc", ["Coca Zero"]), ("coca ola", ["Coca Cola"]), ("cola ola", []),
  ])
  func `the beginning of a word is another word than those before it`(_ text: String, _ names: [String]) throws {
    let snapshot = try catalogue(
      ["Coca Cola", "Coca Zero", "Nutella 400g"], brands: ["Nutella 400g": "Nutella Ferrero"])
    #expect(try Set(found(text, in: snapshot)) == Set(names))
  }

  @Test func `a letter that no other word begins with is left out as a mistake`() throws {
    let results = try catalogue(["Coca Zero", "Cola Light"]).search("zero z").results
    #expect(results.map(\.product.id) == ["Coca Zero"] && results.map(\.meant) == ["zero"])
  }

  @Test func `what marks the last word is another word too`() throws {
    let matched = try catalogue(["Coca Cola"]).search("coca co").results.first?.matched
    #expect(matched == [SearchResult.MatchedField(field: "name", ranges: [0..<4, 5..<7])])
  }

  // MARK: Mistakes

  @Test(arguments: [
    ("nutela", "Nutella"), ("nutlela 400g", "Nutella 400g"), ("NUTELLA w 400", "NUTELLA 400"),
    ("crème bürlée", "crème Brûlée"), ("creme und bulee", "creme und Brûlée"), ("fererro nutella", "Ferrero nutella"),
  ])
  func `a result that rests on a corrected mistake says what was meant`(_ text: String, _ meant: String) throws {
    let snapshot = try catalogue(["Nutella 400g", "Crème Brûlée"], brands: ["Nutella 400g": "Ferrero"])
    let results = try snapshot.search(text).results
    #expect(results.map(\.meant) == [meant])
    #expect(results.first?.isApproximate == true)
  }

  @Test(arguments: ["nutella", "nutella 4", "utell", "Nutella&400g", "400 g nutella", "nutellas"])
  func `other results are not marked`(_ text: String) throws {
    let results = try catalogue(["Nutella 400g", "Nutella"]).search(text).results
    #expect(!results.isEmpty && results.allSatisfy { !$0.isApproximate && $0.meant == nil })
  }
}
