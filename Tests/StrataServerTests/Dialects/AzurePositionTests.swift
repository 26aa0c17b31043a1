#if Server
    import Foundation
    import StrataAzure
    import StrataServer
    import Testing

    /// `indexof` and `trim` in filters, which conditions of the core express, and functions that they do not.
    @Suite struct AzurePositionTests {
        private static let texts: [String?] = [nil, "a", "ab", "ba", "aab", "bäb", "😀ab", "AB"]

        /// The first place of a part in UTF-16 units; -1 if there is no such part.
        private static func place(of part: String, in text: String) -> Int {
            let (units, wanted) = (Array(text.utf16), Array(part.utf16))
            guard wanted.count <= units.count else { return -1 }
            return (0...(units.count - wanted.count)).first { units[$0...].starts(with: wanted) } ?? -1
        }

        private func bench() async throws -> Bench {
            let bench = try Bench.withDialects()
            for (number, text) in Self.texts.enumerated() {
                let name: JSONValue = text.map(JSONValue.string) ?? .null
                let made = await bench.azure(
                    .mobileApps, "POST", "tables/Item",
                    ["id": .string("\(number)"), "name": name, "part": "b", "count": 1])
                try #require(made.status == 201, "\(made.text)")
            }
            return bench
        }

        private func found(_ filter: String, _ bench: Bench) async -> [String]? {
            let answer = await bench.azure(.mobileApps, "GET", "tables/Item?$orderby=id&$filter=\(escaped(filter))")
            return answer.json?.elements?.compactMap { $0["id"]?.string }
        }

        @Test("indexof is compared with whole numbers as the place that it is, and null has none")
        func places() async throws {
            let bench = try await bench()
            let operators: [(word: String, holds: (Int, Int) -> Bool)] = [
                ("eq", ==), ("ne", !=), ("lt", <), ("le", <=), ("gt", >), ("ge", >=),
            ]
            func ids(_ part: String, _ isFound: (Int) -> Bool) -> [String] {
                Self.texts.indices.filter { index in
                    Self.texts[index].map { isFound(Self.place(of: part, in: $0)) } ?? false
                }.map { "\($0)" }
            }
            for part in ["a", "b", "ab"] {
                for (word, holds) in operators {
                    for number in -2...3 {
                        let filter = "indexof(name,'\(part)') \(word) \(number)"
                        let wanted = ids(part) { holds($0, number) }
                        #expect(await found(filter, bench) == wanted, "\(filter)")
                        let others = ids(part) { !holds($0, number) }
                        #expect(await found("not (\(filter))", bench) == others, "not \(filter)")
                    }
                }
            }
            #expect(await found("1 lt indexof(name,'b')", bench) == ["4", "6"])
            #expect(await found("indexof(name,part) eq 1", bench) == ["2"])
            #expect(await found("indexof(tolower(name),'b') eq 1 and count eq 1", bench) == ["2", "7"])
            #expect(await found("indexof(name,null) ge 0", bench) == [])
            #expect(await found("indexof(name,'a') le 9223372036854775807", bench)?.count == 7)
        }

        @Test("trim is compared with texts as the text without the spaces around it, and null has none")
        func spaces() async throws {
            let bench = try Bench.withDialects()
            let texts: [String?] = [nil, "", "  ", "ab", " ab", "ab \n", "\t a b ", "a  b", #" \E.* "#, "AB", " b"]
            for (number, text) in texts.enumerated() {
                let id = JSONValue.string(String(UnicodeScalar(UInt8(97 + number))))
                let made = await bench.azure(
                    .mobileApps, "POST", "tables/Item", ["id": id, "name": text.map(JSONValue.string) ?? .null])
                try #require(made.status == 201, "\(made.text)")
            }
            func ids(_ holds: (String) -> Bool) -> [String] {
                texts.indices.filter { index in
                    texts[index].map { holds($0.trimmingCharacters(in: .whitespacesAndNewlines)) } ?? false
                }.map { String(UnicodeScalar(UInt8(97 + $0))) }
            }
            for part in ["", "ab", "a", "b", " ", "a ", " b", " ab", "ab ", #"\E"#, #"\E.*"#, ".*", "A", "  "] {
                let conditions: [(filter: String, holds: (String) -> Bool)] = [
                    ("trim(name) eq '\(part)'", { $0 == part }), ("'\(part)' ne trim(name)", { $0 != part }),
                    ("startswith(trim(name),'\(part)')", { part.isEmpty || $0.hasPrefix(part) }),
                    ("endswith(trim(name),'\(part)')", { part.isEmpty || $0.hasSuffix(part) }),
                    ("substringof('\(part)',trim(name)) eq true", { part.isEmpty || $0.contains(part) }),
                    ("trim(tolower(name)) eq '\(part)'", { $0.lowercased() == part }),
                ]
                for (filter, holds) in conditions {
                    #expect(await found(filter, bench) == ids(holds), "\(filter)")
                    #expect(await found("not (\(filter))", bench) == ids { !holds($0) }, "not \(filter)")
                }
            }
            #expect(await found("trim(null) eq 'a'", bench) == [])
        }

        @Test("Functions that the server does not have are named in the answer")
        func missing() async throws {
            let bench = try await bench()
            let filters = [
                ("trim(name) eq part", "trim"), ("trim(name) lt 'a'", "trim"), ("trim(name,part) eq 'a'", "trim"),
                ("startswith('a',trim(name))", "trim"), ("length(trim(name)) gt 1", "trim"),
                ("replace(name,'a','b') eq 'b'", "replace"),
                ("indexof(name,'a') add 1 eq 2", "indexof"), ("indexof(name,'a') eq 0.5", "indexof"),
                ("indexof(name,'a') eq count", "indexof"), ("indexof(name) eq 1", "indexof"),
                ("substring(name,indexof(name,'a')) eq 'a'", "indexof"), ("indexof(name,'a')", "indexof"),
            ]
            for (filter, name) in filters {
                let answer = await bench.azure(.mobileApps, "GET", "tables/Item?$filter=\(escaped(filter))")
                #expect(answer.status == 400, "\(filter): \(answer.text)")
                #expect(answer.json?["error"]?.string?.contains(name) == true, "\(filter): \(answer.text)")
            }
        }
    }
#endif
