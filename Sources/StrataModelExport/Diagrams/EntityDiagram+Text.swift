extension EntityDiagram {
    /// The picture as a Mermaid `erDiagram`, which many code hosts draw in Markdown. Inheritance is drawn as a dotted
    /// line labeled "is a".
    public func mermaid() -> String {
        var lines = ["erDiagram"]
        for box in boxes {
            if box.attributes.isEmpty {
                lines.append("    \(box.name)")
                continue
            }
            lines.append("    \(box.name) {")
            for row in box.attributes {
                let isOptional = row.type.hasSuffix("?")
                let key = row.isKey ? " PK" : ""
                lines.append(
                    "        \(Self.mermaidWord(row.type)) \(row.name)\(key)\(isOptional ? " \"optional\"" : "")")
            }
            lines.append("    }")
        }
        for box in boxes {
            if let parent = box.parent { lines.append("    \(boxes[parent].name) ||..o| \(box.name) : \"is a\"") }
        }
        for link in links {
            let label = link.inverseName.map { "\(link.name) / \($0)" } ?? link.name
            lines.append(
                "    \(boxes[link.from].name) \(Self.mermaidLeft(link.fromCardinality))--\(Self.mermaidRight(link.toCardinality)) \(boxes[link.to].name) : \"\(label)\""
            )
        }
        return lines.joined(separator: "\n") + "\n"
    }

    /// Types of attributes are single words in Mermaid: all but letters, digits and underscores goes.
    private static func mermaidWord(_ type: String) -> String {
        if type.hasPrefix("{") { return "composite" }
        let word = type.map { $0.isASCII && ($0.isLetter || $0.isNumber) ? $0 : "_" }.split(separator: "_").map {
            String($0)
        }.joined(separator: "_")
        return word.first?.isLetter == true ? word : "type_" + word
    }

    private static func mermaidLeft(_ cardinality: Cardinality) -> String {
        switch cardinality {
        case .zeroOrOne: "|o"
        case .one: "||"
        case .zeroOrMany, .unknown: "}o"
        case .oneOrMany: "}|"
        }
    }

    private static func mermaidRight(_ cardinality: Cardinality) -> String {
        switch cardinality {
        case .zeroOrOne: "o|"
        case .one: "||"
        case .zeroOrMany, .unknown: "o{"
        case .oneOrMany: "|{"
        }
    }

    /// The picture in the language of Graphviz: `dot -Tsvg`.
    public func dot() -> String {
        var lines = [
            "digraph \(Self.dotQuoted(title)) {",
            "    graph [rankdir=TB, splines=ortho, nodesep=0.6, ranksep=0.8, fontname=\"Helvetica\"];",
            "    node [shape=plain, fontname=\"Helvetica\", fontsize=11];",
            "    edge [dir=both, fontname=\"Helvetica\", fontsize=9];",
        ]
        for box in boxes { lines.append("    \(Self.dotQuoted(box.name)) [label=\(Self.dotTable(box))];") }
        for box in boxes {
            if let parent = box.parent {
                lines.append(
                    "    \(Self.dotQuoted(boxes[parent].name)) -> \(Self.dotQuoted(box.name)) [arrowtail=onormal, arrowhead=none, style=dashed];"
                )
            }
        }
        for link in links {
            lines.append(
                "    \(Self.dotQuoted(boxes[link.from].name)) -> \(Self.dotQuoted(boxes[link.to].name)) "
                    + "[arrowtail=\(Self.dotArrow(link.fromCardinality)), arrowhead=\(Self.dotArrow(link.toCardinality)), "
                    + "tooltip=\(Self.dotQuoted(link.name + (link.inverseName.map { " / \($0)" } ?? "")))];")
        }
        return (lines + ["}"]).joined(separator: "\n") + "\n"
    }

    private static func dotTable(_ box: Box) -> String {
        func escaped(_ text: String) -> String {
            text.replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing(">", with: "&gt;")
        }
        let name = box.isAbstract ? "<i>\(escaped(box.name))</i>" : "<b>\(escaped(box.name))</b>"
        let rows = (box.attributes + box.relationships).map { row in
            let name = row.isKey ? "<b>\(escaped(row.name))</b>" : escaped(row.name)
            return "<tr><td align=\"left\">\(name)</td><td align=\"right\">\(escaped(row.type))</td></tr>"
        }
        return
            "<<table border=\"0\" cellborder=\"1\" cellspacing=\"0\" cellpadding=\"4\"><tr><td colspan=\"2\" bgcolor=\"#dce7f0\">\(name)</td></tr>\(rows.joined())</table>>"
    }

    private static func dotArrow(_ cardinality: Cardinality) -> String {
        switch cardinality {
        case .zeroOrOne: "teeodot"
        case .one: "teetee"
        case .zeroOrMany: "crowodot"
        case .oneOrMany: "crowtee"
        case .unknown: "none"
        }
    }

    private static func dotQuoted(_ text: String) -> String {
        "\"\(text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\""))\""
    }
}
