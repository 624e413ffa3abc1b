extension Range<Int> {
  /// Returns the first index of the range that belongs to the second of two parts: a binary search.
  ///
  ///     let first = (0..<rows.count).partitioningIndex { rows[$0] >= row }
  ///
  /// - Parameter isInSecondPart: Whether an index belongs to the second part. Every index after one that does, does.
  /// - Returns: The end of the range if no index belongs to the second part.
  /// - Complexity: Asks about the logarithm of the number of indices.
  @inlinable @inline(__always)
  public func partitioningIndex<Failure: Error>(
    where isInSecondPart: (Int) throws(Failure) -> Bool
  ) throws(Failure) -> Int {
    var (low, high) = (lowerBound, upperBound)
    while low < high {
      let middle = low &+ (high &- low) / 2
      if try isInSecondPart(middle) { high = middle } else { low = middle &+ 1 }
    }
    return low
  }
}
