/// A declared index of a collection.
public struct IndexDescription: Sendable, Equatable {
  /// The paths of the indexed fields, the most important one first: one, or several for an ordered index.
  public let paths: [FieldPath]
  /// Whether the index finds documents by ranges of values and in their order, instead of by equal values.
  public let isOrdered: Bool
  /// Whether the prefix keys of texts are indexed as well. An ordered index needs none.
  public let hasPrefixes: Bool

  /// The path of the first indexed field.
  public var path: FieldPath { paths[0] }

  /// Creates the description of an index on the field at `path`, which finds documents by equal values.
  public init(_ path: FieldPath, hasPrefixes: Bool = false) {
    paths = [path]
    isOrdered = false
    self.hasPrefixes = hasPrefixes
  }

  /// Creates the description of an ordered index.
  ///
  /// - Parameter paths: The paths of the fields, the most important one first; at least one.
  public init(ordered paths: [FieldPath]) {
    precondition(!paths.isEmpty, "an index has at least one field")
    self.paths = paths
    isOrdered = true
    hasPrefixes = false
  }

  /// The paths with commas between them.
  public var fields: String { paths.map(\.description).joined(separator: ", ") }
}
