import BenchmarkSupport

/// Groups of horizontal bars over a logarithmic axis of nanoseconds, each with a line from least to most.
struct BarPlot {
  let title: String
  let axis: String
  let groups: [(name: String, bars: [Spread?])]
  let legend: [String]

  var svg: String {
    let barHeight = 9.0
    let groupHeight = barHeight * Double(legend.count) + 12
    let (left, right, top) = (210.0, 800.0, 74.0)
    let bottom = top + groupHeight * Double(groups.count)
    var svg = SVG(width: 900, height: bottom + 60)
    let values = groups.flatMap { $0.bars.compactMap { $0 } }
    let x = LogScale(values.flatMap { [$0.least, $0.most] }, from: left, to: right)
    svg.text(20, 28, title, size: 16, isBold: true)
    for (number, text) in legend.enumerated() {
      let place = left + Double(number) * 170
      svg.rectangle(place, 44, 12, 12, SVG.colours[number])
      svg.text(place + 18, 54, text)
    }
    for tick in x.minorTicks { svg.line(x.place(tick), top, x.place(tick), bottom, width: 0.5) }
    for tick in x.ticks {
      svg.line(x.place(tick), top, x.place(tick), bottom)
      svg.text(x.place(tick), bottom + 18, Figures.text(tick, .nanoseconds), .middle)
    }
    for (number, group) in groups.enumerated() {
      let start = top + groupHeight * Double(number) + 6
      svg.text(left - 10, start + groupHeight / 2 - 2, group.name, .end, isBold: group.name == Figures.ours)
      for (place, bar) in group.bars.enumerated() {
        guard let bar else { continue }
        let y = start + Double(place) * barHeight
        svg.rectangle(left, y, max(1, x.place(bar.median) - left), barHeight - 1.5, SVG.colours[place])
        svg.line(
          x.place(bar.least), y + barHeight / 2 - 0.7, x.place(bar.most), y + barHeight / 2 - 0.7, SVG.ink, width: 1.5)
        svg.text(
          x.place(max(bar.most, bar.median)) + 5, y + barHeight - 1.5, Figures.text(bar.median, .nanoseconds), size: 9)
      }
    }
    svg.line(left, top, left, bottom, SVG.ink)
    svg.text((left + right) / 2, bottom + 42, axis, .middle)
    return svg.text
  }
}
