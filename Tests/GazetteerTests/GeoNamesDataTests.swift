import Foundation
import Testing

@testable import Gazetteer

@Suite("The GeoNames files")
struct GeoNamesDataTests {
    @Test("The files in the repository hold 7 continents, 252 countries and 34,006 cities of 3,932,182,704 people")
    func shippedData() throws {
        let data = try GeoNamesData(folder: DataFolder.find(asked: nil))
        #expect(data.continents.count == 7)
        #expect(data.countries.count == 252)
        #expect(data.cities.count == 34_006)
        #expect(data.cities.reduce(0) { $0 + $1.population } == 3_932_182_704)
        #expect(data.objectCount == 34_265)
        let peru = try #require(data.countries.first { $0.iso == "PE" })
        #expect(peru.capital == "Lima")
        #expect(peru.neighbours == ["BO", "BR", "CL", "CO", "EC"])
        let lima = try #require(data.cities.first { $0.id == "3936456" })
        #expect(lima.name == "Lima")
        #expect(lima.timeZone == "America/Lima")
        #expect(lima.latitude == -12.04318 && lima.longitude == -77.02824)
        #expect(lima.alternateNames.contains("利馬"))
    }

    @Test("A small folder is read whole")
    func smallFolder() throws {
        let folder = try SmallData()
        let data = try GeoNamesData(folder: folder.url)
        #expect(data.source == "Test data")
        #expect(data.countries.map(\.iso) == ["AA", "BB"])
        #expect(data.countries[1].capital == nil)
        #expect(data.countries[0].languages == ["xx", "yy"])
        #expect(data.cities.map(\.alternateNames) == [["Uno", "一"], []])
        #expect(data.cities[1].admin1 == nil)
    }

    @Test(
        "Keys that stand twice, references to nothing, one-sided borders and wrong figures are found",
        arguments: [
            (
                "cities.tsv", "2\tTwo", "1\tTwo",
                DataFileError.duplicate(file: "cities.tsv", line: 3, column: "id", value: "1")
            ),
            (
                "cities.tsv", "Two\tBB", "Two\tZZ",
                .unknownReference(file: "cities.tsv", line: 3, column: "country", value: "ZZ")
            ),
            (
                "countries.tsv", "\t10\tCC\t", "\t10\tXX\t",
                .unknownReference(file: "countries.tsv", line: 2, column: "continent", value: "XX")
            ),
            (
                "countries.tsv", "\tBB\n", "\tQQ\n",
                .unknownReference(file: "countries.tsv", line: 2, column: "neighbours", value: "QQ")
            ),
            (
                "countries.tsv", "\tAA\n", "\t\n",
                .badField(
                    file: "countries.tsv", line: 2, column: "neighbours", value: "BB",
                    reason: "BB does not name AA in return")
            ),
            (
                "cities.tsv", "\t300\t", "\t301\t",
                .wrongFigure(file: "manifest.tsv", key: "population", expected: 500, found: 501)
            ),
            (
                "manifest.tsv", "cities\t2", "cities\t3",
                .wrongFigure(file: "manifest.tsv", key: "cities", expected: 3, found: 2)
            ),
            ("manifest.tsv", "borders\t1\n", "", .missingFigure(file: "manifest.tsv", key: "borders")),
            (
                "manifest.tsv", "format\t1", "format\t2",
                .badField(
                    file: "manifest.tsv", line: 2, column: "value", value: "2", reason: "this program reads format 1")
            ),
            (
                "cities.tsv", "\t10.5\t", "\t100.5\t",
                .badField(
                    file: "cities.tsv", line: 2, column: "latitude", value: "100.5",
                    reason: "expected degrees from -90 to 90")
            ),
        ])
    func faults(file: String, text: String, replacement: String, error: DataFileError) throws {
        let folder = try SmallData()
        try folder.replace(text, by: replacement, in: file)
        #expect(throws: error) { try GeoNamesData(folder: folder.url) }
    }

    @Test("A missing folder is reported with the places that were tried")
    func missing() {
        #expect(throws: DataFileError.missing(searched: ["/nonexistent/data"])) {
            try DataFolder.find(asked: "/nonexistent/data")
        }
        #expect {
            try DataFolder.find(asked: nil, executable: URL(fileURLWithPath: "/nonexistent/bin/Gazetteer"))
        } throws: { error in
            guard case DataFileError.missing(let searched) = error else { return false }
            return searched.last == "/nonexistent/share/gazetteer/GeoNames"
        }
    }
}

/// A folder with two countries of one city each, which goes away with the value.
final class SmallData {
    let url: URL

    init() throws {
        url = FileManager.default.temporaryDirectory.appendingPathComponent("gazetteer-data-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
        let files = [
            "manifest.tsv": """
            key\tvalue
            format\t1
            source\tTest data
            continents\t1
            countries\t2
            borders\t1
            cities\t2
            population\t500

            """,
            "continents.tsv": "code\tname\nCC\tTestland\n",
            "countries.tsv": """
            iso\tname\tcapital\tarea_km2\tpopulation\tcontinent\t\
            currency_code\tcurrency_name\tphone\tlanguages\tneighbours
            AA\tAland\tOne\t5\t10\tCC\tAAD\tDollar\t1\txx|yy\tBB
            BB\tBland\t\t6\t20\tCC\t\t\t\t\tAA

            """,
            "cities.tsv": """
            id\tname\tcountry\tadmin1\tlatitude\tlongitude\tpopulation\ttime_zone\talternate_names
            1\tOne\tAA\t01\t10.5\t-20.25\t200\tEurope/One\tUno|一
            2\tTwo\tBB\t\t-1.0\t2.0\t300\tEurope/Two\t

            """,
        ]
        for (name, text) in files { try Data(text.utf8).write(to: url.appendingPathComponent(name)) }
    }

    deinit { try? FileManager.default.removeItem(at: url) }

    func replace(_ text: String, by replacement: String, in file: String) throws {
        let place = url.appendingPathComponent(file)
        let old = try String(contentsOf: place, encoding: .utf8)
        try #require(old.contains(text), "nothing to replace")
        try Data(old.replacingOccurrences(of: text, with: replacement).utf8).write(to: place)
    }
}
