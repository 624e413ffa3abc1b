extension SymbologyIdentifier {
  /// Finds the identifier of a symbology that a scanner names beside the data.
  ///
  /// Known are identifiers themselves (`]C1`), the label types of DataWedge (`LABEL-TYPE-EAN13`), and their names
  /// without the prefix (`ean13`, `EAN-13`, `gs1_databar`), and those of ZXing, ML Kit and others (`RSS_EXPANDED`,
  /// `DataBarExpanded`, `FORMAT_QR_CODE`, `JAN13`); case, hyphens, underscores and blanks do not matter.
  /// Returns `nil` for any other text.
  public init?(named name: some StringProtocol) {
    if let identifier = SymbologyIdentifier(name) {
      self = identifier
      return
    }
    let letters = name.uppercased().filter { $0.isASCII && ($0.isLetter || $0.isNumber) }
    let prefix = Self.prefixes.first(where: letters.hasPrefix) ?? ""
    let key = String(letters.dropFirst(prefix.count))
    guard let identifier = Self.identifiers[key], let found = SymbologyIdentifier(identifier) else { return nil }
    self = found
    if key.hasPrefix("UPCE") { upcENumberSystem = key == "UPCE1" ? 1 : 0 }
  }

  /// What precedes the name of a symbology: in DataWedge's label types, in ML Kit, and in two frameworks of Apple.
  private static let prefixes = ["LABELTYPE", "FORMAT", "BARCODEFORMAT", "VNBARCODESYMBOLOGY", "ORGGS1", "ORGISO"]

  /// The identifiers by name. The names are those of Zebra's DataWedge (label types of its scan results), and others
  /// that scanner software uses for the same symbologies. A name that does not say whether the data are GS1's stands
  /// for data that are not known to be.
  private static let identifiers: [String: String] = [
    "EAN13": "]E0", "UPCA": "]E0", "UPCE": "]E0", "UPCE0": "]E0", "UPCE1": "]E0", "BOOKLAND": "]E0", "ISBN": "]E0",
    "EAN8": "]E4", "EAN13ADDON": "]E3", "EANUPCADDON": "]E3", "UPCAADDON": "]E3", "JAN13": "]E0", "JAN8": "]E4",
    "JAN": "]E0", "ISSN": "]E0", "ISMN": "]E0", "EAN2": "]E1", "EAN5": "]E2", "UPCEANEXTENSION": "]E1",
    "GS1128": "]C1", "EAN128": "]C1", "UCCEAN128": "]C1", "CODE128": "]C0", "ISBT128": "]C4",
    "GS1DATABAR": "]e0", "GS1DATABAREXP": "]e0", "GS1DATABAREXPANDED": "]e0", "GS1DATABARLIM": "]e0",
    "GS1DATABARLIMITED": "]e0", "RSS14": "]e0", "RSS": "]e0", "RSSLIMITED": "]e0", "RSSEXPANDED": "]e0",
    "RSS14STACKED": "]e0", "RSSEXPANDEDSTACKED": "]e0", "DATABAR": "]e0", "DATABAROMNI": "]e0",
    "DATABARSTACKED": "]e0", "DATABARSTK": "]e0", "DATABARSTACKEDOMNI": "]e0", "DATABARSTKOMNI": "]e0",
    "DATABARLIMITED": "]e0", "DATABARLTD": "]e0", "DATABAREXPANDED": "]e0", "DATABAREXP": "]e0",
    "DATABAREXPANDEDSTACKED": "]e0", "DATABAREXPSTK": "]e0", "COMPOSITEAB": "]e0", "COMPOSITEC": "]e0",
    "GS1DATAMATRIX": "]d2", "DATAMATRIX": "]d1", "GS1QRCODE": "]Q3", "QRCODE": "]Q1", "MICROQR": "]Q1",
    "GS1QR": "]Q3", "QR": "]Q1", "QRCODEMODEL1": "]Q0", "QRCODEMODEL2": "]Q1", "RMQRCODE": "]Q1", "RMQR": "]Q1",
    "GS1DOTCODE": "]J1", "DOTCODE": "]J0", "CODE39": "]A0", "CODE39STD": "]A0", "CODE39EXT": "]A4",
    "CODE39FULLASCII": "]A4", "CODE39MOD43": "]A1", "CODE39CHECKSUM": "]A1", "PZN": "]A0", "CODE93I": "]G0",
    "TRIOPTIC39": "]A0", "CODE32": "]A0", "CODE93": "]G0",
    "CODABAR": "]F0", "NW7": "]F0", "CODE11": "]H0", "MSI": "]M0", "I2OF5": "]I0", "INTERLEAVED2OF5": "]I0",
    "ITF": "]I0", "ITF14": "]I1", "I2OF5CHECKSUM": "]I1", "D2OF5": "]S0", "PDF417": "]L0", "COMPACTPDF417": "]L0",
    "MICROPDF": "]L0", "MICROPDF417": "]L0", "AZTEC": "]z0", "AZTECCODE": "]z0", "AZTECRUNE": "]zC",
    "MAXICODE": "]U0", "HANXIN": "]h0", "HANXINCODE": "]h0",
  ]
}
