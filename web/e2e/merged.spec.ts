// Files that sound the same are one track: the page says which, how far the comparison is, and takes a merge back.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from './fixtures';
import { canStart, OwnServers } from './own-server';

const RATE = 11_025;
const SECONDS = 20;

/** A melody of chords, as a WAV file. The same notes at another volume are the same recording. */
function melody(volume: number): Buffer {
  const file = Buffer.alloc(44 + 2 * RATE * SECONDS);
  file.write('RIFF', 0);
  file.writeUInt32LE(file.length - 8, 4);
  file.write('WAVEfmt ', 8);
  file.writeUInt32LE(16, 16);
  file.writeUInt16LE(1, 20);
  file.writeUInt16LE(1, 22);
  file.writeUInt32LE(RATE, 24);
  file.writeUInt32LE(2 * RATE, 28);
  file.writeUInt16LE(2, 32);
  file.writeUInt16LE(16, 34);
  file.write('data', 36);
  file.writeUInt32LE(file.length - 44, 40);
  let dice = 1;
  let notes = [0, 0, 0];
  for (let sample = 0; sample < RATE * SECONDS; sample += 1) {
    if (sample % Math.floor(RATE / 4) === 0) notes = notes.map(() => (dice = (dice * 48_271) % 2_147_483_647) % 36);
    const waves = notes.map((note) => Math.sin((2 * Math.PI * 110 * 2 ** (note / 12) * sample) / RATE));
    const level = waves.reduce((sum, wave) => sum + wave, 0) / 3;
    file.writeInt16LE(Math.round(level * volume * 32_000), 44 + 2 * sample);
  }
  return file;
}

test('the details of a track say which files are the same recording, and separate them', async ({ page }) => {
  test.skip(!canStart, 'needs a server of its own');
  const music = mkdtempSync(join(tmpdir(), 'segue-music-'));
  writeFileSync(join(music, 'Ivy Marlow - Low Tide.wav'), melody(0.9));
  writeFileSync(join(music, 'track 01.wav'), melody(0.5));
  const servers = new OwnServers();
  const off = { LRCLIB_URL: 'off', RECCOBEATS_URL: 'off', MUSICBRAINZ_URL: 'off', DEEZER_URL: 'off' };
  try {
    const url = await servers.segue({ ...off, SEGUE_MODEL: 'offline', SEGUE_SAMPLE: 'off', SEGUE_MUSIC_DIR: music });
    await page.goto(`${url}/library`);
    const folders = page.getByRole('list', { name: 'Folders' });
    await expect(folders).toContainText(music);
    const rows = page.locator('.library-row');
    await expect(rows).toHaveCount(1, { timeout: 40_000 });
    await expect(folders).toContainText('2 files');
    await expect(folders.getByRole('progressbar')).toHaveCount(0);
    await rows.first().click();
    const same = page.getByRole('region', { name: 'The same recording' });
    await expect(same).toContainText('It sounds the same');
    await expect(same).toContainText('track 01.wav');
    await same.getByRole('button', { name: 'Not the same: separate “track 01”' }).click();
    await expect(same).toHaveCount(0);
    await page.keyboard.press('Escape');
    await expect(rows).toHaveCount(2);
    await page.getByRole('button', { name: 'Undo' }).click();
    await expect(rows).toHaveCount(1);
    await rows.first().click();
    await expect(same).toContainText('You merged it');
    await page.keyboard.press('Escape');
    await folders.getByRole('button', { name: 'Scan now' }).click();
    await expect(page.getByText('Nothing has changed in the folder')).toBeVisible();
  } finally {
    servers.stop();
    rmSync(music, { recursive: true, force: true });
  }
});

test('a folder shows how far its comparison is, and which files cannot be read', async ({ page }) => {
  let waiting = 3;
  await page.route('**/api/library/sources', (route) => {
    const report = { files: 10, added: 10, changed: 0, moved: 0, gone: 0, playlists: 0, unreadable: {}, leftOut: {} };
    const sound = { waiting, undecodable: { '/music/cut.flac': 'the audio ends after 10 s of 20 s' } };
    const folder = { id: 'f', kind: 'folder', path: '/music', createdAt: '2026-01-01T10:00:00Z', syncedAt: '2026-01-01T10:00:00Z' };
    waiting = 0;
    return route.fulfill({ json: { sources: [{ ...folder, report, sound }] } });
  });
  await page.goto('/library');
  const folders = page.getByRole('list', { name: 'Folders' });
  await expect(folders).toContainText('Comparing sounds: 7 of 10 files');
  await expect(folders.getByRole('progressbar')).toBeVisible();
  await expect(folders.getByRole('progressbar')).toHaveCount(0);
  await folders.getByText('Unreadable (1)').click();
  await expect(folders).toContainText('/music/cut.flac: the audio ends after 10 s of 20 s');
});
