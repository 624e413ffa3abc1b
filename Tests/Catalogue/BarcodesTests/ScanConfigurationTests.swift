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

  @Test func `digits cannot stand for FNC1`() async {
    for text in ["", "|", "<GS>", "0x1D", "０１"] { #expect(ScanConfiguration.isSeparator(text)) }
    for text in ["0", "01", "8005"] { #expect(!ScanConfiguration.isSeparator(text)) }
    await #expect(processExitsWith: .failure) {
      _ = ScanConfiguration(separators: ["|", "01"])
    }
    await #expect(processExitsWith: .failure) {
      var configuration = ScanConfiguration()
      configuration.separators = ["01"]
    }
  }
}
