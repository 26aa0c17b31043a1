/// What is known in memory of saves that go to the server at once, without the outbox.
struct OnlineSaves: Sendable {
    /// New objects that are being sent.
    let births = Births()
    /// Writes whose answers were lost.
    let unknown = UnknownWrites()
}
