import ArgumentParser
import Foundation
import StrataModel
import StrataQuery
import StrataSQLite

/// `strata explain`: what a condition is, what SQLite makes of it, and what would make it faster.
///
/// With `--json` one object is printed, whose keys stay: `model`, `entity`, `store`, `format`, `predicate` (the condition
/// as it is understood, with variables filled in), `tree` (`node`, `parts`), `sql`, `bindings` (`number`, `type`, `value`),
/// `plan` (`depth`, `step`), `isFullScan`, `fullScans` (`entity`, `table`, `step`, `reasons` of `code`, `expression`,
/// `explanation`), `sorts`, `suggestions` (`changes` of `entity`, `section`, `line`; `rewrite`, `note`, `plan`). A fault is
/// an object `{"error": {"kind", "message", "position"}}`.
///
/// With `--backend` the requests to a server are printed in place of the SQL: `model`, `entity`, `backend`, `format`,
/// `predicate`, `tree`, `requests` (`method`, `path`, `parameters` and `headers` of `name`, `value`).
struct ExplainCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "explain",
        abstract: "Shows the tree, the SQL and the query plan of a fetch, and which index would help; or its requests.",
        discussion: """
            The SQL finds the keys of objects; nothing is fetched. Without a store an empty one in memory is asked, which has \
            the indexes of the model. Values of --arg and --var are JSON, with {"$date": seconds since 2001-01-01} and the \
            other typed objects of strata predicate; text that is not JSON is a string. \
            With --backend the requests are shown that the fetch would send to a server. \
            The exit code is 0, 1 for faults of the model, the store or the condition, and 64 for a wrong command line.

            strata explain Models/Gazetteer.strata.yaml City 'population > %d AND name BEGINSWITH[cd] %@' --arg 100000 --arg san
            """)

    @Argument(help: "A model file (.strata.yaml).", completion: .file(extensions: ["yaml"]))
    var model: String

    @Argument(help: "The entity whose objects are fetched.")
    var entity: String

    @Argument(help: "The condition in the format language; all objects if there is none.")
    var format: String?

    @OptionGroup var place: ExplainedStore

    @Option(help: "A kind of server, in place of a SQLite store. Nothing is sent.")
    var backend: ExplainBackend?

    @Option(
        name: .customLong("arg"), parsing: .unconditionalSingleValue, help: "The next value for %@, %K, %d and so on.")
    var arguments: [String] = []

    @Option(name: .customLong("var"), parsing: .unconditionalSingleValue, help: "The value of a variable: name=value.")
    var variables: [String] = []

    @Option(
        name: .customLong("sort"), parsing: .unconditionalSingleValue,
        help: "A property or path to order by; -name for descending order, name[cd] with text options.")
    var sorts: [String] = []

    @Option(help: "The maximum number of objects.")
    var limit: Int?

    @Option(help: "How many objects are left out at the beginning.")
    var offset = 0

    @Flag(help: "Explain how objects are counted.")
    var count = false

    @Flag(help: "Print JSON.")
    var json = false

    func validate() throws {
        if let limit, limit < 0 { throw ValidationError("--limit is at least 0, not \(limit)") }
        if offset < 0 { throw ValidationError("--offset is at least 0, not \(offset)") }
        if place.store != nil, backend != nil { throw ValidationError("--store and --backend exclude each other") }
        for text in arguments { _ = try Self.value(text, of: "--arg") }
        _ = try variableValues()
        for text in sorts where (try? FetchSort(format: text)) == nil {
            throw ValidationError(
                "--sort \(text): expected a path such as name, -population or country.name[cd], or an expression")
        }
        if format == nil, !arguments.isEmpty || !variables.isEmpty {
            throw ValidationError("--arg and --var belong to a condition, and there is none")
        }
    }

    func run() throws {
        let model = try Output.model(model)
        do throws(ExplainFault) {
            let entity = try ExplainRequest.entity(entity, in: model)
            let plan = try plan(entity, model)
            if let backend {
                let report = ExplainBackendReport(
                    model: model, entity: entity.name, backend: backend, format: format, predicate: plan.predicate,
                    try backend.requests(plan, of: entity, in: model, counting: count))
                if json { return try encode(report) }
                return print(report.lines.joined(separator: "\n"))
            }
            let report = try report(plan, entity, model)
            if json { return try encode(report) }
            print(report.lines.joined(separator: "\n"))
        } catch {
            try fail(error)
        }
    }

    private func encode(_ report: some Encodable) throws(ExplainFault) {
        do {
            try Output.json(report)
        } catch {
            throw ExplainFault(.store, "the explanation cannot be written as JSON: \(error)")
        }
    }

    private func plan(
        _ entity: EntityDescription, _ model: ManagedObjectModel
    ) throws(ExplainFault) -> FetchPlan {
        var plan = FetchPlan(entityIndex: entity.index)
        plan.limit = limit
        plan.offset = offset
        plan.sorts = sorts.compactMap { try? FetchSort(format: $0) }
        if let format {
            var values: [Value] = []
            // They were looked at before; see validate.
            for text in arguments { if let value = try? ExplainRequest.value(text) { values.append(value) } }
            plan.predicate = try ExplainRequest.predicate(format, values, (try? variableValues()) ?? [:])
        }
        for path in plan.predicate?.keyPaths ?? [] { try ExplainRequest.check(path, of: entity, in: model) }
        for path in plan.sorts.flatMap(\.expression.keyPaths) {
            try ExplainRequest.check(path, of: entity, in: model)
        }
        return plan
    }

    private func report(
        _ plan: FetchPlan, _ entity: EntityDescription, _ model: ManagedObjectModel
    ) throws(ExplainFault) -> ExplainReport {
        do throws(StoreError) {
            if let store = place.store, case .postgres = StorePlace(store) {
                let (explanation, advice) = try StorePlace(store).explain(
                    plan, model, schema: place.schema, counting: count)
                return ExplainReport(
                    model: model, entity: entity.name, store: store, format: format, predicate: plan.predicate,
                    explanation, advice)
            }
            var options = SQLiteStore.Options()
            if place.store != nil {
                options.isReadOnly = true
                options.createIfMissing = false
            }
            let location = place.store.map { SQLiteStore.Location.file(path: $0) } ?? .memory(name: nil)
            let opened = try SQLiteStore.open(model: model, location: location, options: options)
            defer { opened.close() }
            let explanation = try opened.explain(plan, counting: count)
            let advice = FetchAdvisor(model: model, plan: plan, counting: count).advice(for: explanation)
            return ExplainReport(
                model: model, entity: entity.name, store: place.store, format: format, predicate: plan.predicate,
                explanation, advice)
        } catch {
            throw Self.fault(error)
        }
    }

    private static func fault(_ error: StoreError) -> ExplainFault {
        switch error {
        case .invalidPredicate(.unboundVariable(let name)):
            ExplainFault(.condition, "$\(name) has no value; give it one with --var \(name)=value")
        case .invalidPredicate: ExplainFault(.condition, error.description)
        case .unsupported: ExplainFault(.unsupported, error.description)
        default: ExplainFault(.store, error.description)
        }
    }

    private func variableValues() throws -> [String: Value] {
        var values: [String: Value] = [:]
        for text in variables {
            guard let sign = text.firstIndex(of: "="), sign > text.startIndex else {
                throw ValidationError("--var \(text): expected name=value")
            }
            let name = text[..<sign].drop { $0 == "$" }
            values[String(name)] = try Self.value(String(text[text.index(after: sign)...]), of: "--var")
        }
        return values
    }

    private static func value(_ text: String, of option: String) throws -> Value {
        do throws(TypedJSON.Fault) {
            return try ExplainRequest.value(text)
        } catch {
            throw ValidationError("\(option) \(text.prefix(80)): \(error.reason)")
        }
    }

    /// Tells what is wrong, in JSON on standard output if that is asked for, and ends the command.
    private func fail(_ fault: ExplainFault) throws -> Never {
        if json {
            try Output.json(["error": FaultReport(fault)])
        } else {
            Output.fail(fault.message)
            for line in fault.excerpt { Output.fail("  " + line) }
        }
        throw ExitCode.failure
    }
}

/// The store of which `strata explain` asks.
struct ExplainedStore: ParsableArguments {
    @Option(
        help: "A SQLite store of the model, or the URL of a PostgreSQL database. It is only read.", completion: .file())
    var store: String?

    @Option(help: "The schema of a PostgreSQL database.")
    var schema = "public"
}

/// A fault as `strata explain --json` prints it.
private struct FaultReport: Encodable {
    let kind: String
    let message: String
    let position: Int?

    init(_ fault: ExplainFault) {
        kind = fault.kind.rawValue
        message = fault.message
        position = fault.position
    }

    private enum CodingKeys: String, CodingKey { case kind, message, position }

    // Written out, because the encoder would leave out a position that is nil.
    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(kind, forKey: .kind)
        try container.encode(message, forKey: .message)
        try container.encode(position, forKey: .position)
    }
}
