import Foundation
import StrataStore

// What generated accessors of array attributes call.

extension ManagedObject {
    /// Reads a required array; empty if there is none, or if what the store keeps is not an array of the type.
    public final func _array<T: AttributeValue>(_ slot: Int) -> [T] { _optionalArray(slot) ?? [] }

    /// Reads an optional array; nil if what the store keeps is not an array of the type.
    public final func _optionalArray<T: AttributeValue>(_ slot: Int) -> [T]? {
        if !flags.isDisjoint(with: .slowAccess) { willAccess(slot) }
        // Text that is not JSON is not an array either.
        let content: Value = withExtendedLifetime(self) {
            row.isPresent(slot) ? JSONText.value(of: row.bytes(slot)) ?? .boolean(false) : .null
        }
        if content.isNull { return nil }
        if let elements: [T] = ArrayText.elements(content) { return elements }
        reportUndecodable(slot)
        return nil
    }

    /// Writes an array.
    public final func _setArray<T: AttributeValue>(_ elements: [T], _ slot: Int) {
        _setValue(ArrayText.text(of: elements), slot)
    }

    /// Writes an optional array.
    public final func _setOptionalArray<T: AttributeValue>(_ elements: [T]?, _ slot: Int) {
        _setOptionalValue(elements.map { ArrayText.text(of: $0) }, slot)
    }
}

/// Arrays as the JSON text that stores keep.
enum ArrayText {
    /// The text of an array. Numbers for which JSON has no form are in it as text, so that they read as they were set
    /// until a save refuses them.
    static func text(of elements: [some AttributeValue]) -> String {
        let values = elements.map { element in
            if case .double(let number) = element.attributeValue, !number.isFinite { return Value.string("\(number)") }
            return element.attributeValue
        }
        guard let text = JSONText.text(of: .list(values)) else {
            fatalError("An array attribute has elements that JSON cannot express: \(type(of: elements)).")
        }
        return text
    }

    /// The elements of an array; nil if one of them is of another type.
    static func elements<T: AttributeValue>(_ content: Value) -> [T]? {
        guard case .list(let values) = content else { return nil }
        var elements: [T] = []
        elements.reserveCapacity(values.count)
        for value in values {
            guard let element = T(value) ?? notFinite(value) else { return nil }
            elements.append(element)
        }
        return elements
    }

    private static func notFinite<T: AttributeValue>(_ value: Value) -> T? {
        guard case .string(let text) = value, ["nan", "inf", "-inf"].contains(text) else { return nil }
        return Double(text).flatMap { T(.double($0)) }
    }
}
