import StrataStore

/// The values of a key, compared as a store compares them: text by its bytes.
enum KeyTuple: Hashable {
    // Most keys are one value, for which no array is made.
    case single(Part)
    case several([Part])

    enum Part: Hashable {
        case text(Text)
        case value(Value)

        init(_ value: Value) {
            if case .string(let text) = value { self = .text(Text(string: text)) } else { self = .value(value) }
        }

        var value: Value {
            switch self {
            case .text(let text): .string(text.string)
            case .value(let value): value
            }
        }
    }

    /// Swift's own strings are equal if they look the same; two rows may differ in their bytes only.
    struct Text: Hashable {
        let string: String

        static func == (a: Text, b: Text) -> Bool {
            var (a, b) = (a.string, b.string)
            return a.withUTF8 { a in b.withUTF8 { b in a.count == b.count && a.elementsEqual(b) } }
        }

        func hash(into hasher: inout Hasher) {
            var string = string
            string.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
        }
    }

    /// One of the values.
    func value(_ index: Int) -> Value {
        switch self {
        case .single(let part): part.value
        case .several(let parts): parts[index].value
        }
    }

    init(_ value: Value) { self = .single(Part(value)) }

    init(_ values: [Value]) { self = values.count == 1 ? .single(Part(values[0])) : .several(values.map(Part.init)) }

    /// The values of some slots of a row.
    init(_ slots: [SlotDescription], of row: RowPointer) {
        self =
            slots.count == 1
            ? .single(Part(row.value(slots[0]))) : .several(slots.map { Part(row.value($0)) })
    }
}
