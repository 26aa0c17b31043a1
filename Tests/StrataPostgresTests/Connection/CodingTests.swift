#if Postgres
    import Foundation
    import PostgresFixture
    import SeededRandom
    import StrataStore
    import Testing

    @testable import StrataPostgres

    @Suite("Values go to the server and come back", .needsPostgres)
    struct CodingTests {
        private func connection() throws -> PostgresConnection {
            try PostgresConnection(PostgresSettings(address: PostgresServer.shared.url(of: "postgres")))
        }

        @Test func decimalsAreExact() throws {
            let connection = try connection()
            let seed = RunSeed.value()
            var random = SplitMix64(seed: seed)
            var texts = [
                "0", "1", "-1", "0.5", "10000", "9999", "0.0001", "-0.00001", "12345678901234567890.123456789",
            ]
            texts += ["100000000000000000000000000000000000000", "0.00000000000000000000000000000000000001"]
            for _ in 0..<2000 {
                let digits = (0..<Int.random(in: 1...38, using: &random)).map { _ in
                    Character(String(Int.random(in: 0...9, using: &random)))
                }
                guard let mantissa = Decimal(string: String(digits)) else { continue }
                let number = Decimal(
                    sign: Bool.random(using: &random) ? .plus : .minus,
                    exponent: Int.random(in: -40...40, using: &random), significand: mantissa)
                texts.append(number.description)
            }
            for text in texts {
                var parameters = StatementParameters()
                var isNumber = false
                var bytes = Array(text.utf8)
                bytes.withUnsafeMutableBytes { bytes in
                    parameters.add(PostgresType.numeric.rawValue) {
                        isNumber = NumericCoding.write(UnsafeRawBufferPointer(bytes), to: &$0)
                    }
                }
                #expect(isNumber, "\(text), seed \(seed)")
                let result = try connection.execute("SELECT $1::numeric, trim_scale($1)::text", parameters)
                let back = NumericCoding.text(result.bytes(0, 0)).map { String(decoding: $0, as: UTF8.self) }
                // The server reads the same number, and the text is the shortest.
                #expect(back == result.text(0, 1), "\(text), seed \(seed)")
                #expect(back.flatMap { Decimal(string: $0) } == Decimal(string: text), "\(text), seed \(seed)")
            }
        }

        @Test(arguments: ["", "-", ".", "1e5", "NaN", "1,5", "0x10", " 1"])
        func whatIsNoDecimalIsRefused(text: String) {
            var writer = ByteWriter()
            let isNumber = Array(text.utf8).withUnsafeBytes { NumericCoding.write($0, to: &writer) }
            #expect(!isNumber)
            #expect(writer.count == 0)
        }

        @Test func datesAreRoundedToMicroseconds() throws {
            let connection = try connection()
            let seed = RunSeed.value()
            var random = SplitMix64(seed: seed)
            var dates: [Double] = [
                0, 1, -1, 0.0000004, 0.0000006, -0.0000006, 1e9 + 0.1, -63_114_076_800, 64_092_211_200,
            ]
            for _ in 0..<3000 {
                let magnitude = Double.random(in: 0...11, using: &random)
                dates.append((Bool.random(using: &random) ? 1 : -1) * pow(10, magnitude))
            }
            for seconds in dates {
                let microseconds = try #require(TimestampCoding.microseconds(seconds), "\(seconds), seed \(seed)")
                let back = TimestampCoding.seconds(microseconds)
                #expect(abs(back - seconds) <= 0.5e-6 + seconds.ulp, "\(seconds), seed \(seed)")
                // What was read once stays the same.
                #expect(TimestampCoding.microseconds(back) == microseconds, "\(seconds), seed \(seed)")
                #expect(TimestampCoding.isExact(back), "\(seconds), seed \(seed)")
            }
            for seconds in dates.prefix(200) {
                let microseconds = try #require(TimestampCoding.microseconds(seconds))
                var parameters = StatementParameters()
                parameters.add(PostgresType.timestamp.rawValue) { $0.append(microseconds) }
                let result = try connection.execute(
                    "SELECT $1::timestamptz, (extract(epoch FROM $1::timestamptz) * 1000000)::bigint", parameters)
                #expect(result.integer(0, 0) == microseconds)
                // From 1970 to 2000.
                #expect(result.integer(0, 1) == microseconds + 946_684_800_000_000)
            }
            #expect(TimestampCoding.microseconds(.nan) == nil)
            #expect(TimestampCoding.microseconds(1e14) == nil)
            #expect(TimestampCoding.microseconds(.infinity) == .max)
            #expect(TimestampCoding.seconds(.min) == -.infinity)
        }

        @Test func arraysAndPlainValues() throws {
            let connection = try connection()
            var parameters = StatementParameters()
            parameters.add([Int64.min, -1, 0, Int64.max])
            parameters.add(["", "a\"b", "Ärger 🙂", "{,}"])
            parameters.add([Int64]())
            parameters.add(true)
            parameters.add(Data([0, 1, 255]))
            parameters.add(UUID(uuidString: "00112233-4455-6677-8899-AABBCCDDEEFF")!)
            parameters.add(0.1)
            parameters.add(nil as String?)
            let result = try connection.execute(
                """
                SELECT a, t, $3::bigint[], $4::boolean, $5::bytea, $6::uuid::text, $7::float8::text, $8::text \
                FROM unnest($1::bigint[], $2::text[]) AS u(a, t)
                """, parameters)
            #expect(result.rowCount == 4)
            #expect(result.integers(0) == [.min, -1, 0, .max])
            #expect((0..<4).map { result.text($0, 1) } == ["", "a\"b", "Ärger 🙂", "{,}"])
            #expect(Array(result.bytes(0, 4)) == [0, 1, 255])
            #expect(result.text(0, 5) == "00112233-4455-6677-8899-aabbccddeeff")
            #expect(result.text(0, 6) == "0.1")
            #expect(result.isNull(0, 7))
        }
    }
#endif
