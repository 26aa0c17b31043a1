#if Postgres
    import StrataCPostgres

    /// Hands the notices of the server on.
    final class NoticeBox {
        let handler: (@Sendable (String) -> Void)?

        init(_ handler: (@Sendable (String) -> Void)?) { self.handler = handler }

        static let receive: PQnoticeReceiver = { box, result in
            guard let box, let result else { return }
            let handler = Unmanaged<NoticeBox>.fromOpaque(box).takeUnretainedValue().handler
            handler?(String(cString: PQresultErrorMessage(result)).trimmed)
        }
    }
#endif
