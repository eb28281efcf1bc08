// A wire between the browser and the server that a test can cut: every connection on it breaks at once.
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

export async function cutLine(target: string) {
  const { hostname, port } = new URL(target);
  const open = new Set<Socket>();
  const wire = createServer((near) => {
    const far = connect(Number(port), hostname);
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      open.add(from);
      // A cut is an error on both ends; closing the other one is all there is to do about it.
      from.on('error', () => to.destroy());
      from.on('close', () => (open.delete(from), to.destroy()));
      from.pipe(to);
    }
  });
  await new Promise<void>((ready) => wire.listen(0, '127.0.0.1', ready));
  return {
    url: `http://127.0.0.1:${(wire.address() as AddressInfo).port}`,
    cut: () => open.forEach((socket) => socket.resetAndDestroy()),
    close: () => {
      open.forEach((socket) => socket.destroy());
      wire.close();
    },
  };
}
