#if Server
    /// What writes ask for beyond their context.
    struct WriteEffects {
        /// What must happen only if the write is kept, such as mail.
        var followUps: [@Sendable () -> Void] = []
        /// The files that the write has made or that it has taken a name from, whether or not it is kept.
        var touchedFiles: Set<String> = []
        /// The schemas whose objects the write has changed, and ``ChangeSignal/sessions`` if sessions have ended.
        var changed: Set<String> = []
        /// What the write makes room for.
        var room = Room()

        mutating func add(_ other: WriteEffects) {
            followUps += other.followUps
            touchedFiles.formUnion(other.touchedFiles)
            changed.formUnion(other.changed)
            room.add(other.room)
        }
    }
#endif
