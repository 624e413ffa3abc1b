import Barcodes

extension ScanValue {
  /// The value as text for people.
  var words: String {
    switch self {
    case .text(let text): text
    case .number(let number): number.description
    case .flag(let flag): flag ? "yes" : "no"
    case .date(let date): date.description
    case .dateTime(let dateTime): dateTime.description
    case .quantity(let number, let unit): "\(number) \(unit)"
    case .money(let number, let currency): ([number.description] + (currency.map { [$0] } ?? [])).joined(separator: " ")
    case .list(let values): values.map(\.words).joined(separator: ", ")
    case .fields(let fields): fields.map { "\($0.name) \($0.value.words)" }.joined(separator: ", ")
    }
  }
}
