/// The change that a save makes to one field.
///
///     try post.perform(.increment(2), on: "likes")
///     try post.addUnique(["red"], to: "tags")
///     for (field, operation) in post.operations { print(field, operation) }
///     post = try await client.save(post)
///
/// The server computes the new value of all but ``set(_:)`` and ``delete`` from what it has, so that no concurrent change is
/// lost. Operations on one field are combined into one; if that is impossible, as with an increment after an `add`, the method
/// throws code 111 and the object stays as it was. `MaxLeapObject` has a method for each case.
public enum MaxLeapOperation: Sendable, Hashable {
    /// Puts a value in place of the one there is.
    case set(MaxLeapValue)
    /// Takes the field away.
    case delete
    /// Adds to a number; by a negative amount subtracts.
    case increment(MaxLeapValue)
    /// Puts values at the end of an array.
    case add([MaxLeapValue])
    /// Puts those values at the end of an array that it lacks.
    case addUnique([MaxLeapValue])
    /// Takes every equal value out of an array.
    case remove([MaxLeapValue])
    /// Puts objects into a relation, and takes others out of it.
    case relation(add: [MaxLeapPointer], remove: [MaxLeapPointer])

    /// The operation as it is sent.
    /// - Throws: ``RemoteError`` for a value that cannot be sent, or an increment by something that is not a number.
    public func json() throws(RemoteError) -> JSONValue {
        switch self {
        case .set(let value): return try value.json()
        case .delete: return ["__op": "Delete"]
        case .increment(let amount):
            guard amount.number != nil else {
                throw MaxLeapError.incorrectType.error("a field is incremented by a number, not by \(amount.kind)")
            }
            return ["__op": "Increment", "amount": try amount.json()]
        case .add(let values): return try Self.json("Add", values)
        case .addUnique(let values): return try Self.json("AddUnique", values)
        case .remove(let values): return try Self.json("Remove", values)
        case .relation(let added, let removed):
            let add = try Self.json("AddRelation", Self.unique(added).map(MaxLeapValue.pointer))
            let remove = try Self.json("RemoveRelation", Self.unique(removed).map(MaxLeapValue.pointer))
            if removed.isEmpty { return add }
            return added.isEmpty ? remove : ["__op": "Batch", "ops": [add, remove]]
        }
    }

    private static func json(_ name: String, _ values: [MaxLeapValue]) throws(RemoteError) -> JSONValue {
        ["__op": .string(name), "objects": try MaxLeapValue.array(values).json()]
    }

    /// The pointers, each once.
    static func unique(_ pointers: [MaxLeapPointer]) -> [MaxLeapPointer] {
        var seen: Set<MaxLeapPointer> = []
        return pointers.filter { seen.insert($0).inserted }
    }

    /// This operation and one that waits before it as a single one.
    /// - Throws: ``RemoteError`` if there is none that does the same, with code 111. The message begins with `incompatible`,
    ///   `not-an-array` or `not-a-number`.
    public func merged(onto pending: MaxLeapOperation?) throws(RemoteError) -> MaxLeapOperation {
        guard let pending else { return self }
        switch (self, pending) {
        case (.set, _), (.delete, _): return self
        case (.relation, .set), (.relation, .delete): throw Clash.incompatible.error(self, pending)
        case (.increment(let b), .delete): return .set(b)
        case (.increment(let b), .set(let value)): return .set(try Self.sum(value, b))
        case (.increment(let b), .increment(let a)): return .increment(try Self.sum(a, b))
        case (.add(let b), .delete): return .set(.array(b))
        case (.addUnique(let b), .delete): return .set(.array(b.addedUniquely(to: [])))
        case (.add, .set(let value)), (.addUnique, .set(let value)), (.remove, .set(let value)):
            guard case .array = value else { throw Clash.notAnArray.error(self, pending) }
            return .set(try applied(to: value) ?? .null)
        case (.add(let b), .add(let a)): return .add(a + b)
        case (.addUnique(let b), .addUnique(let a)): return .addUnique(b.addedUniquely(to: a))
        case (.remove(let b), .remove(let a)): return .remove(b.addedUniquely(to: a))
        case (.relation(let add, let remove), .relation(let before, let gone)):
            return .relation(
                add: Self.unique(before.filter { !remove.contains($0) } + add),
                remove: Self.unique(gone.filter { !add.contains($0) } + remove))
        default: throw Clash.incompatible.error(self, pending)
        }
    }

    /// What a value becomes by the operation.
    /// - Parameter value: What the field has; nil for nothing.
    /// - Returns: What it has then; nil for nothing. A relation is known only by its class.
    /// - Throws: ``RemoteError`` if the value is of another type.
    public func applied(to value: MaxLeapValue?) throws(RemoteError) -> MaxLeapValue? {
        switch self {
        case .set(let new): return new
        case .delete: return nil
        case .increment(let amount):
            guard let value, value != .null else { return amount }
            return try Self.sum(value, amount)
        case .add(let values): return .array(try array(value) + values)
        case .addUnique(let values): return .array(values.addedUniquely(to: try array(value)))
        case .remove(let values):
            return .array(try array(value).filter { element in !values.contains { $0.isSame(as: element) } })
        case .relation(let added, let removed):
            let className = added.first?.className ?? removed.first?.className
            guard let value, value != .null else { return className.map(MaxLeapValue.relation) }
            guard case .relation(let there) = value, className == nil || className == there else {
                throw MaxLeapError.incorrectType.error("\(value.kind) is not a relation of \(className ?? "objects")")
            }
            return value
        }
    }

    private func array(_ value: MaxLeapValue?) throws(RemoteError) -> [MaxLeapValue] {
        guard let value, value != .null else { return [] }
        guard case .array(let elements) = value else { throw Clash.notAnArray.error(self, .set(value)) }
        return elements
    }

    private static func sum(_ a: MaxLeapValue, _ b: MaxLeapValue) throws(RemoteError) -> MaxLeapValue {
        guard let sum = a.adding(b) else {
            throw a.number == nil || b.number == nil
                ? Clash.notANumber.error(.increment(b), .set(a))
                : MaxLeapError.incorrectType.error("the sum of \(a) and \(b) is not a number that can be sent")
        }
        return sum
    }
}

extension MaxLeapOperation {
    /// Why two operations are not one.
    package enum Clash: String, Sendable {
        /// The operations have nothing to do with each other.
        case incompatible
        /// Elements belong into arrays.
        case notAnArray = "not-an-array"
        /// Amounts are added to numbers.
        case notANumber = "not-a-number"

        /// The clash that an error is about; nil for other errors.
        package init?(_ error: RemoteError) {
            guard error.domain == MaxLeapError.domain, error.code == MaxLeapError.incorrectType.rawValue,
                let clash = error.message.split(separator: ":").first.flatMap({ Clash(rawValue: String($0)) })
            else { return nil }
            self = clash
        }

        func error(_ new: MaxLeapOperation, _ pending: MaxLeapOperation) -> RemoteError {
            let advice =
                switch self {
                case .incompatible: "save the object between them"
                case .notAnArray: "the field has no array"
                case .notANumber: "the field has no number"
                }
            return MaxLeapError.incorrectType.error(
                "\(rawValue): \(new.name) cannot follow \(pending.name) on one field; \(advice)")
        }
    }

    /// The name in the protocol.
    package var name: String {
        switch self {
        case .set: "Set"
        case .delete: "Delete"
        case .increment: "Increment"
        case .add: "Add"
        case .addUnique: "AddUnique"
        case .remove: "Remove"
        case .relation: "Relation"
        }
    }
}

extension [MaxLeapValue] {
    /// Another array with those of these values after it that it lacks. An object takes the place of the same one.
    func addedUniquely(to base: [MaxLeapValue]) -> [MaxLeapValue] {
        var result = base
        for value in self {
            if let place = result.firstIndex(where: { $0.isSame(as: value) }) {
                if value.pointer != nil { result[place] = value }
            } else {
                result.append(value)
            }
        }
        return result
    }
}
