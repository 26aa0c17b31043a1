/// A declaration of Swift source as a tree. It knows what is declared, not how it is laid out; see ``SwiftRenderer``.
struct SwiftDeclaration {
    /// What follows the head.
    enum Body {
        /// Nothing: a stored property, a type alias.
        case none
        /// Statements of a function, an initializer or a getter.
        case statements([String])
        /// Members of a type or an extension.
        case members([SwiftDeclaration])
        /// A getter and a setter.
        case accessors(get: [String], set: [String])
    }

    /// The text of the comment, or nil.
    var documentation: String?
    /// Attributes such as `@available(…)`, one per line.
    var attributes: [String] = []
    /// The words before the keyword: `open`, `override class`.
    var modifiers: [String] = []
    /// `class`, `struct`, `var`, `func`, `extension`, …; `init` without a name.
    var keyword: String
    /// The name, escaped where needed.
    var name = ""
    /// The parameters of a function or an initializer; nil for everything else.
    var parameters: [String]?
    /// What is between name or parameters and the body: `: ManagedObject`, `: Int64`, ` -> Bool`, ` = 1`.
    var suffix = ""
    /// What follows the head.
    var body = Body.none
}

/// A source file.
struct SwiftFile {
    /// The name with ending.
    var name: String
    /// The comment at the top.
    var header: [String]
    /// The modules to import.
    var imports: [String]
    /// What the file declares.
    var declarations: [SwiftDeclaration]
}

/// Lays declarations out: four spaces, 120 columns. It knows nothing of models.
struct SwiftRenderer {
    static let width = 120

    func render(_ file: SwiftFile) -> String {
        var lines = file.header.map { "// \($0)" } + [""] + file.imports.map { "import \($0)" }
        for declaration in file.declarations { lines += [""] + render(declaration, indent: 0) }
        return lines.joined(separator: "\n") + "\n"
    }

    /// Items between brackets: on one line if they fit, otherwise one per line.
    static func list(_ opening: String, _ items: [String], _ closing: String, indent: Int) -> [String] {
        let short = opening + items.joined(separator: ", ") + closing
        if short.count + 4 * indent <= width { return [short] }
        let last = items.count - 1
        return [opening] + items.enumerated().map { "    \($1)\($0 < last ? "," : "")" } + [closing]
    }

    func render(_ declaration: SwiftDeclaration, indent: Int) -> [String] {
        let margin = String(repeating: "    ", count: indent)
        var lines: [String] = []
        if let documentation = declaration.documentation {
            lines += documentation.split(separator: "\n", omittingEmptySubsequences: false).map { line in
                line.allSatisfy(\.isWhitespace) ? "\(margin)///" : "\(margin)/// \(line)"
            }
        }
        lines += declaration.attributes.map { margin + $0 }
        var head = margin + (declaration.modifiers + [declaration.keyword]).joined(separator: " ")
        if !declaration.name.isEmpty { head += " " + declaration.name }
        if let parameters = declaration.parameters {
            let short = "\(head)(\(parameters.joined(separator: ", ")))\(declaration.suffix)"
            if short.count + 2 <= Self.width || parameters.isEmpty {
                head = short
            } else {
                let broken = Self.list("\(head)(", parameters, ")", indent: Self.width)
                lines += [broken[0]] + broken.dropFirst().dropLast().map { margin + $0 }
                head = "\(margin))\(declaration.suffix)"
            }
        } else {
            head += declaration.suffix
        }
        return lines + render(declaration.body, head: head, margin: margin, indent: indent)
    }

    private func render(_ body: SwiftDeclaration.Body, head: String, margin: String, indent: Int) -> [String] {
        switch body {
        case .none: return [head]
        case .statements(let statements):
            if statements.count == 1, let only = statements.first, head.count + only.count + 5 <= Self.width,
                !only.contains("\n")
            {
                return ["\(head) { \(only) }"]
            }
            return ["\(head) {"] + statements.map { "\(margin)    \($0)" } + ["\(margin)}"]
        case .members(let members):
            if members.isEmpty { return ["\(head) {}"] }
            var lines = ["\(head) {"]
            for (index, member) in members.enumerated() {
                if index > 0 { lines.append("") }
                lines += render(member, indent: indent + 1)
            }
            return lines + ["\(margin)}"]
        case .accessors(let get, let set):
            let inner = margin + "    "
            return ["\(head) {"] + render(.statements(get), head: "\(inner)get", margin: inner, indent: indent + 1)
                + render(.statements(set), head: "\(inner)set", margin: inner, indent: indent + 1) + ["\(margin)}"]
        }
    }
}
