/// A drawing in the making: a few shapes, in colours that are readable on light and on dark ground.
struct SVG {
  /// Text, axes and grid: a middle grey shows on both.
  static let ink = "#7a828c"
  static let grid = "#7a828c40"
  /// Distinguishable also for most who see colours differently; ours comes first.
  static let colours = [
    "#e4572e", "#5b8def", "#2ca58d", "#b07aa1", "#d4a017", "#8c6d5a", "#17a2c4", "#9aa53b", "#d65f8e", "#6c757d",
    "#7f7fff", "#3c9d4e", "#c2703d",
  ]

  let width: Double
  let height: Double
  private var shapes: [String] = []

  init(width: Double, height: Double) {
    self.width = width
    self.height = height
  }

  mutating func line(
    _ x1: Double, _ y1: Double, _ x2: Double, _ y2: Double, _ colour: String = SVG.grid, width: Double = 1
  ) {
    shapes.append(
      "<line x1=\"\(Self.short(x1))\" y1=\"\(Self.short(y1))\" x2=\"\(Self.short(x2))\" y2=\"\(Self.short(y2))\" "
        + "stroke=\"\(colour)\" stroke-width=\"\(Self.short(width))\"/>")
  }

  mutating func polyline(_ points: [(x: Double, y: Double)], _ colour: String) {
    let list = points.map { "\(Self.short($0.x)),\(Self.short($0.y))" }.joined(separator: " ")
    shapes.append("<polyline points=\"\(list)\" fill=\"none\" stroke=\"\(colour)\" stroke-width=\"2\"/>")
  }

  mutating func circle(_ x: Double, _ y: Double, _ radius: Double, _ colour: String) {
    shapes.append(
      "<circle cx=\"\(Self.short(x))\" cy=\"\(Self.short(y))\" r=\"\(Self.short(radius))\" fill=\"\(colour)\"/>")
  }

  mutating func rectangle(_ x: Double, _ y: Double, _ width: Double, _ height: Double, _ colour: String) {
    shapes.append(
      "<rect x=\"\(Self.short(x))\" y=\"\(Self.short(y))\" width=\"\(Self.short(width))\" "
        + "height=\"\(Self.short(height))\" fill=\"\(colour)\"/>")
  }

  enum Anchor: String { case start, middle, end }

  mutating func text(
    _ x: Double, _ y: Double, _ text: String, _ anchor: Anchor = .start, size: Double = 12, isBold: Bool = false
  ) {
    shapes.append(
      "<text x=\"\(Self.short(x))\" y=\"\(Self.short(y))\" text-anchor=\"\(anchor.rawValue)\" "
        + "font-size=\"\(Self.short(size))\"\(isBold ? " font-weight=\"bold\"" : "")>\(Self.escaped(text))</text>")
  }

  var text: String {
    """
    <svg xmlns="http://www.w3.org/2000/svg" width="\(Self.short(width))" height="\(Self.short(height))" \
    viewBox="0 0 \(Self.short(width)) \(Self.short(height))" font-family="sans-serif" fill="\(Self.ink)">
    \(shapes.joined(separator: "\n"))
    </svg>
    """
  }

  /// One digit behind the point is a tenth of a pixel.
  private static func short(_ number: Double) -> String {
    let tenths = Int((number * 10).rounded())
    return tenths % 10 == 0 ? "\(tenths / 10)" : "\(tenths < 0 ? "-" : "")\(abs(tenths) / 10).\(abs(tenths) % 10)"
  }

  private static func escaped(_ text: String) -> String {
    var escaped = ""
    for character in text {
      switch character {
      case "&": escaped += "&amp;"
      case "<": escaped += "&lt;"
      case ">": escaped += "&gt;"
      default: escaped.append(character)
      }
    }
    return escaped
  }
}
