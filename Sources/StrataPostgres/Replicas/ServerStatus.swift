#if Postgres
    /// Where a server is in the log.
    struct ServerStatus {
        let identity: LogIdentity
        /// Where the log ends on a primary, and up to where it is replayed on a replica.
        let position: Int64
        /// Up to where the log of a primary is on its disk, and can be sent to replicas.
        let flushed: Int64

        /// Asks a primary.
        /// - Throws: 55000 if it is a replica.
        static func ofPrimary(_ connection: PostgresConnection) throws(PostgresError) -> ServerStatus {
            let result = try connection.execute(
                """
                SELECT (SELECT system_identifier FROM pg_control_system()), \
                ('x' || lpad(left(pg_walfile_name(pg_current_wal_insert_lsn()), 8), 16, '0'))::bit(64)::bigint, \
                pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::bigint, \
                pg_wal_lsn_diff(pg_current_wal_flush_lsn(), '0/0')::bigint, \
                pg_size_bytes(current_setting('wal_segment_size')), current_setting('wal_block_size')::bigint
                """)
            return ServerStatus(
                identity: LogIdentity(system: result.integer(0, 0), timeline: result.integer(0, 1)),
                position: end(result.integer(0, 2), segment: result.integer(0, 4), block: result.integer(0, 5)),
                flushed: result.integer(0, 3))
        }

        /// Up to where a replica must have replayed the log to show what a connection has just committed.
        static func ofCommit(_ connection: PostgresConnection) throws(PostgresError) -> Int64 {
            // A commit that does not wait for the disk may be seen before it is there.
            let result = try connection.execute(
                """
                SELECT pg_wal_lsn_diff(CASE current_setting('synchronous_commit') WHEN 'off' THEN pg_current_wal_insert_lsn() \
                ELSE pg_current_wal_flush_lsn() END, '0/0')::bigint, \
                pg_size_bytes(current_setting('wal_segment_size')), current_setting('wal_block_size')::bigint
                """)
            return end(result.integer(0, 0), segment: result.integer(0, 1), block: result.integer(0, 2))
        }

        /// The end of the last record. At the beginning of a page, the next record goes after the page's header, and PostgreSQL says
        /// so; a replica that has replayed everything is at the beginning of the page.
        static func end(_ position: Int64, segment: Int64, block: Int64) -> Int64 {
            guard segment > 0, block > 0 else { return position }
            // The sizes of a long and of a short header.
            if position % segment == 40 { return position - 40 }
            return position % block == 24 && position % segment != 24 ? position - 24 : position
        }

        /// Asks a replica; nil if it has been promoted, or never was a replica.
        ///
        /// The timeline of a replica is what its control file or its connection to the primary says, whichever is later. The
        /// latter is seen only by members of `pg_read_all_stats`.
        static func ofReplica(_ connection: PostgresConnection) throws(PostgresError) -> ServerStatus? {
            let result = try connection.execute(
                """
                SELECT (SELECT system_identifier FROM pg_control_system()), \
                greatest((SELECT timeline_id FROM pg_control_checkpoint()), \
                (SELECT min_recovery_end_timeline FROM pg_control_recovery()), \
                (SELECT max(received_tli) FROM pg_stat_wal_receiver))::bigint, \
                pg_wal_lsn_diff(coalesce(pg_last_wal_replay_lsn(), '0/0'), '0/0')::bigint, pg_is_in_recovery()
                """)
            guard result.bytes(0, 3).first == 1 else { return nil }
            return ServerStatus(
                identity: LogIdentity(system: result.integer(0, 0), timeline: result.integer(0, 1)),
                position: result.integer(0, 2), flushed: result.integer(0, 2))
        }
    }
#endif
