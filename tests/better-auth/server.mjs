// A real Better Auth server with its JWT plugin, in memory. Prints its address; `POST /rotate` lets every key expire,
// so that the next token is signed with a new one, as Better Auth does it after `rotationInterval`. The second argument
// is the origin of a page that may ask it for tokens; `/sign-in` is where people of that page sign in.
import { createServer } from "node:http";
import { betterAuth } from "better-auth";
import { memoryAdapter } from "better-auth/adapters/memory";
import { toNodeHandler } from "better-auth/node";
import { jwt } from "better-auth/plugins";

const database = {
  user: [],
  session: [],
  account: [],
  verification: [],
  jwks: [],
};
let handle;

const page = process.argv[3];

// What an application around Better Auth does for pages of another origin.
function allow(request, response) {
  if (!page || request.headers.origin !== page) return;
  response.setHeader("access-control-allow-origin", page);
  response.setHeader("access-control-allow-credentials", "true");
  response.setHeader("vary", "origin");
}

const SIGN_IN = `<!doctype html><title>Sign in</title><main><h1>Sign in here</h1>
<form><label>Email <input name="email" type="email"></label><label>Password <input name="password" type="password"></label>
<button>Sign in</button></form></main><script>
document.querySelector("form").onsubmit = async (event) => {
  event.preventDefault();
  const form = Object.fromEntries(new FormData(event.target));
  const options = { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(form) };
  const answer = await fetch("/api/auth/sign-in/email", options);
  if (answer.ok) location.href = new URLSearchParams(location.search).get("callbackURL");
};</script>`;

const server = createServer((request, response) => {
  allow(request, response);
  if (request.url === "/favicon.ico") {
    response.writeHead(204).end();
    return;
  }
  if (request.method === "GET" && request.url.startsWith("/sign-in")) {
    response.writeHead(200, { "content-type": "text/html" }).end(SIGN_IN);
    return;
  }
  if (request.method === "POST" && request.url === "/rotate") {
    for (const key of database.jwks)
      key.expiresAt = new Date(Date.now() - 1000);
    response.writeHead(204).end();
    return;
  }
  handle(request, response);
});

server.listen(0, "127.0.0.1", () => {
  const url = `http://127.0.0.1:${server.address().port}`;
  const alg = process.argv[2] ?? "EdDSA";
  const auth = betterAuth({
    baseURL: url,
    trustedOrigins: page ? [page] : [],
    secret: "only for tests, only on this machine, only in memory",
    database: memoryAdapter(database),
    emailAndPassword: { enabled: true },
    rateLimit: { enabled: false },
    telemetry: { enabled: false },
    plugins: [
      jwt({
        jwks: {
          keyPairConfig: { alg },
          rotationInterval: 60 * 60,
          gracePeriod: 60 * 60,
        },
      }),
    ],
  });
  handle = toNodeHandler(auth);
  console.log(url);
});

// Ends with whoever started it.
process.stdin.resume();
process.stdin.on("end", () => process.exit(0));
