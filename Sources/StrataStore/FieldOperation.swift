import Foundation

/// A change that is applied to the value that an attribute has when the change arrives, so that no concurrent one is lost.
///
///     try lima.increment(\.population, by: 100)
///     try context.save()  // adds 100 to what the store has by then
///
/// Apps create operations with `increment`, `add`, `addUnique` and `remove` of `ManagedObject`; under every merge policy, they
/// are not in conflict with changes of others. A store or a dialect meets the cases of this type in a change set or in a write
/// to a back end.
///
/// Nil counts as zero or as an empty array. Increments are for stored numbers, the others for arrays of strings, truth values
/// and numbers. The elements of an operation are compared as values of the attribute's type, so 1 and 1.0 are equal in an array
/// of doubles. If the attribute cannot hold the result, the save throws.
public enum FieldOperation: Sendable, Hashable {
    /// Adds to a number; by a negative amount subtracts.
    case increment(Value)
    /// Appends elements to an array.
    case append([Value])
    /// Appends those elements that an array lacks.
    case appendUnique([Value])
    /// Removes every equal element from an array.
    case remove([Value])
}

extension FieldOperation {
    /// Applies the operation. Nil counts as zero or as an empty array.
    /// - Returns: The new value; nil if the attribute is of another type, or cannot hold the result.
    package func applied(to value: Value, of type: AttributeType) -> Value? {
        if case .increment(let amount) = self { return Self.sum(value, amount, type) }
        guard case .array(let element) = type else { return nil }
        let present: [Value]
        switch value {
        case .null: present = []
        case .list(let values): present = values.map { Self.normal($0, element) }
        default: return nil
        }
        let result: [Value]
        switch self {
        case .increment: return nil
        case .append(let elements): result = present + elements.map { Self.normal($0, element) }
        case .appendUnique(let elements):
            var known = Set(present)
            result = present + elements.map { Self.normal($0, element) }.filter { known.insert($0).inserted }
        case .remove(let elements):
            let gone = Set(elements.map { Self.normal($0, element) })
            result = present.filter { !gone.contains($0) }
        }
        return element.firstMisfit(in: result) == nil ? .list(result) : nil
    }

    /// An element in the one form that equal elements share: a number may be kept without its fraction.
    private static func normal(_ value: Value, _ element: AttributeType) -> Value {
        switch element {
        case .double: Double(value).map(Value.double) ?? value
        case .float: Float(value).map(\.attributeValue) ?? value
        case .integer16, .integer32, .integer64, .integer: Int64(value).map(Value.integer) ?? value
        default: value
        }
    }

    /// The operation with its elements in the form that equal ones share in attributes of a type.
    package func normalized(for type: AttributeType) -> FieldOperation {
        guard case .array(let element) = type else { return self }
        switch self {
        case .increment: return self
        case .append(let elements): return .append(elements.map { Self.normal($0, element) })
        case .appendUnique(let elements): return .appendUnique(elements.map { Self.normal($0, element) })
        case .remove(let elements): return .remove(elements.map { Self.normal($0, element) })
        }
    }

    private static func sum(_ value: Value, _ amount: Value, _ type: AttributeType) -> Value? {
        let value = value.isNull ? .integer(0) : value
        switch type {
        case .integer16, .integer32, .integer64, .integer:
            guard case .integer(let number) = value, case .integer(let amount) = amount else { return nil }
            let (sum, overflow) = number.addingReportingOverflow(amount)
            if overflow { return nil }
            switch type {
            case .integer16: return Int16(exactly: sum) == nil ? nil : .integer(sum)
            case .integer32: return Int32(exactly: sum) == nil ? nil : .integer(sum)
            default: return .integer(sum)
            }
        case .double:
            guard let number = Double(value), let amount = Double(amount) else { return nil }
            let sum = number + amount
            return sum.isFinite ? .double(sum) : nil
        case .float:
            guard let number = Float(value), let amount = Double(amount) else { return nil }
            let sum = Float(Double(number) + amount)
            return sum.isFinite ? sum.attributeValue : nil
        case .decimal:
            guard let number = Decimal(value), let amount = Decimal(amount) else { return nil }
            let sum = number + amount
            return sum.isNaN ? nil : .decimal(sum)
        default: return nil
        }
    }

    /// Whether the operation can be applied to attributes of a type, whatever their value.
    package func fits(_ type: AttributeType) -> Bool {
        switch (self, type) {
        case (.increment(.integer), .integer16), (.increment(.integer), .integer32), (.increment(.integer), .integer64),
            (.increment(.integer), .integer):
            true
        case (.increment(let amount), .double), (.increment(let amount), .float):
            Double(amount)?.isFinite == true
        case (.increment(let amount), .decimal): Decimal(amount)?.isNaN == false
        case (.append(let elements), .array(let element)), (.appendUnique(let elements), .array(let element)),
            (.remove(let elements), .array(let element)):
            element.firstMisfit(in: elements) == nil
        default: false
        }
    }
}

/// The operations on one attribute in their order, as few as possible: increments are one increment, and elements that are
/// removed again are not added before.
package struct FieldOperations: Sendable {
    /// The operations, in their order.
    package private(set) var steps: [FieldOperation] = []
    /// How many of the steps are being saved and must stay as they are.
    private var sealedCount = 0
    /// Where a context began to collect them; nil if none did.
    private var beginning: Int?

    /// No operations.
    package init() {}

    /// No operations yet, in a context that begins to collect them. What it has collected before is saved by then, or given up.
    package static var begun: FieldOperations {
        var result = FieldOperations()
        result.beginning = beginnings.withLock { count in
            count += 1
            return count
        }
        return result
    }

    private static let beginnings = Guarded(0)

    /// Whether a context that has these operations still has earlier ones among them.
    package func continues(_ earlier: FieldOperations) -> Bool {
        earlier.beginning == nil || beginning == earlier.beginning
    }

    /// Operations in their order.
    package init(_ steps: [FieldOperation]) {
        for step in steps { append(step) }
    }

    /// Whether there is no operation left.
    package var isEmpty: Bool { steps.isEmpty }

    /// Applies all of them to a value.
    /// - Returns: The new value; nil if the attribute cannot hold it.
    package func applied(to value: Value, of type: AttributeType) -> Value? {
        var result = value
        for step in steps {
            guard let next = step.applied(to: result, of: type) else { return nil }
            result = next
        }
        return result
    }

    /// Whether all of them can be applied to attributes of a type.
    package func fits(_ type: AttributeType) -> Bool { steps.allSatisfy { $0.fits(type) } }

    /// Adds later operations.
    package mutating func append(_ later: FieldOperations) {
        for step in later.steps { append(step) }
    }

    /// Adds the last operation.
    package mutating func append(_ operation: FieldOperation) {
        switch operation {
        case .increment(let amount):
            if amount.isZero { return }
            guard steps.count > sealedCount, case .increment(let earlier)? = steps.last,
                let sum = earlier.adding(amount)
            else { return steps.append(operation) }
            steps.removeLast()
            if !sum.isZero { steps.append(.increment(sum)) }
        case .append(let elements):
            if elements.isEmpty { return }
            guard steps.count > sealedCount, case .append(let earlier)? = steps.last else {
                return steps.append(operation)
            }
            steps[steps.count - 1] = .append(earlier + elements)
        case .appendUnique(let elements):
            if elements.isEmpty { return }
            guard steps.count > sealedCount, case .appendUnique(let earlier)? = steps.last else {
                return steps.append(.appendUnique(Self.union([], elements)))
            }
            steps[steps.count - 1] = .appendUnique(Self.union(earlier, elements))
        case .remove(let elements):
            if elements.isEmpty { return }
            remove(elements)
        }
    }

    /// Elements that are removed need not be added before, so they can be removed first: the order of the others is the same.
    private mutating func remove(_ elements: [Value]) {
        let gone = Set(elements)
        var removed: [Value] = []
        var later: [FieldOperation] = []
        for step in steps.dropFirst(sealedCount) {
            switch step {
            case .increment: later.append(step)
            case .remove(let earlier): removed = Self.union(removed, earlier)
            case .append(let added):
                let rest = added.filter { !gone.contains($0) }
                if !rest.isEmpty { later.append(.append(rest)) }
            case .appendUnique(let added):
                let rest = added.filter { !gone.contains($0) }
                if !rest.isEmpty { later.append(.appendUnique(rest)) }
            }
        }
        steps.removeSubrange(sealedCount...)
        steps.append(.remove(Self.union(removed, elements)))
        steps += later
    }

    private static func union(_ elements: [Value], _ others: [Value]) -> [Value] {
        var seen = Set(elements)
        return elements + others.filter { seen.insert($0).inserted }
    }

    /// The same with its steps as they are: later ones come after them.
    package var sealed: FieldOperations {
        var result = self
        result.sealedCount = steps.count
        return result
    }

    /// The steps after the sealed ones, which have been carried out.
    package var unsealed: FieldOperations {
        let later = steps.dropFirst(sealedCount)
        if later.isEmpty { return FieldOperations() }
        var result = Self.begun
        for step in later { result.append(step) }
        return result
    }

    /// The same with no sealed steps.
    package var opened: FieldOperations {
        var result = FieldOperations(steps)
        result.beginning = beginning
        return result
    }
}

extension FieldOperations: Hashable {
    /// Whether the operations are the same, wherever they were collected.
    package static func == (a: FieldOperations, b: FieldOperations) -> Bool {
        a.steps == b.steps && a.sealedCount == b.sealedCount
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(steps)
        hasher.combine(sealedCount)
    }
}

extension Value {
    fileprivate var isZero: Bool {
        switch self {
        case .integer(let number): number == 0
        case .double(let number): number == 0
        case .decimal(let number): number == 0
        default: false
        }
    }

    /// The sum of two numbers; nil if it overflows.
    fileprivate func adding(_ other: Value) -> Value? {
        switch (self, other) {
        case (.integer(let a), .integer(let b)):
            let (sum, overflow) = a.addingReportingOverflow(b)
            return overflow ? nil : .integer(sum)
        case (.decimal, _), (_, .decimal):
            guard let a = Decimal(self), let b = Decimal(other), !(a + b).isNaN else { return nil }
            return .decimal(a + b)
        default:
            guard let a = Double(self), let b = Double(other), (a + b).isFinite else { return nil }
            return .double(a + b)
        }
    }
}
