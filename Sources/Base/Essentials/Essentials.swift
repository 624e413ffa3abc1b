// The one place that imports Foundation: dates, data, URLs and UUIDs. All of Foundation would bring ICU along, 40 MB
// that nothing here needs.

#if canImport(FoundationEssentials)
@_exported public import FoundationEssentials
#else
@_exported public import Foundation
#endif
