/// The values of a key, compared as a store compares them: text by its bytes.
struct KeyTuple: Hashable {
    private enum Part: Hashable {
        case text(Text)
        case value(Value)
    }

    /// Swift's own strings are equal if they look the same; two rows may differ in their bytes only.
    private struct Text: Hashable {
        let string: String

        static func == (a: Text, b: Text) -> Bool { a.string.utf8.elementsEqual(b.string.utf8) }

        func hash(into hasher: inout Hasher) {
            var string = string
            string.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
        }
    }

    private let parts: [Part]

    /// One of the values.
    func value(_ index: Int) -> Value {
        switch parts[index] {
        case .text(let text): .string(text.string)
        case .value(let value): value
        }
    }

    init(_ values: some Sequence<Value>) {
        parts = values.map { value in
            if case .string(let text) = value { .text(Text(string: text)) } else { .value(value) }
        }
    }
}
