import Foundation

/// The file that says what the others should hold.
struct GeoNamesManifest {
    /// The name of the file.
    static let file = "manifest.tsv"
    /// The edition of the format that this program reads.
    static let format: Int64 = 1

    /// Where the data is from.
    let source: String
    /// What the other files should hold.
    let figures: GeoNamesFigures

    /// Reads the file.
    init(at url: URL) throws(DataFileError) {
        var records: [String: TabRecord] = [:]
        try TabFile(at: url, columns: ["key", "value"]).forEachRecord { record throws(DataFileError) in
            guard records.updateValue(record, forKey: record.text(0)) == nil else {
                throw .duplicate(file: Self.file, line: record.line, column: "key", value: record.text(0))
            }
        }
        func record(_ key: String) throws(DataFileError) -> TabRecord {
            guard let record = records[key] else { throw .missingFigure(file: Self.file, key: key) }
            return record
        }
        let format = try record("format")
        guard try format.count(1) == Self.format else {
            throw format.fault(1, "this program reads format \(Self.format)")
        }
        source = try record("source").requiredText(1)
        figures = GeoNamesFigures(
            continents: try record("continents").count(1), countries: try record("countries").count(1),
            borders: try record("borders").count(1), cities: try record("cities").count(1),
            population: try record("population").count(1))
    }

    /// Throws the first figure in which the files differ from the manifest.
    func compare(with found: GeoNamesFigures) throws(DataFileError) {
        let pairs: [(String, KeyPath<GeoNamesFigures, Int64>)] = [
            ("continents", \.continents), ("countries", \.countries), ("borders", \.borders), ("cities", \.cities),
            ("population", \.population),
        ]
        for (key, path) in pairs where figures[keyPath: path] != found[keyPath: path] {
            throw .wrongFigure(file: Self.file, key: key, expected: figures[keyPath: path], found: found[keyPath: path])
        }
    }
}
