#if Server
    import Strata

    /// What a body says of an object.
    struct ObjectBody: Sendable {
        /// Fields with their values in the core's own form: points in time are milliseconds since 1970, places have `lat` and
        /// `lon`, references are primary keys.
        var values: JSONObject
        /// The computations on current values, by field.
        var changes: [(field: String, change: FieldChange)] = []

        init(_ values: JSONObject) { self.values = values }
    }

    /// What is computed from the value that is there.
    enum FieldChange: Sendable {
        case increment(JSONValue)
        /// Elements after those that are there.
        case add([JSONValue])
        /// Elements after those that are there, each that is not there yet.
        case addUnique([JSONValue])
        /// Removes all elements that equal one of these.
        case remove([JSONValue])
    }

    extension ObjectWriter {
        func apply(
            _ change: FieldChange, to object: ManagedObject, _ name: String, _ schema: ServerSchema
        ) throws(ServerError) {
            switch change {
            case .increment(let step): try increment(object, name, by: step, schema)
            case .add(let new):
                try edit(object, name, schema) { $0 + new }
            case .addUnique(let new):
                try edit(object, name, schema) { old in
                    old + Self.unique(new.map(\.withPlainNumbers)).filter { !old.contains($0) }
                }
            case .remove(let gone):
                let gone = Set(gone.map(\.withPlainNumbers))
                try edit(object, name, schema) { $0.filter { !gone.contains($0) } }
            }
        }

        private func edit(
            _ object: ManagedObject, _ name: String, _ schema: ServerSchema, _ change: ([JSONValue]) -> [JSONValue]
        ) throws(ServerError) {
            guard let field = schema.field(name) else { throw .noField(schema, name) }
            guard field.isCollection || field.kind == .json else {
                throw Self.typeFault(field, schema, "elements of an array", isNew: object.isInserted)
            }
            let value = ObjectReader.value(object, field)
            guard value.isNull || value.elements != nil else {
                throw Self.typeFault(field, schema, "elements of an array", isNew: object.isInserted)
            }
            var elements = change((value.elements ?? []).map(\.withPlainNumbers))
            if field.kind == .references { elements = Self.unique(elements) }
            if field.kind == .json {
                guard elements.count <= options.limits.requests.objects else {
                    throw .badRequest("\(name) may hold \(options.limits.requests.objects) values.")
                }
                object[field.name] = try JSONValue.array(elements).stored()
            } else {
                try check(elements: elements, of: field, schema, isNew: object.isInserted)
                try setElements(object, field, elements, schema)
            }
        }

        private func increment(
            _ object: ManagedObject, _ name: String, by value: JSONValue, _ schema: ServerSchema
        ) throws(ServerError) {
            switch (schema.field(name)?.kind, value) {
            case (.integer?, .integer(let step)):
                let (sum, isTooLarge) = (object.whole(name) ?? 0).addingReportingOverflow(step)
                guard !isTooLarge else { throw .badRequest("\(name) would leave the range of 64 bits.") }
                object[name] = sum
            case (.number?, .integer), (.number?, .double), (.number?, .decimal):
                let sum = (object[name] as? Double ?? 0) + (value.double ?? 0)
                guard sum.isFinite else { throw .badRequest("\(name) would become too large for a number.") }
                object[name] = sum
            case (nil, _): throw .noField(schema, name)
            default: throw .badRequest("\(name) is not incremented: it must hold a number, and the step must be one.")
            }
        }
    }
#endif
