/// The type of an element's value: how its components become a ``ScanValue``.
enum ElementType: Sendable, Equatable {
  /// A text as it stands.
  case text
  /// A text with percent-encoding, in which `+` is a blank.
  case encoded
  /// The address of a web page.
  case url
  /// An integer.
  case number
  /// 0 or 1.
  case flag
  /// A date: six digits, or eight with the century.
  case date
  /// One date, or two that are the ends of a period.
  case dates
  /// A date, and a time of day, whose minutes and seconds may be missing. Without a time of day it is a date.
  case dateTime
  /// A quantity whose number of decimals is the last digit of the identifier.
  case measure(String)
  /// An amount of money, with decimals like a measure if the identifier is one of a range.
  case money
  /// The number of a currency, and an amount of money.
  case currencyMoney
  /// A percentage, with decimals like a measure.
  case percent
  /// A temperature in hundredths of a degree, with `-` after it if it is below zero.
  case temperature(String)
  /// The number of a country.
  case country
  /// The numbers of up to five countries.
  case countries
  /// The number of a country, and a postal code in it.
  case countryAndPostalCode
  /// The number of a country, 999 if there are several, and a text.
  case countryAndText
  /// The scheme of a certificate, and its reference.
  case certificate
  /// A latitude and a longitude.
  case position
  /// The GTIN of an item, the number of a piece of it, and the number of pieces.
  case piece
  /// The dimensions of a roll.
  case roll
  /// Agreed between partners, so named by its identifier.
  case `internal`
}
