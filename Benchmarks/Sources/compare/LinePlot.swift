import BenchmarkSupport

/// Lines over two logarithmic axes, with a mark at each point and a line from least to most.
struct LinePlot {
  struct Line {
    let name: String
    let colour: String
    let points: [(x: Double, y: Spread)]
  }

  let title: String
  let xAxis: String
  let yAxis: String
  let unit: Measure.Unit
  let lines: [Line]

  var svg: String {
    let legendTop = 60.0
    var svg = SVG(width: 860, height: 480)
    let (left, right, top, bottom) = (90.0, 620.0, 50.0, 420.0)
    let points = lines.flatMap(\.points)
    let x = LogScale(points.map(\.x), from: left, to: right)
    let y = LogScale(points.flatMap { [$0.y.least, $0.y.most] }.filter { $0 > 0 }, from: bottom, to: top)
    svg.text(left, 28, title, size: 16, isBold: true)
    for tick in y.minorTicks { svg.line(left, y.place(tick), right, y.place(tick), width: 0.5) }
    for tick in y.ticks {
      svg.line(left, y.place(tick), right, y.place(tick))
      svg.text(left - 8, y.place(tick) + 4, Figures.text(tick, unit), .end)
    }
    for tick in x.ticks {
      svg.line(x.place(tick), top, x.place(tick), bottom)
      svg.text(x.place(tick), bottom + 20, Self.count(tick), .middle)
    }
    svg.line(left, bottom, right, bottom, SVG.ink)
    svg.line(left, top, left, bottom, SVG.ink)
    svg.text((left + right) / 2, bottom + 44, xAxis, .middle)
    svg.text(left, top - 8, yAxis, .start, size: 11)
    for (number, line) in lines.enumerated() {
      let colour = line.colour
      // Beside one another, so that no bar hides another one.
      let shift = (Double(number) - Double(lines.count - 1) / 2) * 4
      svg.polyline(line.points.map { (x.place($0.x) + shift, y.place($0.y.median)) }, colour)
      for point in line.points {
        let place = x.place(point.x) + shift
        svg.line(place, y.place(point.y.least), place, y.place(point.y.most), colour, width: 1.5)
        svg.circle(place, y.place(point.y.median), 3.5, colour)
      }
      let row = legendTop + Double(number) * 22
      svg.line(right + 24, row, right + 48, row, colour, width: 3)
      svg.text(right + 56, row + 4, line.name)
    }
    return svg.text
  }

  private static func count(_ value: Double) -> String {
    switch value {
    case 1e6...: "\(FigureText.number(value / 1e6)) M"
    case 1e3...: "\(FigureText.number(value / 1e3)) k"
    default: FigureText.number(value)
    }
  }
}
