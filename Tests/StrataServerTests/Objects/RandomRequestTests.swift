#if Server
    import Foundation
    import SeededRandom
    import StrataServer
    import Testing

    /// Requests made of parts that are right, wrong or nearly right: whatever comes, the server says what is wrong, and
    /// the mistake is never its own.
    @Suite struct RandomRequestTests {
        static let count = ProcessInfo.processInfo.environment["STRATA_SERVER_LOAD"] == nil ? 2_000 : 100_000

        @Test("Random requests are answered, none of them with a failure of the server")
        func random() async throws {
            let seed = RunSeed.value()
            var random = SplitMix64(seed: seed)
            let bench = try Bench()
            let ann = try await bench.signUp("ann")
            var statuses: [Int: Int] = [:]
            for round in 0..<Self.count {
                let method = Self.methods.randomElement(using: &random)!
                var target = ""
                for _ in 0..<Int.random(in: 0...4, using: &random) {
                    target += "/" + Self.segments.randomElement(using: &random)!
                }
                if Bool.random(using: &random) {
                    let pairs = (0..<Int.random(in: 1...3, using: &random)).map { _ in
                        Self.keys.randomElement(using: &random)! + "=" + Self.values.randomElement(using: &random)!
                    }
                    target += "?" + pairs.joined(separator: "&")
                }
                var headers: [String: String] = [:]
                for _ in 0..<Int.random(in: 0...2, using: &random) {
                    let header = Self.headers.randomElement(using: &random)!
                    headers[header.0] = header.1
                }
                let isPlain = Bool.random(using: &random)
                let body: JSONValue? =
                    method == "GET"
                    ? Optional.none : isPlain ? ["n": .integer(Int64(round % 7)), "t": "a"] : Self.body(3, &random)
                let answer = await bench.send(
                    method, target, body, headers: headers, session: Bool.random(using: &random) ? ann : nil)
                statuses[answer.status, default: 0] += 1
                let isFine = answer.status < 500 || answer.status == 501
                #expect(
                    isFine,
                    "seed \(seed), round \(round): \(method) \(target) \(headers) \(body?.description ?? "") gave \(answer.status) \(answer.text)"
                )
                if answer.status >= 400, answer.status != 412 {
                    #expect(
                        answer.json?["error"]?.string?.isEmpty == false || method == "HEAD"
                            || headers.values.contains("HEAD"))
                }
                if !isFine { break }
            }
            #expect(statuses[200, default: 0] > 100 && statuses[201, default: 0] > 20, "seed \(seed): \(statuses)")
        }

        private static let methods = ["GET", "GET", "POST", "POST", "PUT", "DELETE", "HEAD", "PATCH"]
        private static let segments = [
            "todo", "todo", "todo", "todo", "item", "user", "a", "b", "c", "tags", "n", "item", "a,b", "%FF", "%00",
            "_batch", "_changes",
            "_files", "health", "logout", "accessToken", "loggedInUser", "%2e%2e", "Todo", "sm_x", "",
        ]
        private static let keys = [
            "n", "t", "tags", "item", "place[near]", "place[within]", "n[gt]", "n[in]", "n[nin]", "t[empty]",
            "tags[ne]", "[or1].n",
            "[or1].[and1].t", "[or1].[and1].n[lte]", "todo_id", "since", "limit", "x[null]", "[or2].n", "[", "]", "%5B",
            "a[b][c]", "lastmoddate[gt]",
        ]
        private static let values = [
            "1", "-1", "1.5", "true", "false", "a", "", "%00", "1,2", "1,2,3", "-90,-180,90,180", "a,b,,",
            "9223372036854775807", "1e400", "nan", "%27",
            "%C3%BC",
        ]
        private static let headers: [(String, String)] = [
            ("Range", "objects=0-1"), ("Range", "objects=1-"),
            ("Range", "objects=9223372036854775806-9223372036854775807"),
            ("X-StackMob-OrderBy", "n:desc,t:asc"), ("X-StackMob-OrderBy", "tags:asc"),
            ("X-StackMob-Select", "n,item.n,*"),
            ("X-StackMob-Expand", "3"), ("X-StackMob-Relations", "item=item&item.todo=todo&items=item"),
            ("X-StackMob-Relations", "item=todo"),
            ("X-StackMob-CascadeDelete", "true"), ("If-Match", "\"1\""), ("Idempotency-Key", "k"),
            ("X-HTTP-Method-Override", "PUT"),
            ("X-HTTP-Method-Override", "HEAD"), ("Accept", "application/vnd.stackmob+json; version=1"),
            ("Authorization", "MAC id=\"x\""),
            ("Accept", "application/vnd.stackmob+json; version=x"),
        ]
        private static let names = [
            "n", "n", "t", "tags", "item", "items", "place", "todo_id", "item_id", "n[inc]", "x[inc]", "flag",
            "createddate", "sm_owner", "password",
            "username", "A", "requests", "method", "path", "lat", "lon", "todo",
        ]

        private static func body(_ depth: Int, _ random: inout SplitMix64) -> JSONValue {
            switch Int.random(in: 0...(depth > 0 ? 11 : 7), using: &random) {
            case 0: return .null
            case 1: return .boolean(Bool.random(using: &random))
            case 2: return .integer([0, 1, -1, .max, .min].randomElement(using: &random)!)
            case 3: return .double([0.5, -1e300, 91].randomElement(using: &random)!)
            case 4:
                return .string(
                    ["a", "b", "", "\u{0}", "ü", "Content-Type: x\nContent-Transfer-Encoding: base64\n\nYQ=="]
                        .randomElement(using: &random)!)
            case 5: return ["lat": 1, "lon": 2]
            case 6: return ["n": 1, "t": "a", "tags": ["a", 1]]
            case 7: return ["todo_id": .string(["a", "b", "c"].randomElement(using: &random)!), "n": 1]
            case 8: return .array((0..<Int.random(in: 0...3, using: &random)).map { _ in body(depth - 1, &random) })
            default:
                var members: JSONObject = [:]
                for _ in 0..<Int.random(in: 0...4, using: &random) {
                    members[names.randomElement(using: &random)!] = body(depth - 1, &random)
                }
                return .object(members)
            }
        }
    }
#endif
