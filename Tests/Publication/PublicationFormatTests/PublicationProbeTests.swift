import PublicationFormat
import Testing

struct PublicationProbeTests {
  @Test func `a probe has at most 50 codes that must be found and 10 that must not`() throws {
    func probe(_ found: Int, _ missing: Int) -> PublicationProbe {
      PublicationProbe(
        found: (0..<found).map { "f\($0)" }, missing: (0..<missing).map { "m\($0)" }, products: 7)
    }
    let full = probe(50, 10)
    #expect(try PublicationProbe(json: full.json) == full)
    #expect(
      throws: PublicationError.tooLarge(
        "the probe has 51 codes that must be found; it may have 50: leave some out")
    ) { try PublicationProbe(json: probe(51, 0).json) }
    #expect(
      throws: PublicationError.tooLarge(
        "the probe has 11 codes that must not be found; it may have 10: leave some out")
    ) { try PublicationProbe(json: probe(0, 11).json) }
  }
}
