#if Server
    import Foundation
    import StrataServer
    import Testing

    @Suite struct QueryTests {
        /// Eight people and what is asked about them.
        private func bench() async throws -> Bench {
            let bench = try Bench()
            let people: JSONValue = [
                [
                    "person_id": "1", "name": "Ann", "age": 20, "score": 1.5, "member": true, "tags": ["a", "b"],
                    "born": 1000,
                ],
                [
                    "person_id": "2", "name": "Bob", "age": 30, "score": 2.5, "member": false, "tags": ["b"],
                    "born": 2000,
                ],
                ["person_id": "3", "name": "Cid", "age": 40, "score": -3, "member": true, "tags": []],
                ["person_id": "4", "name": "", "age": 50, "tags": ["1", "2.5", "true"]],
                ["person_id": "5", "age": 25, "name": "a,b&c=d", "place": ["lat": 10, "lon": 20]],
                ["person_id": "6", "age": 25, "place": ["lat": 10, "lon": 21]],
                ["person_id": "7", "place": ["lat": -10, "lon": 179.5], "friend": "1"],
                ["person_id": "8", "place": ["lat": -10, "lon": -179.5], "friend": "2"],
            ]
            let answer = await bench.send("POST", "/person", people)
            try #require(answer.json?["failed"] == [], "\(answer.text)")
            return bench
        }

        private func found(_ bench: Bench, _ query: String, _ headers: [String: String] = [:]) async -> String {
            let answer = await bench.send("GET", "/person?\(query)", headers: headers)
            guard let elements = answer.json?.elements else { return "\(answer.status)" }
            return elements.map { $0["person_id"]?.string ?? "-" }.joined()
        }

        @Test("Every operator finds what it says")
        func operators() async throws {
            let bench = try await bench()
            for (query, expected) in [
                ("", "12345678"), ("age=25", "56"), ("age[ne]=25", "123478"), ("age[lt]=25", "1"),
                ("age[lte]=25", "156"),
                ("age[gt]=30", "34"), ("age[gte]=30", "234"), ("age[gte]=20&age[lte]=30", "1256"),
                ("age[in]=20,40", "13"),
                ("age[nin]=20,25,30", "3478"), ("age[null]=true", "78"), ("age[null]=false", "123456"),
                ("score[gt]=2", "2"), ("score=-3", "3"), ("score[lt]=1.6", "13"), ("member=true", "13"),
                ("member=false", "2"),
                ("member[ne]=true", "245678"), ("name=Bob", "2"), ("name[in]=Ann,Cid", "13"), ("name[gt]=B", "235"),
                ("name[empty]=true", "4"), ("name[empty]=false", "1235678"), ("name=a%2Cb%26c%3Dd", "5"),
                ("born[gte]=1500", "2"),
                ("tags=b", "12"), ("tags[ne]=b", "345678"), ("tags[in]=a,x", "1"), ("tags[nin]=a,b", "345678"),
                ("tags=1", "4"),
                ("tags=2.5", "4"), ("tags=true", "4"), ("tags[null]=true", "5678"), ("tags[null]=false", "1234"),
                ("friend=1", "7"),
                ("friend[in]=1,2", "78"), ("age%5Bgt%5D=30", "34"), ("age[gt]=20&name=Bob", "2"),
                ("age[gt]=20&age[gt]=30", "34"),
                ("[or1].age=20&[or1].name=Bob", "12"), ("age[gte]=30&[or1].name=Ann&[or1].name=Cid", "3"),
                (
                    "age[gt]=19&[or1].[and1].name=Ann&[or1].[and1].age[lt]=21&[or1].[and2].name=Bob&[or1].[and2].age[ne]=30&[or1].name=Cid",
                    "13"
                ),
                ("%5Bor1%5D.age=20&%5Bor1%5D.%5Band1%5D.age=30&%5Bor1%5D.%5Band1%5D.name=Bob", "12"),
                ("place[near]=10,20.1", "5678"), ("place[near]=10,20.9", "6578"), ("place[near]=10,20,0.01", "5"),
                ("place[within]=10,20,0.02", "56"), ("place[within]=9,19,11,20.5", "5"),
                ("place[within]=-11,179,-9,-179", "78"),
                ("place[null]=false", "5678"), ("lastmoddate[gte]=1700000000000", "12345678"),
                ("sm_owner[null]=true", "12345678"),
                ("person_id[in]=3,4", "34"), ("nothing=1", ""), ("nothing[ne]=1", "12345678"),
            ] {
                #expect(await found(bench, query) == expected, "\(query)")
            }
        }

        @Test(
            "What cannot be asked is a bad request",
            arguments: [
                "age=x", "age[foo]=1", "age[gt", "[or2].age=1&[or1].age=2", "[or1].[or1].age=1", "[or1].[and0].age=1",
                "age[empty]=true",
                "member=1", "place=1,2", "place[near]=1", "place[near]=91,0", "place[near]=a,b", "place[within]=1,2",
                "age[near]=1,2",
                "age[null]=1", "tags[gt]=1", "[or1].place[near]=1,2", "=1", "[gt]=1", "age=%FF", "Name=1",
                "place[within]=1,2,3,4,5",
            ])
        func badQueries(query: String) async throws {
            let bench = try await bench()
            #expect(await found(bench, query) == "400")
        }

        @Test("Results are ordered, cut and counted")
        func paging() async throws {
            let bench = try await bench()
            let order = ["X-StackMob-OrderBy": "age:desc,person_id:asc"]
            #expect(await found(bench, "", order) == "43256178")
            for (range, status, expected, content) in [
                ("objects=0-2", 206, "432", "0-2/8"), ("objects=2-3", 206, "25", "2-3/8"),
                ("objects=6-", 206, "78", "6-7/8"),
                ("objects=0-7", 200, "43256178", nil), ("objects=0-100", 200, "43256178", nil),
                ("objects=0-0", 206, "4", "0-0/8"), ("objects=8-9", 206, "", "*/8"),
                ("bytes=0-1", 200, "43256178", nil),
            ] {
                let answer = await bench.send("GET", "/person", headers: order.merging(["Range": range]) { $1 })
                #expect(answer.status == status, "\(range)")
                #expect(answer.json?.elements?.compactMap { $0["person_id"]?.string }.joined() == expected, "\(range)")
                #expect(answer.header("Content-Range") == content, "\(range)")
            }
            for range in ["objects=3-2", "objects=-1-2", "objects=a-b", "objects=1"] {
                #expect(await bench.send("GET", "/person", headers: ["Range": range]).status == 400, "\(range)")
            }
            #expect(await bench.send("GET", "/person?age=99", headers: ["Range": "objects=0-0"]).status == 200)
            for order in ["age:up", ":asc", "tags:asc", "place:asc"] {
                #expect(
                    await bench.send("GET", "/person", headers: ["X-StackMob-OrderBy": order]).status == 400, "\(order)"
                )
            }
        }

        @Test("A part of what is near is counted like the whole")
        func nearParts() async throws {
            let bench = try await bench()
            for query in [
                "place[near]=10,20", "place[near]=10,20&person_id[ne]=5", "place[near]=10,20,0.02",
                "place[near]=10,20,4&person_id[in]=5,6,7", "place[near]=10,20&[or1].person_id=5&[or1].person_id=6",
            ] {
                let whole = await bench.send("GET", "/person?\(query)").json?.elements?.count ?? 0
                let part = await bench.send("GET", "/person?\(query)", headers: ["Range": "objects=0-1"])
                #expect(part.header("Content-Range") == (whole > 2 ? "0-1/\(whole)" : nil), "\(query)")
            }
            let part = await bench.send("GET", "/person?place[near]=10,20", headers: ["Range": "objects=0-1"])
            #expect(part.header("Content-Range") == "0-1/4")
        }

        @Test("Answers to near carry distances in radians, and keep their order whatever the header says")
        func distances() async throws {
            let bench = try await bench()
            let answer = await bench.send(
                "GET", "/person?place[near]=10,20", headers: ["X-StackMob-OrderBy": "person_id:desc"])
            let first = try #require(answer.json?.elements?[1])
            #expect(first["person_id"] == "6")
            // One degree along the parallel of 10° north, by the haversine formula.
            let half = 0.5 * Double.pi / 180
            let expected = 2 * asin(cos(10 * Double.pi / 180) * sin(half))
            #expect(abs((first["place"]?["distance"]?.double ?? 0) - expected) < 1e-12)
        }

        @Test("Fields are selected, references expanded")
        func shapes() async throws {
            let bench = try Bench()
            await bench.send(
                "POST", "/author",
                [
                    "author_id": "a", "name": "Ursula", "secret": 1,
                    "books": [
                        ["book_id": "b1", "title": "One", "publisher": ["publisher_id": "p", "city": "NY"]],
                        ["book_id": "b2", "title": "Two"],
                    ],
                ], headers: ["X-StackMob-Relations": "books=book&books.publisher=publisher"])
            func get(_ headers: [String: String]) async -> JSONValue? {
                await bench.send("GET", "/author/a", headers: headers).json
            }
            #expect(await get([:])?["books"] == ["b1", "b2"])
            let one = await get(["X-StackMob-Expand": "1"])
            #expect(one?["books"]?.elements?[0]["title"] == "One")
            #expect(one?["books"]?.elements?[0]["publisher"] == "p")
            let two = await get(["X-StackMob-Expand": "2"])
            #expect(two?["books"]?.elements?[0]["publisher"]?["city"] == "NY")
            #expect(await get(["X-StackMob-Select": "name"]) == ["author_id": "a", "name": "Ursula"])
            let selected = await get(["X-StackMob-Select": "name,books.title", "X-StackMob-Expand": "1"])
            #expect(
                selected == [
                    "author_id": "a", "name": "Ursula",
                    "books": [["book_id": "b1", "title": "One"], ["book_id": "b2", "title": "Two"]],
                ])
            let starred = await get(["X-StackMob-Select": "books.*", "X-StackMob-Expand": "1"])
            #expect(starred?["books"]?.elements?[1]["lastmoddate"] != nil && starred?["name"] == nil)
            for bad in ["4", "x", "-1"] {
                #expect(await bench.send("GET", "/author/a", headers: ["X-StackMob-Expand": bad]).status == 400)
            }
            // A book that is gone stays a key.
            await bench.send("DELETE", "/book/b2")
            #expect(await get(["X-StackMob-Expand": "1"])?["books"]?.elements?[1] == "b2")
        }
    }
#endif
