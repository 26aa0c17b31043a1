#if Server
    import Foundation
    import StrataAzure
    import StrataServer
    import Testing

    @Suite struct AzureTests {
        @Test("Rows are made, read, changed and deleted in the first version, whose own columns come when asked for")
        func first() async throws {
            let bench = try Bench.withDialects()
            let made = await bench.azure(
                .mobileServices, "POST", "tables/TodoItem?__systemProperties=*", ["text": "Milk", "complete": false])
            #expect(made.status == 201, "\(made.text)")
            let id = try #require(made.json?["id"]?.string)
            #expect(made.header("Location") == "/azure1/tables/TodoItem/\(id)")
            let version = try #require(made.json?["__version"]?.string)
            #expect(made.header("ETag") == "\"\(version)\"")
            let plain = await bench.azure(.mobileServices, "GET", "tables/TodoItem/\(id)")
            #expect(Set(plain.json?.members?.names ?? []) == ["id", "text", "complete"])
            bench.advance(seconds: 1)
            let changed = await bench.azure(
                .mobileServices, "PATCH", "tables/TodoItem/\(id)", ["id": .string(id), "complete": true],
                headers: ["If-Match": "\"\(version)\""])
            #expect(changed.status == 200)
            #expect(changed.json?["complete"] == true)
            let stale = await bench.azure(
                .mobileServices, "PATCH", "tables/TodoItem/\(id)?__systemProperties=__version", ["complete": false],
                headers: ["If-Match": "\"\(version)\""])
            #expect(stale.status == 412)
            #expect(stale.json?["complete"] == true)
            #expect(stale.json?["__version"] != .string(version))
            let own = await bench.azure(.mobileServices, "PATCH", "tables/TodoItem/\(id)", ["__version": "1"])
            #expect(own.status == 400)
            #expect(own.json?["code"] == 400)
            #expect(own.json?["error"]?.string?.hasPrefix("Error: ") == true)
            let twice = await bench.azure(.mobileServices, "POST", "tables/TodoItem", ["id": .string(id)])
            #expect(twice.status == 409)
            #expect(await bench.azure(.mobileServices, "DELETE", "tables/TodoItem/\(id)").status == 204)
            #expect(await bench.azure(.mobileServices, "GET", "tables/TodoItem/\(id)").status == 404)
        }

        @Test("Deleted rows are told to clients that ask, and come back with all they held")
        func deleted() async throws {
            let bench = try Bench.withDialects()
            let version = AzureVersion.mobileApps
            await bench.azure(
                version, "POST", "tables/Note", ["id": "a", "text": "A", "when": "2020-01-01T00:00:00.000Z"])
            await bench.azure(version, "POST", "tables/Note", ["id": "b", "text": "B"])
            bench.advance(seconds: 10)
            let since = "2023-11-14T22:13:25.000Z"
            #expect(await bench.azure(version, "DELETE", "tables/Note/a").status == 200)
            let live = await bench.azure(version, "GET", "tables/Note")
            #expect(live.json?.elements?.map { $0["id"] } == ["b"])
            let filter = escaped("(updatedAt ge datetimeoffset'\(since)')")
            let pulled = await bench.azure(
                version, "GET",
                "tables/Note?$filter=\(filter)&$orderby=updatedAt%20asc&$skip=0&$top=50&__includeDeleted=true")
            #expect(pulled.json?.elements?.map { $0["id"] } == ["a"], "\(pulled.text)")
            #expect(pulled.json?.elements?.first?["deleted"] == true)
            let all = await bench.azure(
                version, "GET", "tables/Note?$orderby=id&__includeDeleted=true&$inlinecount=allpages")
            #expect(all.json?["results"]?.elements?.map { $0["id"] } == ["a", "b"])
            #expect(all.json?["count"] == 2)
            let second = await bench.azure(
                version, "GET", "tables/Note?$orderby=id%20desc&__includeDeleted=true&$skip=1&$top=1")
            #expect(second.json?.elements?.map { $0["id"] } == ["a"])
            let back = await bench.azure(version, "POST", "tables/Note/a")
            #expect(back.status == 201, "\(back.text)")
            #expect(back.json?["text"] == "A")
            #expect(back.json?["when"] == "2020-01-01T00:00:00.000Z")
            #expect(back.json?["deleted"] == false)
            #expect(await bench.azure(version, "POST", "tables/Note/none").status == 404)
        }

        @Test("Datasync puts whole rows, lists them as items, and tells deleted rows from others")
        func datasync() async throws {
            let bench = try Bench.withDialects()
            let made = await bench.azure(.datasync, "POST", "tables/Note", ["text": "A", "more": 1])
            #expect(made.status == 201, "\(made.text)")
            let id = made.json?["id"]?.string ?? ""
            let put = await bench.azure(.datasync, "PUT", "tables/Note/\(id)", ["id": .string(id), "text": "B"])
            #expect(put.json?["text"] == "B")
            #expect(put.json?["more"] == .null)
            let list = await bench.azure(.datasync, "GET", "tables/Note?$count=true&$filter=\(escaped("text eq 'B'"))")
            #expect(list.json?["items"]?.elements?.count == 1)
            #expect(list.json?["count"] == 1)
            let tag = put.header("ETag") ?? ""
            #expect(
                await bench.azure(.datasync, "GET", "tables/Note/\(id)", headers: ["If-None-Match": tag]).status == 304)
            #expect(await bench.azure(.datasync, "DELETE", "tables/Note/\(id)").status == 204)
            #expect(await bench.azure(.datasync, "GET", "tables/Note/\(id)").status == 410)
            #expect(await bench.azure(.datasync, "GET", "tables/Note/never").status == 404)
            let back = await bench.azure(
                .datasync, "PUT", "tables/Note/\(id)?__includedeleted=true",
                ["id": .string(id), "text": "C", "deleted": false])
            #expect(back.status == 200, "\(back.text)")
            #expect(await bench.azure(.datasync, "GET", "tables/Note/\(id)").json?["text"] == "C")
            for place in 0..<120 {
                await bench.azure(.datasync, "POST", "tables/Many", ["id": .string(String(format: "%03d", place))])
            }
            let page = await bench.azure(.datasync, "GET", "tables/Many?$orderby=id")
            #expect(page.json?["items"]?.elements?.count == 100)
            let next = try #require(page.json?["nextLink"]?.string)
            let rest = await bench.azure(.datasync, "GET", "tables/Many?\(next)")
            #expect(rest.json?["items"]?.elements?.count == 20)
            #expect(rest.json?["items"]?.elements?.first?["id"] == "100")
        }

        @Test("Filters find what they say, functions and nulls among them")
        func filters() async throws {
            let bench = try Bench.withDialects()
            let rows: [JSONObject] = [
                ["id": "1", "name": "Ann", "count": 1, "price": 1.5, "done": true, "at": "2012-05-21T13:14:15.300Z"],
                [
                    "id": "2", "name": "bob's", "count": -7, "price": 20, "done": false,
                    "at": "1969-12-31T23:59:59.000Z",
                ],
                ["id": "3", "name": "ANTON", "count": 12, "price": -0.5], ["id": "4"],
            ]
            for row in rows {
                let made = await bench.azure(.mobileApps, "POST", "tables/Item", .object(row))
                try #require(made.status == 201, "\(made.text)")
            }
            let expected: [(String, [String])] = [
                ("(name eq 'Ann')", ["1"]), ("name eq 'bob''s'", ["2"]), ("(name ne 'Ann')", ["2", "3"]),
                ("name eq null", ["4"]), ("name ne null", ["1", "2", "3"]), ("(count gt 0)", ["1", "3"]),
                ("count lt 1l", ["2"]), ("price ge 1.5d", ["1", "2"]), ("price eq 20m", ["2"]),
                ("(done eq true)", ["1"]),
                ("done", ["1"]), ("not(done eq true)", ["2"]), ("not(name eq 'Ann')", ["2", "3"]),
                ("not((name eq 'Ann') and (count eq 1))", ["2", "3"]),
                ("(name eq 'Ann') or (count eq 12)", ["1", "3"]), ("(1 eq 1)", ["1", "2", "3", "4"]), ("(1 eq 0)", []),
                ("startswith(name,'An')", ["1"]), ("endswith(name,'s')", ["2"]), ("substringof('ob',name)", ["2"]),
                ("contains(name,'ob')", ["2"]), ("(tolower(name) eq tolower('ANN'))", ["1"]),
                ("startswith(tolower(name),tolower('AN'))", ["1", "3"]), ("not startswith(name,'A')", ["2"]),
                ("startswith(name,'A') eq false", ["2"]), ("((count add 1) eq 2)", ["1"]),
                ("(count mul 2) eq 24", ["3"]),
                ("(count mod 5) eq 2", ["3"]), ("count sub 1 lt 0 and count gt -10", ["2"]),
                ("floor(price) eq 1", ["1"]),
                ("ceiling(price) eq 2", ["1"]), ("length(name) eq 5", ["2", "3"]),
                ("concat(name,'x') eq 'Annx'", ["1"]),
                ("substring(name,1,2) eq 'nn'", ["1"]), ("substring(name,3) eq 'ON'", ["3"]),
                ("year(at) eq 2012", ["1"]),
                ("month(at) eq 12", ["2"]),
                ("day(at) eq 21 and hour(at) eq 13 and minute(at) eq 14 and second(at) eq 15", ["1"]),
                ("at ge datetime'2012-05-21T13:14:15.300Z'", ["1"]),
                ("at lt datetimeoffset'1970-01-01T00:00:00.000Z'", ["2"]),
                ("at eq cast(2012-05-21T13:14:15.300Z,Edm.DateTimeOffset)", ["1"]), ("id in ('1','3')", ["1", "3"]),
                ("deleted eq false", ["1", "2", "3", "4"]), ("toupper(name) eq 'ANN'", ["1"]),
                ("round(price) eq 2", ["1"]),
            ]
            for (filter, wanted) in expected {
                let answer = await bench.azure(
                    .mobileApps, "GET", "tables/Item?$orderby=id&$filter=\(escaped(filter))")
                #expect(answer.json?.elements?.compactMap { $0["id"]?.string } == wanted, "\(filter): \(answer.text)")
            }
            let page = await bench.azure(
                .mobileApps, "GET",
                "tables/Item?$orderby=count%20desc&$top=1&$skip=1&$select=name&$inlinecount=allpages")
            #expect(page.json?["results"]?.elements?.map { $0["name"] } == ["Ann"])
            #expect(page.json?["results"]?.elements?.first?["price"] == nil)
            #expect(page.json?["count"] == 4)
        }

        @Test("Queries that make no sense are refused, and never end the server")
        func hostile() async throws {
            let bench = try Bench.withDialects()
            await bench.azure(.mobileApps, "POST", "tables/Item", ["id": "1", "name": "a", "tags": ["a"], "n": 1])
            let filters = [
                "", "(", "name", "name eq", "name eq 'a", "name eq 'a' 'b'", "foo(name)", "length()",
                "name add 1 eq 2",
                "startswith(n,'a')", "tags eq 'a'", "name eq datetime'x'", "n eq 1e999", "cast(", "cast(1", "not",
                "in (1)",
                "n in 1", "n eq 99999999999999999999999x", "name[0] eq 1", "-", "name eq x'00'",
                String(repeating: "(", count: 5000) + "1 eq 1" + String(repeating: ")", count: 5000),
                String(repeating: "not ", count: 5000) + "(1 eq 1)",
                (0..<6000).map { "n eq \($0)" }.joined(separator: " or "),
            ]
            for filter in filters {
                let answer = await bench.azure(.mobileApps, "GET", "tables/Item?$filter=\(escaped(filter))")
                #expect(answer.status == 400, "\(filter.prefix(60)): \(answer.status) \(answer.text.prefix(100))")
                #expect(answer.json?["error"]?.string != nil)
            }
            for path in [
                "tables/Item?$top=1001", "tables/Item?$skip=-1", "tables/Item?$foo=1", "tables/Item?$orderby=n%20up",
            ] {
                #expect(await bench.azure(.mobileApps, "GET", path).status == 400, "\(path)")
            }
            #expect(await bench.azure(.mobileApps, "GET", "tables/9%20x").status == 404)
            #expect(await bench.send("GET", "/azure2/tables/Item").status == 400, "the version is missing")
            #expect(await bench.send("GET", "/azure1/tables/Item").status == 401)
            for id in ["a+b", "a/b", "", " ", ".."] where !id.isEmpty {
                let answer = await bench.azure(.mobileApps, "POST", "tables/Item", ["id": .string(id)])
                #expect(answer.status == 400, "\(id)")
            }
            #expect(await bench.azure(.mobileApps, "POST", "tables/Item", ["updatedAt": "x"]).status == 400)
            #expect(await bench.azure(.mobileApps, "POST", "tables/Item", [1]).status == 400)
            let long = await bench.azure(.mobileApps, "PATCH", "tables/Item/1", ["id": "2"])
            #expect(long.status == 400)
            #expect(await bench.send("GET", "/health").status == 200)
        }

        @Test("An account logs in by name and password, renews its token, and calls custom code")
        func logIn() async throws {
            let bench = try Bench.withDialects(methods: [
                "whoami": { call throws(ServerError) in
                    ServerResponse(json: ["me": call.account.map(JSONValue.string) ?? .null])
                }
            ])
            _ = try await bench.signUp("ann")
            let first = await bench.azure(
                .mobileServices, "POST", "login/custom", ["username": "ann", "password": "secret"])
            #expect(first.json?["user"]?["userId"] == "user:ann", "\(first.text)")
            // It is asked for at the root of the host, wherever the tables are.
            let second = await bench.send(
                "POST", "/.auth/login/user", ["username": "ann", "password": "secret"])
            let token = try #require(second.json?["authenticationToken"]?.string, "\(second.text)")
            let wrong = await bench.send("POST", "/.auth/login/user", ["username": "ann", "password": "no"])
            #expect(wrong.status == 401)
            #expect(await bench.azure(.mobileApps, "GET", "api/whoami", token: token).json == ["me": "ann"])
            let renewed = await bench.send("GET", "/.auth/refresh", headers: ["X-ZUMO-AUTH": token])
            let other = try #require(renewed.json?["authenticationToken"]?.string)
            #expect(await bench.azure(.mobileApps, "GET", "api/whoami", token: token).status == 401)
            let bearer = await bench.azure(
                .datasync, "GET", "api/whoami", headers: ["Authorization": "Bearer \(other)"])
            #expect(bearer.json == ["me": "ann"])
            #expect(await bench.azure(.mobileApps, "GET", "api/none").status == 404)
            #expect(await bench.send("POST", "/.auth/login/google", ["access_token": "x"]).status == 501)
        }
    }
#endif
