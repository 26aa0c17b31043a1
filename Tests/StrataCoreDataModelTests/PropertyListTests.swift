import Foundation
import SeededRandom
import Testing

@testable import StrataCoreDataModel

struct PropertyListTests {
    private static let list = PropertyList.dictionary([
        "text": .string("Ökonomie & <more>"), "none": .string(""), "long": .string(String(repeating: "x", count: 300)),
        "numbers": .array([.integer(0), .integer(255), .integer(-1), .integer(70000), .integer(.max), .real(1.5)]),
        "flags": .array([.boolean(true), .boolean(false)]), "data": .data(Data([0, 1, 255])), "date": .date(1000),
    ])

    @Test func whatIsWrittenReadsBackTheSame() throws {
        #expect(try PropertyList(data: Self.list.binary()) == Self.list)
        #expect(try PropertyList(data: Data(Self.list.xml().utf8)) == Self.list)
        #expect(try PropertyList(data: PropertyList.uid(300).binary()) == .uid(300))
    }

    @Test func foundationReadsWhatIsWritten() throws {
        let read = try PropertyListSerialization.propertyList(from: Self.list.binary(), format: nil)
        let members = try #require(read as? [String: Any])
        #expect(members["text"] as? String == "Ökonomie & <more>")
        #expect((members["numbers"] as? [Any])?.count == 6)
    }

    @Test func damagedListsGiveErrorsAndNeverTrap() throws {
        let whole = [UInt8](try Samples.data("SampleModel2.mom"))
        for length in stride(from: 0, to: whole.count, by: 7) {
            #expect(throws: CoreDataModelError.self) {
                _ = try CoreDataModelFile(compiled: Data(whole[..<length]), name: "x")
            }
        }
        var random = SplitMix64(seed: 41)
        var isRead = 0
        for _ in 0..<2000 {
            var bytes = whole
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                bytes[Int.random(in: 0..<bytes.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
            }
            guard let file = try? CoreDataModelFile(compiled: Data(bytes), name: "x") else { continue }
            isRead += 1
            _ = CoreDataVersionHashes(file.model)
        }
        #expect(isRead > 0)
    }

    @Test func aListThatContainsItselfIsRefused() {
        // One array of one element, which is the array.
        var bytes = Array("bplist00".utf8) + [0xA1, 0, 8]
        bytes += [0, 0, 0, 0, 0, 0, 1, 1] + [0, 0, 0, 0, 0, 0, 0, 1] + [0, 0, 0, 0, 0, 0, 0, 0]
        bytes += [0, 0, 0, 0, 0, 0, 0, 10]
        #expect(throws: PropertyListError.tooLarge("it is nested too deeply or contains itself")) {
            _ = try PropertyList(data: Data(bytes))
        }
    }
}
