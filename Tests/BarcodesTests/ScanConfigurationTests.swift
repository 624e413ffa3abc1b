import Testing

@testable import Barcodes

@Suite struct ScanConfigurationTests {
  @Test func `by default only GS stands for FNC1`() {
    #expect(ScanConfiguration().separators.isEmpty)
    #expect(ScanConfiguration().maximumLength == ScanConfiguration.defaultMaximumLength)
    #expect(ScanConfiguration().foldsFullWidth)
  }

  @Test func `a greatest length of nothing leaves nothing to match`() {
    #expect(!Scan("5296849399411", configuration: ScanConfiguration(maximumLength: 0)).canMatch)
  }

  @Test func `a negative greatest length is the caller's mistake`() async {
    await #expect(processExitsWith: .failure) {
      _ = ScanConfiguration(maximumLength: -1)
    }
  }
}
