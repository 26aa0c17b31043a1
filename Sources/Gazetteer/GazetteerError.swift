/// Why the Gazetteer stops.
enum GazetteerError: Error, Sendable, Hashable {
    /// The file at the place of the store is something else.
    case foreignFile(path: String, reason: String)
    /// The database has a store of another model where the Gazetteer keeps its own.
    case foreignDatabase(name: String, model: String)
    /// The store is to be in a database, and the program cannot open one.
    case noPostgres(address: String)
    /// The old store cannot be removed.
    case cannotReplace(path: String, reason: String)
    /// No country has the name or the code.
    case unknownCountry(name: String, suggestion: String?)
    /// The country has no cities in the data, so that there is nothing to show of it.
    case noCities(country: String)
    /// What the store holds is not what the source says.
    case wrongFigures([String])
    /// A step took more statements than it may.
    case tooManyStatements(step: String, allowed: Int, taken: Int)
    /// A step ended otherwise than it must.
    case unexpected(String)
}

extension GazetteerError: CustomStringConvertible {
    /// One line: what is wrong, and what to do.
    var description: String {
        switch self {
        case .foreignFile(let path, let reason):
            "\(path) is not a store of the Gazetteer (\(reason)); choose another --store, or replace it with --force"
        case .foreignDatabase(let name, let model):
            "the schema gazetteer of \(name) has a store of the model \(model); choose another database"
        case .noPostgres(let address):
            "this program cannot open \(address); build it with: swift build --traits CommandLine,Postgres --product Gazetteer"
        case .cannotReplace(let path, let reason): "cannot replace \(path): \(reason)"
        case .unknownCountry(let name, let suggestion):
            "no country has the name or the ISO code “\(name)”" + (suggestion.map { "; did you mean “\($0)”?" } ?? "")
        case .noCities(let country): "\(country) has no cities in the data; choose another --country"
        case .wrongFigures(let names): "the store does not hold what the source says: \(names.joined(separator: ", "))"
        case .tooManyStatements(let step, let allowed, let taken):
            "\(step) took \(Figures.counted(taken, "statement")), but \(allowed) are enough"
        case .unexpected(let text): text
        }
    }
}
