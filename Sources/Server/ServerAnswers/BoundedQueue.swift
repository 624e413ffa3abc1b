import Dispatch
import Synchronization

/// A bounded blocking queue between two threads: the faster one waits.
final class BoundedQueue<Element: Sendable>: Sendable {
  private struct State {
    var elements: [Element] = []
    var isClosed = false
  }

  // Guards the elements while one is added or removed.
  private let state = Mutex(State())
  /// Counts the free slots.
  private let room = DispatchSemaphore(value: 0)
  /// Counts the elements.
  private let filled = DispatchSemaphore(value: 0)

  /// Creates an empty queue with `capacity` slots.
  init(capacity: Int) {
    // A semaphore must not be destroyed with a value below its initial one, so start at zero.
    for _ in 0..<capacity { room.signal() }
  }

  /// Adds an element, waiting for room. Returns `false`, and drops the element, if the queue is closed.
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

  /// Removes the oldest element, waiting for one; `nil` if the queue is closed.
  func pop() -> Element? {
    filled.wait()
    let element = state.withLock { state -> Element? in
      state.isClosed ? nil : state.elements.removeFirst()
    }
    if element != nil { room.signal() } else { filled.signal() }
    return element
  }

  /// Drops all elements, and ends all waits.
  func close() {
    state.withLock { state in
      state.isClosed = true
      state.elements = []
    }
    room.signal()
    filled.signal()
  }
}
