import Foundation

extension Decimal: ComparableAttribute {
    public typealias Wrapped = Decimal
    public typealias Kind = NumberKind
}
extension Date: ComparableAttribute { public typealias Wrapped = Date }
extension Data: ComparableAttribute { public typealias Wrapped = Data }
extension UUID: ComparableAttribute { public typealias Wrapped = UUID }
extension URL: ComparableAttribute { public typealias Wrapped = URL }
