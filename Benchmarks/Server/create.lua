-- Each request creates one object.
wrk.method = "POST"
wrk.headers["Content-Type"] = "application/json"
local bodies = { strata = '{"title":"new","n":1,"done":false}', kinto = '{"data":{"title":"new","n":1,"done":false}}' }
wrk.body = bodies[os.getenv("BODY") or "strata"]
if os.getenv("AUTHORIZATION") then wrk.headers["Authorization"] = os.getenv("AUTHORIZATION") end
