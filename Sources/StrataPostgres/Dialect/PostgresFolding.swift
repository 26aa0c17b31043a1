import StrataSQL
import StrataStore

/// The function `strata_fold(text, options)`: what ``TextComparison/fold(_:_:)`` gives, from the same tables of Unicode.
///
/// `translate` replaces single scalars; those that become several are replaced one by one, where a text has one of them.
enum PostgresFolding {
    /// Scalars that become one other scalar without case.
    private static let simple = mapping.filter { $0.to.count == 1 }
    /// Scalars that become several.
    private static let full = mapping.filter { $0.to.count > 1 }

    private static let mapping: [(from: Unicode.Scalar, to: [Unicode.Scalar])] = scalars.compactMap { scalar in
        // Two properties are read faster than a text is folded.
        guard scalar.properties.changesWhenUppercased || scalar.properties.changesWhenLowercased else { return nil }
        let from = String(scalar)
        let to = TextComparison.fold(from, .caseInsensitive)
        return to.unicodeScalars.elementsEqual(from.unicodeScalars) ? nil : (scalar, Array(to.unicodeScalars))
    }

    private static let marks = scalars.filter { $0.properties.generalCategory == .nonspacingMark }

    private static var scalars: some Sequence<Unicode.Scalar> {
        // Other planes have neither case nor marks.
        [1...UInt32(0x1FFFF), 0xE0000...0xE0FFF].joined().lazy.compactMap(Unicode.Scalar.init)
    }

    static var function: String {
        let from = text(simple.map(\.from))
        let to = text(simple.flatMap(\.to))
        let several = full.reduce("x") { sql, pair in
            "replace(\(sql), \(Identifiers.literal(text([pair.from]))), \(Identifiers.literal(text(pair.to))))"
        }
        return """
            CREATE OR REPLACE FUNCTION strata_fold(x text, options integer) RETURNS text
            LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $body$
            BEGIN
                -- Nothing but ASCII.
                IF octet_length(x) = length(x) THEN
                    RETURN CASE WHEN options & 1 = 1 THEN lower(x COLLATE "C") ELSE x END;
                END IF;
                IF options & 2 = 2 THEN
                    x := translate(normalize(x, NFD), \(Identifiers.literal(text(marks))), '');
                END IF;
                IF options & 1 = 1 THEN
                    x := \(several);
                    x := translate(x, \(Identifiers.literal(from)), \(Identifiers.literal(to)));
                END IF;
                RETURN x;
            END
            $body$
            """
    }

    private static func text(_ scalars: some Sequence<Unicode.Scalar>) -> String {
        var view = String.UnicodeScalarView()
        view.append(contentsOf: scalars)
        return String(view)
    }
}
