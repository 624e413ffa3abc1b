/// One of the lists of a payload.
public enum RowList: String, Sendable, Equatable {
  case products = "appProductVOList"
  case relations = "appProductRelVOList"
  case codes = "appProductCodeVOList"
}
