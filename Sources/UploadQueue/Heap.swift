/// A binary heap: the least element first.
struct Heap<Element: Comparable> {
  private var elements: [Element] = []

  var isEmpty: Bool { elements.isEmpty }
  var count: Int { elements.count }
  /// The least element; `nil` for none. Complexity: O(1).
  var first: Element? { elements.first }
  /// All of them, in no order.
  var unordered: [Element] { elements }

  /// Complexity: O(log count).
  mutating func insert(_ element: Element) {
    elements.append(element)
    var child = elements.count - 1
    while child > 0 {
      let parent = (child - 1) / 2
      if elements[parent] <= elements[child] { return }
      elements.swapAt(parent, child)
      child = parent
    }
  }

  /// Takes out the least element. Complexity: O(log count).
  @discardableResult
  mutating func removeFirst() -> Element {
    precondition(!elements.isEmpty, "an empty heap has no first element")
    elements.swapAt(0, elements.count - 1)
    let first = elements.removeLast()
    var parent = 0
    while true {
      var least = parent
      for child in [2 * parent + 1, 2 * parent + 2] where child < elements.count && elements[child] < elements[least] {
        least = child
      }
      if least == parent { return first }
      elements.swapAt(parent, least)
      parent = least
    }
  }
}
