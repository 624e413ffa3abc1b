/// How figures and texts are written in tables and in JSON.
package enum FigureText {
  /// Three significant digits, or all of a large number.
  package static func number(_ value: Double) -> String {
    let size = abs(value)
    if size >= 100 || size == size.rounded() { return String(Int(value.rounded())) }
    let places = size >= 10 ? 1 : size >= 1 ? 2 : 3
    var scale = 1
    for _ in 0..<places { scale *= 10 }
    let scaled = Int((size * Double(scale)).rounded())
    let fraction = String(scaled % scale)
    let zeros = String(repeating: "0", count: places - fraction.count)
    return (value < 0 ? "-" : "") + "\(scaled / scale).\(zeros)\(fraction)"
  }

  /// A string of JSON.
  package static func quoted(_ text: String) -> String {
    var quoted = "\""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"", "\\": quoted += "\\\(scalar)"
      case "\n": quoted += "\\n"
      default: quoted.unicodeScalars.append(scalar)
      }
    }
    return quoted + "\""
  }
}
