#if Server
    import Foundation
    import StrataServer
    import Testing

    @Suite struct NumberTests {
        @Test("Arrays keep all digits of their numbers, and whole numbers have no fraction")
        func arrays() async throws {
            let bench = try Bench()
            let body = Data(#"{"n_id":"1","all":[0.12345678901234567890123,18446744073709551615,2.0,1e2,0.1,-7]}"#.utf8)
            let created = await bench.server.respond(to: ServerRequest("POST", "/n", body: body))
            #expect(created.status == 201, "\(created.text)")
            let text = #""all":[0.12345678901234567890123,18446744073709551615,2,100,0.1,-7]"#
            #expect(created.text.contains(text), "\(created.text)")
            let read = await bench.send("GET", "/n/1")
            #expect(read.text.contains(text), "\(read.text)")
            for number in ["18446744073709551615", "2", "2.0", "0.12345678901234567890123"] {
                #expect(await bench.values("/n?all[in]=\(number)", "n_id") == ["1"], "\(number)")
            }
        }

        @Test("A field of integers takes no number beyond 64 bits, and a body none that cannot be kept")
        func integers() async throws {
            let bench = try Bench()
            #expect(await bench.send("POST", "/n", ["n_id": "1", "count": 5]).status == 201)
            try await bench.server.deploySchemas()
            let production = ["Accept": "application/vnd.stackmob+json; version=1"]
            #expect(await bench.send("POST", "/n", ["n_id": "1", "count": 5], headers: production).status == 201)
            for (number, status) in [
                ("9223372036854775807", 200), ("7.0", 200), ("9223372036854775808", 400), ("1e999", 400), ("01", 400),
            ] {
                let body = Data("{\"count\":\(number)}".utf8)
                let request = ServerRequest(
                    "PUT", "/n/1", headers: [("Accept", "application/vnd.stackmob+json; version=1")], body: body)
                #expect(await bench.server.respond(to: request).status == status, "\(number)")
            }
            #expect(await bench.send("GET", "/n/1", headers: production).json?["count"] == 7)
            // In development a field keeps its type, too.
            for (number, answer) in [("9223372036854775808", "5"), ("8.0", "8"), ("0.5", "8"), ("1e300", "8")] {
                _ = await bench.server.respond(
                    to: ServerRequest("PUT", "/n/1", body: Data("{\"count\":\(number)}".utf8)))
                #expect(await bench.send("GET", "/n/1").json?["count"]?.description == answer, "\(number)")
            }
        }

        @Test("An answer that JSON cannot spell is an error that says where")
        func infinite() throws {
            let response = ServerResponse(json: ["a": [1, .double(.infinity)]])
            #expect(response.status == 500)
            #expect(response.json?["error"]?.string?.contains("$.a[1]") == true)
        }
    }
#endif
