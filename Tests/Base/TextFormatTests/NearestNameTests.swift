import Testing
import TextFormat

@Suite struct NearestNameTests {
  private let names = ["weight", "wide", "width", "name", "brandId", "brand"]

  @Test(arguments: [
    ("wieght", "weight"), ("weigth", "weight"), ("Weight", "weight"), ("WEIGHTS", "weight"), ("nam", "name"),
    ("nmae", "name"), ("brnd", "brand"), ("brandid", "brandId"), ("wid", "wide"),
  ])
  func `a mistyped name leads to the one that was meant`(typed: String, meant: String) {
    #expect(NearestName.of(typed, among: names) == meant)
  }

  @Test func `another word leads to none`() {
    for typed in ["", "x", "colour", "nnnn", "weighbridge", String(repeating: "weight", count: 100_000)] {
      #expect(NearestName.of(typed, among: names) == nil, "\(typed.prefix(20))")
    }
    #expect(NearestName.of("weight", among: []) == nil)
  }
}
