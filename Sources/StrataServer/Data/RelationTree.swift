#if Server
    import Foundation

    /// Which fields of a body lead to objects of which schema, so that bodies of those may be in it.
    struct RelationTree: Sendable {
        /// The schema of each field, and what follows there.
        private(set) var fields: [String: (schema: String, next: RelationTree)] = [:]

        init() {}

        /// One field.
        init(field: String, schema: String) { fields = [field: (schema, RelationTree())] }

        mutating func insert(_ path: ArraySlice<Substring>, schema: String) -> Bool {
            guard let first = path.first.map(String.init) else { return false }
            if path.count == 1 {
                if fields[first] == nil { fields[first] = (schema, RelationTree()) }
                return true
            }
            guard var entry = fields[first] else { return false }
            let isDone = entry.next.insert(path.dropFirst(), schema: schema)
            fields[first] = entry
            return isDone
        }
    }
#endif
