/// What is known in memory of saves that go to the server at once, without the outbox.
struct OnlineSaves: Sendable {
    /// New objects that are being sent.
    let births = Births()
    /// Writes whose answers were lost.
    let unknown = UnknownWrites()

    /// Nobody repeats the saves that got no answer.
    /// - Parameter isForgotten: Whose they are, by the topmost entity; nil for all.
    func forget(_ isForgotten: ((RemoteIdentity) -> Bool)? = nil) {
        unknown.remove(isForgotten)
        births.forget(isForgotten)
    }
}
