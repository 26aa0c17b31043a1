#if Server
    import Foundation
    import StrataServer
    import Testing

    @Suite struct ParseQueryTests {
        /// A server with posts by authors.
        private func bench() async throws -> Bench {
            let bench = try Bench.withDialects()
            for (id, city) in [("ann", "Paris"), ("bob", "Rome")] {
                await bench.parse("POST", "classes/Author", ["objectId": .string(id), "city": .string(city)])
            }
            let posts: [JSONObject] = [
                [
                    "objectId": "1", "title": "Alpha", "likes": 1, "tags": ["red", "blue"],
                    "author": Self.pointer("ann"),
                    "place": Self.point(0, 0),
                ],
                [
                    "objectId": "2", "title": "beta", "likes": 5, "tags": ["red"], "author": Self.pointer("bob"),
                    "place": Self.point(0, 10), "at": ["__type": "Date", "iso": "2020-01-01T00:00:00.000Z"],
                ],
                [
                    "objectId": "3", "title": "Gamma.x", "likes": 9, "tags": ["a", "a", "b"],
                    "author": Self.pointer("ann"),
                    "place": Self.point(50, 50), "map": ["a": ["b": "c"]],
                ],
                ["objectId": "4"],
            ]
            for post in posts {
                let made = await bench.parse("POST", "classes/Post", .object(post))
                try #require(made.status == 201, "\(made.text)")
            }
            return bench
        }

        private static func pointer(_ id: String) -> JSONValue {
            ["__type": "Pointer", "className": "Author", "objectId": .string(id)]
        }

        private static func point(_ latitude: Double, _ longitude: Double) -> JSONValue {
            ["__type": "GeoPoint", "latitude": .double(latitude), "longitude": .double(longitude)]
        }

        private func ids(_ bench: Bench, _ condition: String, _ more: String = "&order=objectId") async -> [String] {
            let answer = await bench.parse("GET", "classes/Post?where=\(escaped(condition))\(more)")
            #expect(answer.status == 200, "\(condition): \(answer.text)")
            return answer.json?["results"]?.elements?.compactMap { $0["objectId"]?.string } ?? ["?"]
        }

        @Test("A query may be written as forms are: with plus signs for spaces, and %2B for plus signs")
        func formQueries() async throws {
            let bench = try await bench()
            await bench.parse("POST", "classes/Post", ["objectId": "5", "title": "a + b"])
            func found(_ query: String) async -> [String]? {
                await bench.parse("GET", "classes/Post?" + query).json?["results"]?.elements?
                    .compactMap { $0["objectId"]?.string }
            }
            #expect(await found("where=%7B%22likes%22%3A+5%7D") == ["2"])
            #expect(await found("where=%7B%22title%22%3A+%22a+%2B+b%22%7D") == ["5"])
            let stackMob = await bench.send("GET", "/post?title=a+%2B+b")
            #expect(stackMob.json?.elements?.compactMap { $0["post_id"]?.string } == ["5"], "\(stackMob.text)")
            let azure = await bench.azure(.mobileApps, "GET", "tables/Post?$filter=title+eq+'a+%2B+b'")
            #expect(azure.json?.elements?.compactMap { $0["id"]?.string } == ["5"], "\(azure.text)")
        }

        @Test("Tools read the classes and their fields with the master key")
        func schemas() async throws {
            let bench = try await bench()
            await bench.parse(
                "PUT", "classes/Post/1",
                ["readers": ["__op": "AddRelation", "objects": [Self.pointer("bob")]], "done": true])
            #expect(await bench.parse("GET", "schemas/Post").json?["code"] == 119)
            let post = await bench.parse("GET", "schemas/Post", master: true)
            #expect(post.json?["className"] == "Post", "\(post.text)")
            let fields: [String: JSONValue] = [
                "objectId": ["type": "String"], "createdAt": ["type": "Date"], "title": ["type": "String"],
                "likes": ["type": "Number"], "done": ["type": "Boolean"], "tags": ["type": "Array"],
                "place": ["type": "GeoPoint"], "at": ["type": "Date"], "map": ["type": "Object"],
                "author": ["type": "Pointer", "targetClass": "Author"],
                "readers": ["type": "Relation", "targetClass": "Author"],
            ]
            for (name, type) in fields { #expect(post.json?["fields"]?[name] == type, "\(name)") }
            let all = await bench.parse("GET", "schemas", master: true)
            let names = Set(all.json?["results"]?.elements?.compactMap { $0["className"]?.string } ?? [])
            #expect(names.isSuperset(of: ["Post", "Author"]))
            let missing = await bench.parse("GET", "schemas/Nothing", master: true)
            #expect(missing.json?["code"] == 103, "\(missing.text)")
            #expect(await bench.parse("PUT", "schemas/Post", [:], master: true).status == 404)
        }

        @Test("Each constraint finds what it says")
        func constraints() async throws {
            let bench = try await bench()
            let ann = Self.pointer("ann").description
            let expected: [(String, [String])] = [
                ("{}", ["1", "2", "3", "4"]), (#"{"title":"beta"}"#, ["2"]), (#"{"title":null}"#, ["4"]),
                (#"{"title":{"$ne":"beta"}}"#, ["1", "3", "4"]), (#"{"likes":{"$gt":1,"$lte":9}}"#, ["2", "3"]),
                (#"{"likes":{"$lt":5}}"#, ["1"]), (#"{"likes":{"$gte":5}}"#, ["2", "3"]),
                (#"{"likes":{"$in":[1,9]}}"#, ["1", "3"]), (#"{"likes":{"$nin":[1,9]}}"#, ["2", "4"]),
                (#"{"likes":{"$exists":false}}"#, ["4"]), (#"{"likes":{"$exists":true}}"#, ["1", "2", "3"]),
                (#"{"tags":"red"}"#, ["1", "2"]), (#"{"tags":{"$all":["red","blue"]}}"#, ["1"]),
                (#"{"tags":{"$in":["blue","b"]}}"#, ["1", "3"]), (#"{"tags":{"$size":3}}"#, ["3"]),
                (#"{"tags":{"$ne":"red"}}"#, ["3", "4"]),
                (#"{"title":{"$regex":"^\\QAl\\E"}}"#, ["1"]), (#"{"title":{"$regex":"\\Qa.x\\E"}}"#, ["3"]),
                (#"{"title":{"$regex":"\\QTA\\E$","$options":"i"}}"#, ["2"]),
                (#"{"title":{"$regex":"^\\QBETA\\E\\z","$options":"i"}}"#, ["2"]),
                (#"{"title":{"$regex":"^[AG].*a"}}"#, ["1", "3"]),
                (#"{"$or":[{"likes":1},{"title":"beta"}]}"#, ["1", "2"]),
                (#"{"$and":[{"likes":{"$gt":1}},{"likes":{"$lt":9}}]}"#, ["2"]),
                (#"{"$nor":[{"likes":1},{"likes":5}]}"#, ["3", "4"]),
                (#"{"author":\#(ann)}"#, ["1", "3"]),
                (#"{"author":{"$inQuery":{"className":"Author","where":{"city":"Rome"}}}}"#, ["2"]),
                (#"{"author":{"$notInQuery":{"className":"Author","where":{"city":"Rome"}}}}"#, ["1", "3", "4"]),
                (#"{"at":{"$lt":{"__type":"Date","iso":"2021-01-01T00:00:00.000Z"}}}"#, ["2"]),
                (#"{"map.a.b":"c"}"#, ["3"]), (#"{"objectId":{"$in":["1","4"]}}"#, ["1", "4"]),
                (#"{"unheardOf":1}"#, []), (#"{"unheardOf":{"$exists":false}}"#, ["1", "2", "3", "4"]),
            ]
            for (condition, wanted) in expected {
                let found = await ids(bench, condition)
                #expect(found == wanted, "\(condition)")
            }
            // Values of other objects.
            await bench.parse("POST", "classes/Word", ["word": "beta"])
            let select = #"{"title":{"$select":{"key":"word","query":{"className":"Word","where":{}}}}}"#
            #expect(await ids(bench, select) == ["2"])
            let dont = #"{"title":{"$dontSelect":{"key":"word","query":{"className":"Word","where":{}}}}}"#
            #expect(await ids(bench, dont) == ["1", "3", "4"])
        }

        @Test("Places are found nearest first, within distances and boxes, and an order comes before nearness")
        func places() async throws {
            let bench = try await bench()
            let here = Self.point(0, 9).description
            #expect(await ids(bench, #"{"place":{"$nearSphere":\#(here)}}"#, "") == ["2", "1", "3"])
            #expect(await ids(bench, #"{"place":{"$nearSphere":\#(here)}}"#, "&order=objectId") == ["1", "2", "3"])
            #expect(
                await ids(bench, #"{"place":{"$nearSphere":\#(here),"$maxDistanceInKilometers":500}}"#, "") == ["2"])
            #expect(await ids(bench, #"{"place":{"$nearSphere":\#(here),"$maxDistance":0.2}}"#, "") == ["2", "1"])
            let box = "[\(Self.point(-1, -1)),\(Self.point(1, 11))]"
            #expect(await ids(bench, #"{"place":{"$within":{"$box":\#(box)}}}"#) == ["1", "2"])
            #expect(
                await ids(bench, #"{"place":{"$geoWithin":{"$centerSphere":[[0,0],0.01]}}}"#) == ["1"])
        }

        @Test("An answer has the page, the count, the keys and the objects that are asked for")
        func shapes() async throws {
            let bench = try await bench()
            let page = await bench.parse("GET", "classes/Post?order=-likes&limit=1&skip=1&count=1").json
            #expect(page?["results"]?.elements?.map { $0["objectId"] } == ["2"])
            #expect(page?["count"] == 4)
            #expect(await bench.parse("GET", "classes/Post?limit=0&count=1").json == ["results": [], "count": 4])
            let keys = await bench.parse("GET", "classes/Post/1?keys=title").json
            #expect(Set(keys?.members?.names ?? []) == ["objectId", "createdAt", "updatedAt", "title"])
            let without = await bench.maxLeap("GET", "classes/Post/1?keys=-title").json
            #expect(without?["title"] == nil)
            #expect(without?["likes"] == 1)
            let included = await bench.parse("GET", "classes/Post/1?include=author").json?["author"]
            #expect(included?["__type"] == "Object")
            #expect(included?["className"] == "Author")
            #expect(included?["city"] == "Paris")
        }

        @Test("Conditions that make no sense are refused with the code of the dialect, and never end the server")
        func hostile() async throws {
            let bench = try await bench()
            let deep = String(repeating: #"{"$or":["#, count: 200) + "{}" + String(repeating: "]}", count: 200)
            let wide = #"{"likes":{"$in":["# + (0..<5000).map { String($0) }.joined(separator: ",") + "]}}"
            let conditions = [
                "[", "[1]", "7", #"{"$or":[]}"#, #"{"$or":[1]}"#, #"{"likes":{"$near":1}}"#, #"{"likes":{"$in":1}}"#,
                #"{"tags":{"$lt":1}}"#, #"{"title":{"$regex":"["}}"#, #"{"title":{"$regex":"a","$options":"q"}}"#,
                #"{"place":{"$nearSphere":1}}"#, #"{"title":{"$nearSphere":1}}"#, #"{"$relatedTo":1}"#,
                #"{"author":{"$inQuery":{}}}"#, #"{"author":{"$inQuery":{"className":"../x"}}}"#,
                #"{"title":{"$select":{}}}"#, #"{"place":{"$within":{"$box":[1]}}}"#, #"{"$where":"1"}"#, deep, wide,
                #"{"likes":{"$lt":{"$lt":1}}}"#,
            ]
            for condition in conditions {
                let answer = await bench.parse("GET", "classes/Post?where=\(escaped(condition))")
                #expect(answer.status == 400, "\(condition.prefix(60)): \(answer.text.prefix(200))")
                #expect(answer.json?["code"]?.integer != nil)
            }
            for path in ["classes/9x", "classes/_Role", "classes/User", "classes/Post?skip=-1", "classes/Post?limit=x"]
            {
                let answer = await bench.parse("GET", path)
                #expect((400..<500).contains(answer.status) && answer.json?["code"]?.integer != nil, "\(path)")
            }
            #expect(await bench.send("GET", "/health").status == 200)
        }
    }
#endif
