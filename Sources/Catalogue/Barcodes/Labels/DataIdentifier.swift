/// A data identifier of ANSI MH10.8.2, which an ISO/IEC 15434 message in format 06 and the supplementary data of HIBC
/// use: up to three digits and a letter, such as `1P` or `14D`.
struct DataIdentifier {
  /// The digits and the letter.
  let identifier: String
  /// What it identifies, in short.
  let title: String
  /// The name in ``ScanData``.
  let name: String
  /// How its value is written.
  let type: LabelValueType

  /// Returns the number of bytes of the identifier at the start of `data`, known or not; `nil` if there is none.
  static func length(at data: ArraySlice<UInt8>) -> Int? {
    let digitCount = data.prefix(3).prefix(while: ASCII.isDigit).count
    guard let letter = data.dropFirst(digitCount).first, ASCII.isUpper(letter) else { return nil }
    return digitCount + 1
  }

  /// Returns the identifier; `nil` if it is not in the table. Its values then stay raw.
  static func listed(_ identifier: String) -> DataIdentifier? { byIdentifier[identifier] }

  private static let byIdentifier = Dictionary(uniqueKeysWithValues: table.map { ($0.identifier, $0) })

  private static func row(
    _ identifier: String, _ title: String, _ name: String, _ type: LabelValueType = .text
  ) -> DataIdentifier {
    DataIdentifier(identifier: identifier, title: title, name: name, type: type)
  }

  /// The identifiers that goods, electronic components and medicines carry (ANSI MH10.8.2, 2016 with the updates of
  /// 2020). Identifiers whose meaning the parties agree on, such as those of category Z, are not in it.
  static let table = [
    // B: containers.
    row("B", "CONTAINER TYPE", "containerType"),
    row("1B", "RETURNABLE CONTAINER", "returnableContainer"),
    row("2B", "GAS CYLINDER", "gasCylinder"),
    row("7B", "CONTAINER SERIAL NUMBER", "containerSerial"),

    // D: dates.
    row("D", "DATE YYMMDD", "date", .date(.yearMonthDay)),
    row("1D", "DATE DDMMYY", "date", .date(.dayMonthYear)),
    row("2D", "DATE MMDDYY", "date", .date(.monthDayYear)),
    row("4D", "DATE YYJJJ", "date", .date(.yearDay)),
    row("5D", "QUALIFIED DATE YYMMDD", "date", .qualifiedDate(.yearMonthDay)),
    row("6D", "QUALIFIED DATE YYYYMMDD", "date", .qualifiedDate(.fullYearMonthDay)),
    row("7D", "DATE MMYY", "date", .date(.monthYear)),
    row("9D", "DATE CODE", "dateCode"),
    row("10D", "DATE CODE YYWW", "dateCode"),
    row("11D", "DATE CODE YYYYWW", "dateCode"),
    row("12D", "DATE YYYYMMDD", "date", .date(.fullYearMonthDay)),
    row("13D", "OLDEST AND NEWEST DATE CODE", "dateCodes"),
    row("14D", "EXPIRATION DATE YYYYMMDD", "expiry", .date(.fullYearMonthDay)),
    row("15D", "EXPIRATION DATE DDMMYYYY", "expiry", .date(.dayMonthFullYear)),
    row("16D", "PRODUCTION DATE YYYYMMDD", "production", .date(.fullYearMonthDay)),
    row("17D", "PRODUCTION DATE DDMMYYYY", "production", .date(.dayMonthFullYear)),
    row("20D", "INSPECTION DATE DDMMYYYY", "inspection", .date(.dayMonthFullYear)),
    row("22D", "TIME OF RECORD", "recordTime", .dateTime(.fullYearMonthDayTime)),
    row("25D", "BEST BEFORE DATE YYYYMMDD", "bestBefore", .date(.fullYearMonthDay)),
    row("26D", "FIRST FREEZE DATE YYYYMMDD", "firstFreeze", .date(.fullYearMonthDay)),
    row("27D", "HARVEST DATE YYYYMMDD", "harvest", .date(.fullYearMonthDay)),

    // E: environment.
    row("E", "RESTRICTED SUBSTANCES", "restrictedSubstances"),
    row("13E", "MOISTURE SENSITIVITY LEVEL", "moistureLevel"),

    // J: licence plates of transport units.
    row("J", "LICENSE PLATE", "licensePlate"),
    row("1J", "LICENSE PLATE, UNBREAKABLE UNIT", "licensePlate"),
    row("2J", "LICENSE PLATE, SEVERAL PACKAGES", "licensePlate"),
    row("3J", "LICENSE PLATE, UNBREAKABLE UNIT, EDI", "licensePlate"),
    row("4J", "LICENSE PLATE, SEVERAL PACKAGES, EDI", "licensePlate"),
    row("5J", "LICENSE PLATE, MIXED UNIT", "licensePlate"),
    row("6J", "LICENSE PLATE, MASTER UNIT", "licensePlate"),

    // K: transactions.
    row("K", "CUSTOMER ORDER", "order"),
    row("1K", "SUPPLIER ORDER", "supplierOrder"),
    row("2K", "SHIPMENT OF SHIPPER", "shipment"),
    row("3K", "SHIPMENT OF CARRIER", "carrierShipment"),
    row("4K", "CUSTOMER ORDER LINE", "orderLine"),
    row("5K", "RELEASE", "release"),
    row("8K", "CONTRACT", "contract"),
    row("10K", "INVOICE", "invoice"),
    row("11K", "PACKING LIST", "packingList"),
    // Order and line joined by a plus sign. Mouser states the line alone.
    row("14K", "ORDER AND LINE", "orderLine"),
    row("15K", "KANBAN", "kanban"),
    row("16K", "DELIVERY NOTE", "deliveryNote"),

    // L: locations.
    row("L", "STORAGE LOCATION", "storageLocation"),
    row("1L", "LOCATION", "location"),
    row("2L", "SHIP TO", "shipTo"),
    row("3L", "SHIP FROM", "shipFrom"),
    row("4L", "COUNTRY OF ORIGIN", "origin", .country),
    row("5L", "SHIP FOR", "shipFor"),
    row("33L", "URL", "url"),

    // N: industries.
    row("N", "NATO STOCK NUMBER", "natoStockNumber"),
    row("9N", "PHARMACY PRODUCT NUMBER", "ppn", .ppn),

    // P: items.
    row("P", "CUSTOMER PART", "customerPart"),
    row("1P", "SUPPLIER PART", "supplierPart"),
    row("2P", "REVISION", "version"),
    row("3P", "GTIN OF 12 OR 13 DIGITS", "gtin", .gtin),
    row("5P", "FREIGHT CLASSIFICATION", "freightClass"),
    row("6P", "SUPPLIER AND PART", "supplierAndPart"),
    row("7P", "CLEI CODE", "clei"),
    row("8P", "GTIN OF 14 DIGITS", "gtin", .gtin),
    row("9P", "DUNS NUMBER AND PART", "dunsAndPart"),
    row("11P", "CLEI CODE OF 10 CHARACTERS", "clei"),
    row("20P", "CUSTOMER PART, LEVEL 1", "customerPart1"),
    row("21P", "CUSTOMER PART, LEVEL 2", "customerPart2"),
    row("22P", "CUSTOMER PART, LEVEL 3", "customerPart3"),
    row("23P", "CUSTOMER PART, LEVEL 4", "customerPart4"),
    row("24P", "CUSTOMER PART, LEVEL 5", "customerPart5"),
    row("25P", "GLOBALLY UNIQUE PART", "globalPart"),
    row("26P", "PART OF NEXT HIGHER ASSEMBLY", "assemblyPart"),
    row("27P", "COMMODITY CODE", "commodityCode"),
    // DigiKey states its own part number in 30P.
    row("30P", "SUPPLIER PART, LEVEL 1", "supplierPart1"),
    row("31P", "SUPPLIER PART, LEVEL 2", "supplierPart2"),
    row("32P", "SUPPLIER PART, LEVEL 3", "supplierPart3"),
    row("33P", "SUPPLIER PART, LEVEL 4", "supplierPart4"),
    row("34P", "SUPPLIER PART, LEVEL 5", "supplierPart5"),
    row("50P", "MANUFACTURER ITEM", "manufacturerItem"),
    row("51P", "GLOBALLY UNIQUE ITEM", "globalItem"),
    row("52P", "COLOUR", "colour"),
    row("54P", "DEVICE IDENTIFIER", "deviceIdentifier"),

    // Q: measures.
    row("Q", "QUANTITY", "count", .number),
    row("2Q", "ACTUAL WEIGHT", "actualWeight", .number),
    row("3Q", "UNIT OF MEASURE", "unitOfMeasure"),
    row("4Q", "GROSS AMOUNT", "grossAmount", .number),
    row("5Q", "NET AMOUNT", "netAmount", .number),
    row("7Q", "QUANTITY AND UNIT", "quantity", .numberAndUnit),
    row("8Q", "CONTAINER RATED WEIGHT", "ratedWeight", .quantity(unit: "kg")),
    row("9Q", "PIECE WEIGHT", "pieceWeight", .number),
    row("11Q", "TARE WEIGHT", "tareWeight", .number),
    row("12Q", "VALUE AND CURRENCY", "price", .money),
    row("13Q", "PIECE OF PIECES", "pieces", .pieceOfTotal),
    row("26Q", "PACKAGING LEVEL", "packagingLevel"),

    // R: returns.
    row("1R", "RETURN AUTHORIZATION", "returnAuthorization"),

    // S: serial numbers and packages.
    row("S", "SERIAL NUMBER", "serial"),
    row("1S", "ADDITIONAL SERIAL NUMBER", "additionalSerial"),
    row("2S", "ADVANCE SHIPMENT NOTIFICATION", "shipmentNotification"),
    row("3S", "PACKAGE", "package"),
    row("4S", "MASTER PACKAGE, LIKE ITEMS", "package"),
    row("5S", "MASTER PACKAGE, UNLIKE ITEMS", "package"),
    row("8S", "SSCC", "sscc"),
    row("9S", "PACKAGE, GENERIC", "package"),
    row("11S", "FIXED ASSET", "asset"),
    row("12S", "DOCUMENT", "document"),
    row("16S", "SOFTWARE VERSION", "softwareVersion"),
    row("18S", "CAGE CODE AND SERIAL NUMBER", "cageAndSerial"),
    row("20S", "CUSTOMER TRACEABILITY CODE", "customerSerial"),
    row("22S", "MOBILE DEVICE", "mobileSerial"),
    row("23S", "MAC ADDRESS", "macAddress"),
    row("25S", "GLOBALLY UNIQUE SERIAL NUMBER", "globalSerial"),
    row("30S", "ADDITIONAL TRACEABILITY CODE", "additionalTraceability"),

    // T: lots.
    row("T", "CUSTOMER LOT", "customerLot"),
    row("1T", "LOT", "lot"),
    row("25T", "GLOBALLY UNIQUE LOT", "globalLot"),

    // V: parties.
    row("V", "SUPPLIER, CUSTOMER'S CODE", "supplier"),
    row("1V", "MANUFACTURER OR SUPPLIER", "manufacturer"),
    row("3V", "GS1 COMPANY PREFIX", "companyPrefix"),
    row("4V", "CARRIER", "carrier"),
    row("6V", "MANUFACTURER CODE", "manufacturerCode"),
    row("10V", "MANUFACTURER ID", "manufacturerId"),
    row("12V", "MANUFACTURER DUNS NUMBER", "manufacturerDuns"),
    row("13V", "SUPPLIER DUNS NUMBER", "supplierDuns"),
    row("14V", "CUSTOMER DUNS NUMBER", "customerDuns"),
    row("17V", "CAGE CODE", "cage"),
    row("18V", "PARTY", "party"),
  ]

  /// The identifiers whose values are texts to look up in a catalogue, most specific first: a customer's own part
  /// number, the order code of a distributor, the part number of a manufacturer.
  static let parts = [
    "P", "20P", "21P", "22P", "23P", "24P", "30P", "1P", "31P", "32P", "33P", "34P", "3P", "8P", "50P", "51P", "25P",
    "54P",
  ]
}
