#if Postgres
    import StrataCPostgres

    /// Code written by hand on libpq for exactly these workloads: binary rows into structs, prepared statements, pipelined updates.
    /// It has no identity map, no validation and no notifications.
    struct RawContender {
        static let schema = "bench_raw"

        let url: String
        let data: DataSet

        /// Seconds from 2000-01-01, PostgreSQL's epoch, to 2001-01-01, the data's.
        private static let epoch: Int64 = 366 * 86_400
        private static let columns =
            "id, version, city_id, name, latitude, longitude, population, timezone, updated_at, country"

        /// Makes the tables, with the columns, indexes and constraints that Strata's have.
        static func makeTables(_ connection: RawConnection) throws {
            try connection.run(
                """
                DROP SCHEMA IF EXISTS \(schema) CASCADE; CREATE SCHEMA \(schema); SET search_path TO \(schema);
                CREATE TABLE country (id bigint PRIMARY KEY, version bigint NOT NULL, code text COLLATE "C" NOT NULL UNIQUE DEFERRABLE INITIALLY DEFERRED,
                    name text COLLATE "C" NOT NULL);
                CREATE TABLE city (id bigint PRIMARY KEY, version bigint NOT NULL, city_id text COLLATE "C" NOT NULL
                        UNIQUE DEFERRABLE INITIALLY DEFERRED,
                    name text COLLATE "C" NOT NULL, latitude double precision NOT NULL, longitude double precision NOT NULL,
                    population bigint NOT NULL, timezone text COLLATE "C" NOT NULL, updated_at timestamptz NOT NULL,
                    country bigint REFERENCES country DEFERRABLE INITIALLY DEFERRED);
                CREATE INDEX ON city(population); CREATE INDEX ON city(country);
                """)
        }

        func run(_ workload: Workload) throws -> Outcome {
            let connection = try RawConnection(url)
            if workload == .insert { try Self.makeTables(connection) }
            try connection.run("SET search_path TO \(Self.schema)")
            switch workload {
            case .insert: return try Outcome.measure { try insert(connection) }
            case .read: return try Outcome.measure { try read(connection) }
            case .lookup:
                let ids = data.scattered.map(\.cityId)
                try connection.prepare("one", "SELECT \(Self.columns) FROM city WHERE city_id = $1")
                return try Outcome.measure {
                    try ids.reduce(0) { sum, id in
                        let result = try connection.execute("one", id)
                        return sum + (result.count == 1 ? result.integer(0, 6) : 0)
                    }
                }
            case .set:
                let ids = "{" + data.scattered.map(\.cityId).joined(separator: ",") + "}"
                return try Outcome.measure {
                    let result = try connection.query(
                        "SELECT \(Self.columns) FROM city WHERE city_id = ANY($1::text[])", [ids])
                    return (0..<result.count).reduce(0) { $0 + result.integer($1, 6) }
                }
            case .update: return try update(connection)
            case .relations:
                return try Outcome.measure {
                    let result = try connection.query(
                        "SELECT k.id, c.population FROM country k JOIN city c ON c.country = k.id ORDER BY k.id")
                    return (0..<result.count).reduce(0) { $0 + result.integer($1, 1) }
                }
            }
        }

        private func insert(_ connection: RawConnection) throws -> Int64 {
            try connection.run("BEGIN")
            var countries = try RawCopy(connection, table: "country")
            for index in 0..<DataSet.countryCount {
                try countries.beginRow(columns: 4)
                countries.add(Int64(index + 1))
                countries.add(Int64(1))
                countries.add(DataSet.countryCode(index))
                countries.add("Country \(index)")
            }
            try countries.finish()
            var cities = try RawCopy(connection, table: "city")
            for (index, place) in data.cities.enumerated() {
                try cities.beginRow(columns: 10)
                cities.add(Int64(index + 1))
                cities.add(Int64(1))
                cities.add(place.cityId)
                cities.add(place.name)
                cities.add(place.latitude)
                cities.add(place.longitude)
                cities.add(place.population)
                cities.add(place.timezone)
                cities.add((place.updated + Self.epoch) * 1_000_000)
                cities.add(Int64(place.country + 1))
            }
            try cities.finish()
            try connection.run("COMMIT")
            return Int64(data.cities.count)
        }

        private func read(_ connection: RawConnection) throws -> Int64 {
            let found = try connection.query("SELECT id, code FROM country")
            var codes: [Int64: String] = [:]
            for row in 0..<found.count { codes[found.integer(row, 0)] = found.text(row, 1) }
            let result = try connection.query("SELECT \(Self.columns) FROM city")
            return (0..<result.count).reduce(0) { sum, row in
                sum
                    + DataSet.whole(
                        result.text(row, 2).utf8.count, result.text(row, 3).utf8.count, result.text(row, 7).utf8.count,
                        codes[result.integer(row, 9)]?.utf8.count ?? 0, result.double(row, 4), result.double(row, 5),
                        result.integer(row, 6), Double(result.integer(row, 8) / 1_000_000 - Self.epoch))
            }
        }

        /// The statements are sent without waiting for each answer.
        private func update(_ connection: RawConnection) throws -> Outcome {
            let ids = "{" + data.scattered.map(\.cityId).joined(separator: ",") + "}"
            let found = try connection.query(
                "SELECT id, version, population FROM city WHERE city_id = ANY($1::text[])", [ids])
            let rows = (0..<found.count).map { (found.integer($0, 0), found.integer($0, 1), found.integer($0, 2)) }
            try connection.prepare(
                "update",
                "UPDATE city SET population = $1::bigint, version = version + 1 WHERE id = $2::bigint AND version = $3::bigint"
            )
            return try Outcome.measure {
                try connection.run("BEGIN")
                PQenterPipelineMode(connection.handle)
                let lengths: [Int32] = [8, 8, 8]
                let formats: [Int32] = [1, 1, 1]
                for (id, version, population) in rows {
                    let values = [population + 1, id, version].map(\.bigEndian)
                    let sent = values.withUnsafeBytes { bytes in
                        let start = bytes.baseAddress?.assumingMemoryBound(to: CChar.self)
                        let pointers = [start, start.map { $0 + 8 }, start.map { $0 + 16 }]
                        return PQsendQueryPrepared(connection.handle, "update", 3, pointers, lengths, formats, 1)
                    }
                    guard sent == 1 else { throw connection.failure() }
                }
                PQpipelineSync(connection.handle)
                var updated: Int64 = 0
                var isDone = false
                while !isDone {
                    while let result = PQgetResult(connection.handle) {
                        defer { PQclear(result) }
                        switch PQresultStatus(result) {
                        case PGRES_COMMAND_OK: updated += 1
                        case PGRES_PIPELINE_SYNC: isDone = true
                        default: throw connection.failure()
                        }
                        if isDone { break }
                    }
                }
                PQexitPipelineMode(connection.handle)
                try connection.run("COMMIT")
                return updated
            }
        }
    }
#endif
