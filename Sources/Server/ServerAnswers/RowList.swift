/// One of the two lists of a payload.
public enum RowList: String, Sendable, Equatable {
  case products = "appProductVOList"
  case relations = "appProductRelVOList"
}
