#if Server
    import Strata

    /// A key of a schema whose keys are numbers.
    struct KeyNumber {
        let value: Int64

        /// The field that has the number next to the key, which is a text for all schemas.
        static let field = "sm_number"
        /// The maximum number that somebody may choose, to leave enough for the server: all that JSON's readers keep exactly.
        static let largestChosen: Int64 = (1 << 53) - 1

        /// Keeps the last number that each schema has assigned, so that none comes again after its object was deleted.
        static let entity = Entity("ServerNumber") {
            Attribute("schema", .string).unique()
            Attribute("last", .integer64)
        }

        init(_ value: Int64) { self.value = value }

        /// Reads a key; nil for a text that is not the usual form of such a number.
        init?(_ text: String) {
            guard let value = Int64(text), value > 0, String(value) == text else { return nil }
            self.value = value
        }

        var text: String { String(value) }
    }

    extension DataScope {
        /// Assigns the next number of a schema. It is used up if the write is kept, and only then.
        func nextNumber(in schema: ServerSchema) throws(ServerError) -> KeyNumber {
            let row = try numbering(of: schema)
            let (next, isTooLarge) = (row.whole("last") ?? 0).addingReportingOverflow(1)
            guard !isTooLarge else { throw ServerError(500, "The schema \(schema.name) has no more numbers.") }
            row["last"] = next
            return KeyNumber(next)
        }

        /// Has the server never assign a number that somebody has chosen.
        func reserve(_ number: KeyNumber, in schema: ServerSchema) throws(ServerError) {
            let row = try numbering(of: schema)
            if row.whole("last") ?? 0 < number.value { row["last"] = number.value }
        }

        private func numbering(of schema: ServerSchema) throws(ServerError) -> ManagedObject {
            let name = KeyNumber.entity.name
            if let row = try find(name, ("schema", schema.name)) { return row }
            let row = try insert(name)
            row["schema"] = schema.name
            row["last"] = Int64(0)
            register(row, schema.name)
            return row
        }
    }
#endif
