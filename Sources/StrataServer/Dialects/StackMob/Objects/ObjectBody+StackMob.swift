#if Server
    extension ObjectBody {
        /// A body of StackMob: `"likes[inc]": 1` counts.
        init(stackMob members: JSONObject) {
            self.init(members)
            for (name, value) in members.sorted(by: { $0.name < $1.name }) where name.hasSuffix("[inc]") {
                values[name] = nil
                changes.append((String(name.dropLast(5)), .increment(value)))
            }
        }
    }
#endif
