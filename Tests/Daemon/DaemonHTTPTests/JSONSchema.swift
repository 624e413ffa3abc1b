@testable import DaemonHTTP

/// As much of JSON Schema as the document uses: an unknown keyword is a fault of its own.
struct JSONSchema {
  /// Where references lead.
  let document: JSONBody

  /// What is wrong with a value; empty if it fits.
  func faults(_ value: JSONBody, _ schema: JSONBody, at place: String = "$") -> [String] {
    guard case .object(let schema) = schema else { return ["\(place): the schema is no object"] }
    if case .text(let reference)? = schema["$ref"] {
      guard let target = document.at(reference) else { return ["\(place): \(reference) leads nowhere"] }
      return faults(value, target, at: place)
    }
    var faults: [String] = []
    for (keyword, rule) in schema {
      switch keyword {
      case "description", "example", "default": break
      case "type": if !types(rule).contains(where: value.isOf) { faults.append("\(place): no \(types(rule))") }
      case "enum":
        if case .array(let values) = rule, !values.contains(value) { faults.append("\(place): none of \(values)") }
      case "oneOf":
        let fitting = rule.elements.filter { self.faults(value, $0, at: place).isEmpty }.count
        if fitting != 1 { faults.append("\(place): \(fitting) of \(rule.elements.count) fit") }
      case "anyOf":
        if !rule.elements.contains(where: { self.faults(value, $0, at: place).isEmpty }) {
          faults.append("\(place): none of \(rule.elements.count) fits")
        }
      case "required":
        for case .text(let name) in rule.elements where value.isObject && value[name] == nil {
          faults.append("\(place).\(name) is missing")
        }
      case "properties":
        for (name, member) in value.entries {
          if let rule = rule[name] { faults += self.faults(member, rule, at: "\(place).\(name)") }
        }
      case "additionalProperties":
        for (name, member) in value.entries where schema["properties"]?[name] == nil {
          if rule == .bool(false) { faults.append("\(place).\(name) is not known") }
          if rule.isObject { faults += self.faults(member, rule, at: "\(place).\(name)") }
        }
      case "items":
        for (index, element) in value.elements.enumerated() {
          faults += self.faults(element, rule, at: "\(place)[\(index)]")
        }
      case "minLength": if case .text(let text) = value, text.count < rule.int { faults.append("\(place): too short") }
      case "maxLength": if case .text(let text) = value, text.count > rule.int { faults.append("\(place): too long") }
      case "pattern":
        guard case .text(let pattern) = rule, let pattern = try? Regex(pattern) else { return ["\(place): no pattern"] }
        if case .text(let text) = value, !text.contains(pattern) { faults.append("\(place): unlike its pattern") }
      case "minItems": if case .array(let all) = value, all.count < rule.int { faults.append("\(place): too few") }
      case "maxItems": if case .array(let all) = value, all.count > rule.int { faults.append("\(place): too many") }
      case "minimum": if case .number(let number?) = value, number < rule.int { faults.append("\(place): too small") }
      case "exclusiveMinimum":
        if case .number(let number?) = value, number <= rule.int { faults.append("\(place): too small") }
      case "maximum": if case .number(let number?) = value, number > rule.int { faults.append("\(place): too large") }
      default: faults.append("\(place): the test knows no keyword \(keyword)")
      }
    }
    return faults
  }

  private func types(_ rule: JSONBody) -> [String] {
    (rule.elements.isEmpty ? [rule] : rule.elements).map { if case .text(let name) = $0 { name } else { "?" } }
  }
}

extension JSONBody {
  var entries: [String: JSONBody] { if case .object(let members) = self { members } else { [:] } }
  var elements: [JSONBody] { if case .array(let elements) = self { elements } else { [] } }
  var isObject: Bool { if case .object = self { true } else { false } }
  var text: String? { if case .text(let text) = self { text } else { nil } }
  var int: Int { if case .number(let number?) = self { Int(number) } else { 0 } }

  subscript(name: String) -> JSONBody? { entries[name] }
  subscript(index: Int) -> JSONBody? { elements.indices.contains(index) ? elements[index] : nil }

  func isOf(type name: String) -> Bool {
    switch (self, name) {
    case (.null, "null"), (.bool, "boolean"), (.number, "number"), (.number(.some), "integer"), (.text, "string"),
      (.array, "array"), (.object, "object"):
      true
    default: false
    }
  }

  /// What a reference inside the document leads to: `#/components/…`.
  func at(_ reference: String) -> JSONBody? {
    guard reference.hasPrefix("#/") else { return nil }
    var value: JSONBody? = self
    for part in reference.dropFirst(2).split(separator: "/") { value = value?[String(part)] }
    return value
  }
}
