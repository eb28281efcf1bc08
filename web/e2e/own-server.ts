// A server of a test's own, for what the shared one cannot show: other settings, other services beside it.
import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

const BINARY = process.env.SEGUE_BIN;

/** Only the real binary can be started with other settings. */
export const canStart = BINARY !== undefined && process.env.SEGUE_URL === undefined;

export class OwnServers {
  private readonly children: ChildProcess[] = [];
  private latest: ChildProcess | undefined;
  private readonly folder = mkdtempSync(join(tmpdir(), 'segue-own-'));

  /** Starts Segue and answers its address. */
  async segue(settings: Record<string, string>, port?: number): Promise<string> {
    port ??= await freePort();
    const url = `http://127.0.0.1:${port}`;
    this.latest = this.start(BINARY!, ['serve'], {
      SEGUE_LISTEN: `127.0.0.1:${port}`,
      SEGUE_DATA_DIR: this.folder,
      SEGUE_LOG: 'warn',
      ...settings,
    });
    await answers(`${url}/api/about`);
    return url;
  }

  /** Kills the Segue that was started last, as a crash does, and answers when it is gone. */
  async killSegue(): Promise<void> {
    const gone = new Promise((resolve) => this.latest!.once('exit', resolve));
    this.latest!.kill('SIGKILL');
    await gone;
  }

  /** Starts a double of a model server, with the steps of a script, and answers its port. */
  async model(family: string, name: string, steps?: object[]): Promise<number> {
    const port = await freePort();
    const args = ['model', '--family', family, '--name', name, '--listen', `127.0.0.1:${port}`];
    if (steps) {
      const script = join(this.folder, `${name}.json`);
      writeFileSync(script, JSON.stringify(steps));
      args.push('--script', script);
    }
    this.start(beside('doubles'), args, {});
    await answers(`http://127.0.0.1:${port}/v1/models`);
    return port;
  }

  /** Starts doubles of the catalogue and of the sources, and answers the settings that lead to them. */
  async services(): Promise<Record<string, string>> {
    const [tidal, sources] = [await freePort(), await freePort()];
    const at = `http://127.0.0.1:${sources}`;
    this.start(beside('doubles'), ['--tidal', `127.0.0.1:${tidal}`, '--sources', `127.0.0.1:${sources}`], {});
    await answers(`http://127.0.0.1:${tidal}/v2`);
    return {
      TIDAL_CLIENT_ID: 'demo',
      TIDAL_CLIENT_SECRET: 'demo-secret',
      TIDAL_API_URL: `http://127.0.0.1:${tidal}/v2`,
      TIDAL_AUTH_URL: `http://127.0.0.1:${tidal}/v1`,
      LRCLIB_URL: `${at}/lrclib`,
      RECCOBEATS_URL: `${at}/reccobeats`,
      MUSICBRAINZ_URL: `${at}/musicbrainz`,
      DEEZER_URL: `${at}/deezer`,
    };
  }

  /** Adds an account, as an operator does in the terminal. */
  addUser(name: string, password: string): void {
    const env = { PATH: process.env.PATH, HOME: this.folder, SEGUE_DATA_DIR: this.folder };
    execFileSync(BINARY!, ['user', 'add', name], { env, input: `${password}\n`, stdio: ['pipe', 'ignore', 'inherit'] });
  }

  stop(): void {
    for (const child of this.children) child.kill('SIGKILL');
    rmSync(this.folder, { recursive: true, force: true });
  }

  private start(command: string, args: string[], settings: Record<string, string>): ChildProcess {
    const env = { PATH: process.env.PATH, HOME: this.folder, ...settings };
    const child = spawn(command, args, { env, stdio: ['ignore', 'ignore', 'inherit'] });
    this.children.push(child);
    return child;
  }
}

const beside = (name: string) => join(dirname(BINARY!), name);

async function freePort(): Promise<number> {
  return new Promise((found) => {
    const server = createServer();
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address() as { port: number };
      server.close(() => found(port));
    });
  });
}

async function answers(url: string): Promise<void> {
  for (;;) {
    try {
      await fetch(url);
      return;
    } catch {
      await new Promise((again) => setTimeout(again, 50));
    }
  }
}
