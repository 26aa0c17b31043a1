import StrataSQL
import StrataStore

extension PostgresDialect {
    // MARK: Comparisons

    package func comparand(
        _ term: SQLTerm, _ form: ComparisonForm, with constant: SQLKind, _ options: ComparisonOptions
    ) -> SQLComparand? {
        switch (term.kind, constant) {
        case (.text, .text): return folded(term, options).map { SQLComparand($0, .text) }
        case (.text, _), (.uri, _): return SQLComparand(bytes(term), .text)
        case (.point, _): return SQLComparand(canonical(term), .point, suffix: "::text")
        case (.boolean, .integer): return SQLComparand(whole(term), .integer)
        case (.boolean, .double): return SQLComparand("(\(whole(term)))::double precision", .double)
        // The whole number may be one that no floating-point number equals.
        case (.double, .integer), (.double, .boolean): return SQLComparand(term.sql, .double, rounds: true)
        case (.integer, .boolean): return SQLComparand(term.sql, .integer)
        case (.integer, .double): return SQLComparand("(\(term.sql))::numeric", .number)
        case (.number, .integer), (.number, .double), (.number, .boolean): return SQLComparand(term.sql, .number)
        case (.integer, .decimal), (.boolean, .decimal): return number(term).map { SQLComparand($0, .decimal) }
        // Foundation makes a decimal of a floating-point number that is not the shortest one.
        case (.double, .decimal), (.number, .decimal): return nil
        case (.decimal, _): return SQLComparand(term.sql, .decimal)
        case (.json, _), (.external, _): return nil
        default: return SQLComparand(term.sql, constant)
        }
    }

    package func comparands(
        _ a: SQLTerm, _ b: SQLTerm, _ options: ComparisonOptions
    ) -> (left: String, right: String)? {
        if a.kind == .text, b.kind == .text {
            guard let left = folded(a, options), let right = folded(b, options) else { return nil }
            return (left, right)
        }
        if a.kind.isText { return (bytes(a), bytes(b)) }
        if a.kind == .point { return (canonical(a), canonical(b)) }
        if a.kind == b.kind { return a.kind == .json || a.kind == .external ? nil : (a.sql, b.sql) }
        let isDecimal = a.kind == .decimal || b.kind == .decimal
        if isDecimal, [a.kind, b.kind].contains(where: { $0 == .double || $0 == .number }) { return nil }
        guard let left = number(a), let right = number(b) else { return nil }
        return (left, right)
    }

    /// A whole number that is not a floating-point number becomes the one next to it on the side where the comparison gives
    /// the same answer. None equals it.
    package func rounded(_ value: SQLValue, for op: ComparisonOperator) -> SQLValue {
        guard case .integer(let whole) = value else { return value }
        let near = Double(whole)
        if Int64(exactly: near) == whole { return .double(near) }
        let isAbove = Int64(exactly: near).map { $0 > whole } ?? true
        switch op {
        case .less, .greaterOrEqual: return .double(isAbove ? near : near.nextUp)
        case .lessOrEqual, .greater: return .double(isAbove ? near.nextDown : near)
        default: return .null
        }
    }

    package func canonical(_ term: SQLTerm) -> String {
        switch term.kind {
        // Points have no equality; zero has one sign.
        case .point: "point((\(term.sql))[0] + 0, (\(term.sql))[1] + 0)::text"
        case .text, .uri: bytes(term)
        default: term.sql
        }
    }

    package func unindexed(_ sql: String) -> String { sql }

    /// Points have no equality, and the text that has one is not a point.
    package func tellsEqual(_ kind: SQLKind) -> Bool { kind != .point }

    package func unified(_ term: SQLTerm, as kind: SQLKind) -> String? {
        if term.kind == kind { return term.sql }
        guard kind == .number || (kind == .decimal && term.kind != .double && term.kind != .number) else { return nil }
        return number(term)
    }

    package func side(_ term: SQLTerm, as kind: SQLKind) -> String? { unified(term, as: kind) }

    /// Text that compares by its bytes. Columns do so as they are.
    private func bytes(_ term: SQLTerm) -> String {
        term.origin == nil ? "(\(term.sql)) COLLATE \"C\"" : term.sql
    }

    /// A number or a truth value as a number without a limit.
    func number(_ term: SQLTerm) -> String? {
        switch term.kind {
        case .integer: "(\(term.sql))::numeric"
        case .boolean: "(\(whole(term)))::numeric"
        case .double: "strata_number(\(term.sql))"
        case .number, .decimal: term.sql
        default: nil
        }
    }

    /// A whole number or a truth value as a whole number.
    func whole(_ term: SQLTerm) -> String {
        term.kind == .boolean ? "(\(term.sql))::integer::bigint" : term.sql
    }

    // MARK: Text

    /// Text without the differences that the options ignore. Where the model keeps the attribute in canonical form, that
    /// is the text without case and accents, and an index may serve.
    func folded(_ term: SQLTerm, _ options: ComparisonOptions) -> String? {
        if options.isEmpty || options.contains(.normalized) { return bytes(term) }
        if options == [.caseInsensitive, .diacriticInsensitive], let column = term.canonicalColumn { return column }
        guard options.isSubset(of: [.caseInsensitive, .diacriticInsensitive]) else { return nil }
        return "strata_fold(\(term.sql), \(options.rawValue))"
    }

    package func search(_ text: String, _ op: ComparisonOperator, _ part: String) -> String {
        switch op {
        case .contains: "strpos(\(text), \(part)) > 0"
        case .beginsWith: "starts_with(\(text), \(part))"
        default: "right(\(text), length(\(part))) = \(part)"
        }
    }

    /// Bytes are ordered as scalars are, so that the next scalar after the last one ends the range.
    package func endOfPrefix(_ text: String) -> SQLValue {
        var scalars = Array(text.unicodeScalars)
        while let last = scalars.popLast() {
            let next = last.value == 0xD7FF ? 0xE000 : last.value + 1
            guard let scalar = Unicode.Scalar(next) else { continue }
            scalars.append(scalar)
            var end = String.UnicodeScalarView()
            end.append(contentsOf: scalars)
            return .text(String(end))
        }
        // All texts begin with nothing: after any that is to be expected.
        return .text(String(repeating: "\u{10FFFF}", count: text.unicodeScalars.count + 64))
    }

    // MARK: JSON

    package func member(_ member: SQLMember, as form: JSONForm) -> String {
        // `->` with a number takes a scalar for an array with that one element, so positions are read by a path in strict
        // mode: it answers nothing for what is not an array.
        let path = member.path.reduce("(\(member.text))::jsonb") { json, step in
            switch step {
            case .name(let name): "\(json) -> \(Identifiers.literal(name))"
            case .first: "jsonb_path_query_first(\(json), 'strict $[0]', '{}', true)"
            case .last: "jsonb_path_query_first(\(json), 'strict $[last]', '{}', true)"
            case .position(let parameter):
                "jsonb_path_query_first(\(json), 'strict $[$position]', "
                    + "jsonb_build_object('position', LEAST(\(parameter), 2147483647)), true)"
            }
        }
        let json = "(\(path))"
        switch form {
        case .fragment: return "nullif(\(json), 'null'::jsonb)"
        case .text: return "CASE WHEN jsonb_typeof\(json) = 'string' THEN \(json) #>> '{}' END"
        case .number:
            return "CASE jsonb_typeof\(json) WHEN 'number' THEN \(json)::numeric "
                + "WHEN 'boolean' THEN \(json)::boolean::integer::numeric END"
        }
    }
}
