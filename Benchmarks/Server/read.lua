-- The headers that a contender needs for the same answer.
if os.getenv("AUTHORIZATION") then wrk.headers["Authorization"] = os.getenv("AUTHORIZATION") end
if os.getenv("RANGE") then wrk.headers["Range"] = os.getenv("RANGE") end
