import Dispatch
import Synchronization

/// A queue between two threads that holds at most a few elements: whoever is faster waits.
final class BoundedQueue<Element: Sendable>: Sendable {
  private struct State {
    var elements: [Element] = []
    var isClosed = false
  }

  // Guards the elements, for as long as one is put in or taken out.
  private let state = Mutex(State())
  /// Counts the free places.
  private let room = DispatchSemaphore(value: 0)
  /// Counts the elements.
  private let filled = DispatchSemaphore(value: 0)

  /// An empty queue with `capacity` places.
  init(capacity: Int) {
    // A semaphore may not go with less than it was made with: it is made with nothing.
    for _ in 0..<capacity { room.signal() }
  }

  /// Puts an element in, and waits for room; false if the queue was closed, and the element is gone.
  func push(_ element: Element) -> Bool {
    room.wait()
    let isOpen = state.withLock { state in
      if state.isClosed { return false }
      state.elements.append(element)
      return true
    }
    if isOpen { filled.signal() } else { room.signal() }
    return isOpen
  }

  /// Takes the oldest element out, and waits for one; `nil` if the queue was closed.
  func pop() -> Element? {
    filled.wait()
    let element = state.withLock { state -> Element? in
      state.isClosed ? nil : state.elements.removeFirst()
    }
    if element != nil { room.signal() } else { filled.signal() }
    return element
  }

  /// Drops what is in the queue; nobody waits any more.
  func close() {
    state.withLock { state in
      state.isClosed = true
      state.elements = []
    }
    room.signal()
    filled.signal()
  }
}
