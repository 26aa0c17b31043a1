import Strata
import Testing

/// A connection keeps what it made of a bounded number of requests.
@Suite struct ManyRequestsTests {
    @Test("Hundreds of different requests, asked again in another order, find what they ask for")
    func manyShapes() throws {
        let file = try ZooFile()
        let context = file.container.newContext()
        for index in 0..<9 { _ = Keeper(context, name: "keeper \(index)") }
        try context.save()
        // Each bit decides how a name is compared, so each number has an SQL text of its own.
        func names(_ number: Int) throws -> [String] {
            let parts = (0..<9).map { bit in
                number >> bit & 1 == 1 ? "name == 'keeper \(bit)'" : "name BEGINSWITH 'guard \(bit)'"
            }
            let request = FetchRequest<Keeper>(where: try FetchPredicate(format: parts.joined(separator: " OR ")))
            return try file.container.newContext().fetch(request).map(\.name).sorted()
        }
        func expected(_ number: Int) -> [String] { (0..<9).filter { number >> $0 & 1 == 1 }.map { "keeper \($0)" } }
        for number in 0..<512 { #expect(try names(number) == expected(number)) }
        for number in stride(from: 511, to: 0, by: -3) {
            #expect(try names(number) == expected(number))
            #expect(try names(number % 7) == expected(number % 7))
        }
    }
}
