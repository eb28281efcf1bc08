// A real Better Auth server with its JWT plugin, in memory. Prints its address; `POST /rotate` lets every key expire,
// so that the next token is signed with a new one, as Better Auth does it after `rotationInterval`.
import { createServer } from "node:http";
import { betterAuth } from "better-auth";
import { memoryAdapter } from "better-auth/adapters/memory";
import { toNodeHandler } from "better-auth/node";
import { jwt } from "better-auth/plugins";

const database = { user: [], session: [], account: [], verification: [], jwks: [] };
let handle;

const server = createServer((request, response) => {
  if (request.method === "POST" && request.url === "/rotate") {
    for (const key of database.jwks) key.expiresAt = new Date(Date.now() - 1000);
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
    secret: "only for tests, only on this machine, only in memory",
    database: memoryAdapter(database),
    emailAndPassword: { enabled: true },
    rateLimit: { enabled: false },
    telemetry: { enabled: false },
    plugins: [
      jwt({ jwks: { keyPairConfig: { alg }, rotationInterval: 60 * 60, gracePeriod: 60 * 60 } }),
    ],
  });
  handle = toNodeHandler(auth);
  console.log(url);
});

// Ends with whoever started it.
process.stdin.resume();
process.stdin.on("end", () => process.exit(0));
