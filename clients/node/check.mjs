// One line per check: `ok <name>` or `FAIL <name>: <why>`. A warning of a client fails the check in which it occurs.
// A script that ends with an error has failed as a whole; a failed check is only reported by its line.
import assert from 'node:assert/strict';

export const url = process.env.SEGUE_URL;
const token = process.env.SEGUE_TOKEN;
export const headers = token ? { authorization: `Bearer ${token}` } : {};

let warnings = [];
for (const level of ['warn', 'error']) {
  console[level] = (...words) => warnings.push(words.map(String).join(' '));
}

export async function check(name, body) {
  warnings = [];
  try {
    await withDeadline(body());
    assert.deepEqual(warnings, [], 'the client warned');
    console.log(`ok ${name}`);
  } catch (error) {
    console.log(`FAIL ${name}: ${String(error?.message ?? error).replaceAll('\n', ' ').slice(0, 1500)}`);
  }
}

function withDeadline(work) {
  let timer;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error('took longer than 30 s')), 30_000);
  });
  return Promise.race([work, late]).finally(() => clearTimeout(timer));
}

export const api = async (method, path, body) => {
  const response = await fetch(url + path, {
    method,
    headers: { ...headers, ...(body && { 'content-type': 'application/json' }) },
    body: body && JSON.stringify(body),
  });
  const text = await response.text();
  return { status: response.status, body: text && JSON.parse(text) };
};

export const randomName = () => `chat-${crypto.randomUUID().slice(0, 8)}`;
