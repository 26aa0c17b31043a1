import StrataModel
import StrataModelExport
import StrataModelFiles
import StrataQuery
import StrataSQLite

/// A fetch as `strata explain --json` prints it. Its stored properties are the members of the JSON; nil is `null`.
struct ExplainReport: Encodable {
    struct Binding: Encodable {
        let number: Int
        let type: String
        let value: String
    }

    struct Step: Encodable {
        let depth: Int
        let step: String

        init(_ step: FetchExplanation.Step) {
            depth = step.depth
            self.step = step.text
        }
    }

    struct Reason: Encodable {
        let code: String
        let expression: String
        let explanation: String
    }

    struct FullScan: Encodable {
        let entity: String
        let table: String
        let step: String
        let reasons: [Reason]
    }

    struct Change: Encodable {
        let entity: String
        let section: String
        let line: String

        init(_ change: FetchAdvice.ModelChange) {
            switch change {
            case .attribute(let attribute, let entity):
                self.entity = entity
                section = "attributes"
                // The comment of the attribute stays in the file and says nothing here.
                var attribute = attribute
                attribute.documentation = nil
                line = ModelFile.line(of: attribute)
            case .index(let index, let entity):
                self.entity = entity
                section = "indexes"
                line = ModelFile.line(of: index)
            }
        }
    }

    struct Suggestion: Encodable {
        let changes: [Change]
        let rewrite: String?
        let note: String?
        let plan: [Step]
    }

    let model: String
    let entity: String
    let store: String?
    let format: String?
    let predicate: String?
    let tree: PredicateOutline?
    let sql: String
    let bindings: [Binding]
    let plan: [Step]
    let isFullScan: Bool
    let fullScans: [FullScan]
    let sorts: Bool
    let suggestions: [Suggestion]

    init(
        model: ManagedObjectModel, entity: String, store: String?, format: String?, predicate: FetchPredicate?,
        _ explanation: FetchExplanation, _ advice: FetchAdvice
    ) {
        self.model = model.name
        self.entity = entity
        self.store = store
        self.format = format
        self.predicate = predicate?.description
        tree = predicate.map { PredicateOutline($0) }
        sql = explanation.sql
        bindings = explanation.bindings.map { Binding(number: $0.number, type: $0.type, value: $0.text) }
        plan = explanation.plan.map(Step.init)
        isFullScan = !advice.fullScans.isEmpty
        fullScans = advice.fullScans.map { scan in
            FullScan(
                entity: scan.entity, table: scan.table, step: scan.step,
                reasons: scan.reasons.map {
                    Reason(code: $0.code.rawValue, expression: $0.expression, explanation: $0.explanation)
                })
        }
        sorts = advice.sorts
        suggestions = advice.suggestions.map {
            Suggestion(
                changes: $0.changes.map(Change.init), rewrite: $0.rewrite?.description, note: $0.note,
                plan: $0.plan.map(Step.init))
        }
    }

    // Written out, because the encoder would leave out keys without a value.
    private enum CodingKeys: String, CodingKey {
        case model, entity, store, format, predicate, tree, sql, bindings, plan, isFullScan, fullScans, sorts
        case suggestions
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(model, forKey: .model)
        try container.encode(entity, forKey: .entity)
        try container.encode(store, forKey: .store)
        try container.encode(format, forKey: .format)
        try container.encode(predicate, forKey: .predicate)
        try container.encode(tree, forKey: .tree)
        try container.encode(sql, forKey: .sql)
        try container.encode(bindings, forKey: .bindings)
        try container.encode(plan, forKey: .plan)
        try container.encode(isFullScan, forKey: .isFullScan)
        try container.encode(fullScans, forKey: .fullScans)
        try container.encode(sorts, forKey: .sorts)
        try container.encode(suggestions, forKey: .suggestions)
    }
}

extension ExplainReport.Suggestion {
    private enum CodingKeys: String, CodingKey { case changes, rewrite, note, plan }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(changes, forKey: .changes)
        try container.encode(rewrite, forKey: .rewrite)
        try container.encode(note, forKey: .note)
        try container.encode(plan, forKey: .plan)
    }
}

extension ExplainReport {
    /// What a parameter begins with in the SQL.
    private var mark: String {
        if let store, case .postgres = StorePlace(store) { "$" } else { "?" }
    }

    /// The report as text.
    var lines: [String] {
        var lines = ["tree"]
        lines += (tree ?? PredicateOutline("all objects")).lines(indent: 2)
        lines += ["", "sql", "  " + sql]
        if !bindings.isEmpty {
            lines += ["", "bindings"] + bindings.map { "  \(mark)\($0.number)  \($0.type)  \($0.value)" }
        }
        lines += ["", "query plan"] + plan.map { Self.line($0, indent: 2) }
        lines.append("")
        if fullScans.isEmpty { lines.append("full scan: none") }
        for scan in fullScans {
            lines.append("full scan: \(scan.entity) (table \(scan.table))")
            for reason in scan.reasons { lines += ["  \(reason.expression)", "    \(reason.explanation)"] }
        }
        if sorts { lines.append("what is found is sorted afterwards") }
        if isFullScan, suggestions.isEmpty { lines.append("no index would help this condition as it stands") }
        for (index, suggestion) in suggestions.enumerated() {
            lines += ["", index == 0 ? "what would help" : "or"]
            for change in suggestion.changes {
                lines += ["  in the model, \(change.entity), \(change.section):", "    \(change.line)"]
            }
            if let rewrite = suggestion.rewrite { lines += ["  the condition:", "    \(rewrite)"] }
            if let note = suggestion.note { lines.append("  note: \(note)") }
            lines += ["  query plan then:"] + suggestion.plan.map { Self.line($0, indent: 4) }
        }
        return lines
    }

    private static func line(_ step: Step, indent: Int) -> String {
        String(repeating: " ", count: indent + 2 * step.depth) + step.step
    }
}
