import Foundation
import Testing

@testable import StrataCoreData

/// Archives and compressed data.
struct ValueReadingTests {
    @Test("The values that Foundation archives")
    func archives() throws {
        let date = Date(timeIntervalSinceReferenceDate: 0.5)
        let value = try ArchivedValue.value(
            of: archive(
                [
                    "text", 7, -1.5, true, date, Data([1, 2]), URL(string: "https://example.org/a")!,
                    NSNull(),
                    ["k": ["v"]],
                ] as NSArray))
        let expected: Value = .list([
            .string("text"), .integer(7), .double(-1.5), .boolean(true),
            .string("2001-01-01T00:00:00.500Z"),
            .string("AQI="), .string("https://example.org/a"), .null,
            .composite(["k": .list([.string("v")])]),
        ])
        #expect(value == expected)
        #expect(try ArchivedValue.value(of: archive("alone" as NSString)) == .string("alone"))
        let plain = PropertyList.dictionary(["a": .array([.integer(1)])])
        #expect(try ArchivedValue.value(of: plain.binary()) == .composite(["a": .list([.integer(1)])]))
    }

    private func archived(_ objects: [PropertyList]) -> Data {
        PropertyList.dictionary([
            "$archiver": .string("NSKeyedArchiver"), "$version": .integer(100_000),
            "$top": .dictionary(["root": .uid(1)]), "$objects": .array([.string("$null")] + objects),
        ]).binary()
    }

    private func aClass(_ name: String) -> PropertyList {
        .dictionary([
            "$classname": .string(name), "$classes": .array([.string(name), .string("NSObject")]),
        ])
    }

    @Test("Classes that Foundation's archiver of this system does not write")
    func otherClasses() throws {
        let uuid = UUID()
        let bytes = withUnsafeBytes(of: uuid.uuid) { Data($0) }
        #expect(
            try ArchivedValue.value(
                of: archived([
                    .dictionary(["$class": .uid(2), "NS.uuidbytes": .data(bytes)]), aClass("NSUUID"),
                ]))
                == .string(uuid.uuidString))
        var mantissa = Data(count: 16)
        mantissa[0] = 125
        #expect(
            try ArchivedValue.value(
                of: archived([
                    .dictionary([
                        "$class": .uid(2), "NS.mantissa": .data(mantissa), "NS.exponent": .integer(-1),
                        "NS.mantissa.bo": .integer(1), "NS.negative": .boolean(true),
                    ]), aClass("NSDecimalNumber"),
                ])) == .decimal(Decimal(string: "-12.5")!))
        #expect(
            try ArchivedValue.value(
                of: archived([
                    .dictionary(["$class": .uid(2), "NS.relative": .string("b"), "NS.base": .uid(3)]),
                    aClass("NSURL"),
                    .dictionary(["$class": .uid(2), "NS.relative": .string("https://example.org/a/")]),
                ])) == .string("https://example.org/a/b"))
    }

    @Test("Archives that cannot be read say why")
    func failures() throws {
        #expect(throws: ArchivedValueError.unknownClass("NSAttributedString")) {
            try ArchivedValue.value(of: archiveOfUnknownClass("NSAttributedString"))
        }
        #expect(throws: ArchivedValueError.self) {
            try ArchivedValue.value(of: Data("not an archive".utf8))
        }
        #expect(throws: ArchivedValueError.self) { try ArchivedValue.value(of: Data()) }
        // An array that contains itself, one that grows without bound, and references that lead nowhere.
        let cycle = archived([
            .dictionary(["$class": .uid(2), "NS.objects": .array([.uid(1)])]), aClass("NSArray"),
        ])
        #expect(throws: ArchivedValueError.tooLarge) { try ArchivedValue.value(of: cycle) }
        let doubling =
            (0..<50).map {
                PropertyList.dictionary([
                    "$class": .uid(52), "NS.objects": .array([.uid($0 + 2), .uid($0 + 2)]),
                ])
            }
            + [.string("end"), aClass("NSArray")]
        #expect(throws: ArchivedValueError.tooLarge) { try ArchivedValue.value(of: archived(doubling)) }
        #expect(throws: ArchivedValueError.self) {
            try ArchivedValue.value(
                of: archived([
                    .dictionary(["$class": .uid(2), "NS.objects": .array([.uid(99)])]), aClass("NSArray"),
                ]))
        }
        #expect(throws: ArchivedValueError.self) {
            try ArchivedValue.value(
                of: archived([
                    .dictionary(["$class": .uid(2), "NS.time": .real(.infinity)]), aClass("NSDate"),
                ]))
        }
        #expect(throws: ArchivedValueError.self) {
            try ArchivedValue.value(
                of: archived([
                    .dictionary([
                        "$class": .uid(2), "NS.keys": .array([.integer(1)]),
                        "NS.objects": .array([.integer(2)]),
                    ]),
                    aClass("NSDictionary"),
                ]))
        }
    }

    @Test("Streams of all kinds of blocks are inflated")
    func inflates() throws {
        func inflated(_ hexadecimal: String) throws -> String {
            let digits = Array(hexadecimal)
            let bytes = stride(from: 0, to: digits.count, by: 2).map {
                UInt8(String(digits[$0...$0 + 1]), radix: 16)!
            }
            return String(decoding: try Inflater.inflate(Data(bytes)), as: UTF8.self)
        }
        let text = (0..<60).map { "entity \($0 * $0 % 97) of the model; " }.joined()
        #expect(
            try inflated(
                "95d23b0ec2301084e1abf808c48e5fe23a180509489386db5350e2af483b5acdfe3bb3e37d3c8e4fb884fd1e8e6d84d77e1b"
                    + "cf6b183f7999cbeb5cee3029733de6b99e30bfc2bf00a7813e0107366b9deb35c2075b415330df950ef0ab2a847f864f57fa"
                    + "2a5d3f227ff864f037c4867822da6af0c9c08988ade909f56ce05c30df107f512db82b817f519e680b2d369c55114fd57c3a"
                    + "a99fdc2b4edd55cea5a694d58a5afc6bfd0b") == text)
        #expect(
            try inflated(
                "4bcd2bc92ca9543050c84f5328c94855c8cd4f49cdb1564885081b621736c12e6c89c31033ece246a6d8c58d71a837c161be"
                    + "190ee758e070bd310ee7e030c6c41cbbb8b9110e7370d88ac3356638d45be20a1d1cce37c7158538cc37c5618e25aed0c715"
                    + "e9b8d2082ef37198638ac3fd1638820d47f018e1882d0b1ce698e2708e118e60b3c095087125361cee34c4a1de0247f09be1"
                    + "8a161cfe32c6e17e435ce18923b670c4a2050e6f99e3081e735cea71a5665ce224da8bcb9db8fc85231870851aae50c6152b"
                    + "b8621123d601") == text)
        #expect(try inflated("2bc957484a55c82f52c8cb2f5128017100") == "to be or not to be")
        #expect(try inflated("011200edff746f206265206f72206e6f7420746f206265") == "to be or not to be")
        for broken in ["", "2bc957", "07", "011200edfe746f", "0112", "05"] {
            #expect(throws: DeflateError.self, "\(broken)") { try inflated(broken) }
        }
        #expect(throws: DeflateError.tooLarge(10)) {
            try Inflater.inflate(
                Data([
                    0x2b, 0xc9, 0x57, 0x48, 0x4a, 0x55, 0xc8, 0x2f, 0x52, 0xc8, 0xcb, 0x2f, 0x51, 0x28, 1,
                    0x71, 0,
                ]), limit: 10)
        }
    }
}
