/// Values by equality as predicates see it, found by hashing.
struct ElementTable {
    private var buckets: [Int: [Value]] = [:]

    init(_ elements: some Sequence<Value> = []) {
        for element in elements { insert(element) }
    }

    func contains(_ value: Value) -> Bool {
        buckets[ComparedValue(value).hashValue]?.contains { ValueComparison.areEqual($0, value) } ?? false
    }

    /// - Returns: Whether the value is new.
    @discardableResult
    mutating func insert(_ value: Value) -> Bool {
        let hash = ComparedValue(value).hashValue
        if buckets[hash]?.contains(where: { ValueComparison.areEqual($0, value) }) == true { return false }
        buckets[hash, default: []].append(value)
        return true
    }
}

/// A value whose equality is that of predicates and of SQL: numbers by value whatever their type, text by its bytes, nil
/// like nil. `Value` itself treats 1 and 1.0 as different, and canonically equivalent texts as equal.
struct ComparedValue: Hashable {
    let value: Value

    init(_ value: Value) { self.value = value }

    static func == (a: ComparedValue, b: ComparedValue) -> Bool { ValueComparison.areEqual(a.value, b.value) }

    func hash(into hasher: inout Hasher) {
        if let number = NumberOperation(value) {
            // A whole number of any type has one hash; rounding must not tell equal ones apart.
            if let whole = number.asInteger { hasher.combine(whole) } else { hasher.combine(number.asDouble) }
            return
        }
        switch value {
        case .string(let text): Self.combine(text, into: &hasher)
        // A URI equals its text.
        case .uri(let uri): Self.combine(uri.absoluteString, into: &hasher)
        case .list(let values): hasher.combine(values.count)
        case .set(let values): hasher.combine(values.members.count)
        case .composite(let values): hasher.combine(values.count)
        default: hasher.combine(value)
        }
    }

    private static func combine(_ text: String, into hasher: inout Hasher) {
        var text = text
        text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
    }
}
