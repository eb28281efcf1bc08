// A small fictional library for the mock server.

const RAW = [
  ['Harbour Lights', 'The Low Tides', 'Slow Weather', 0.31, 0.22, 84, 9, 0, 'Streetlights doubled in the harbour water, and nobody in a hurry.', 'the window keeps the city out\nand lets the water in'],
  ['Umbrella Weather', 'Ada Quill', 'Small Rooms', 0.38, 0.55, 96, 2, 1, 'Two people share an umbrella and take the long way home on purpose.', 'we could have run for cover\nwe counted puddles instead'],
  ['Last Tram North', 'Kite & Lantern', 'Timetables', 0.42, 0.34, 102, 4, 0, 'The last tram of the night as a place where strangers forgive each other.', 'nobody asks where you are going\non the last tram north'],
  ['Salt in the Piano', 'Marisol Venn', 'House by the Sea', 0.18, 0.27, 68, 5, 0, 'A storm came through the open window; the piano still remembers.', null],
  ['Paper Boats', 'Ada Quill', 'Small Rooms', 0.35, 0.61, 110, 7, 1, 'A childhood gutter becomes an ocean again for three minutes.', 'fold it once for leaving\nfold it twice for home'],
  ['Night Shift Choir', 'The Low Tides', 'Slow Weather', 0.47, 0.41, 92, 0, 1, 'Cleaners, nurses and bakers hum the same tune without knowing.', 'half the city sleeping\nhalf the city holding the note'],
  ['Glasshouse', 'Nordlys Ensemble', 'Green Hours', 0.21, 0.33, 74, 10, 0, 'Strings like condensation; a patient piece about growing slowly.', null],
  ['Ferry Song', 'Kite & Lantern', 'Timetables', 0.52, 0.68, 118, 2, 1, 'Leaving an island on a good day, with someone waving too long.', 'wave until I am a bird\nwave until I am the weather'],
  ['Kerosene Blue', 'Otis Marrow', 'Low Flame', 0.63, 0.29, 88, 1, 0, 'A break-up told entirely in the colours of a camping stove.', 'you burn clean and you burn cold'],
  ['Half a Moon Is Plenty', 'Marisol Venn', 'House by the Sea', 0.27, 0.49, 80, 3, 1, 'Contentment, described by someone who did not expect it.', 'keep the other half for someone lost\nhalf a moon is plenty'],
  ['Run the Ridge', 'Copper Sky Union', 'Elevation', 0.88, 0.77, 164, 11, 1, 'Breath, gravel, and the second wind nobody believes in until it comes.', 'up where the road gives out\nmy lungs are a marching band'],
  ['Letters I Will Not Send', 'Otis Marrow', 'Low Flame', 0.33, 0.24, 76, 8, 0, 'Heartbreak with the windows open: sad, but airing out.', 'I licked the stamp and let it dry\nthat was the whole goodbye'],
];

const round2 = (x) => Math.round(x * 100) / 100;

export const TRACKS = RAW.map(([title, artist, album, energy, valence, tempo, key, mode, shortDescription, lyrics], i) => ({
  isrc: `XSGUE26${String(90001 + i)}`,
  title,
  artist,
  album,
  duration: 171 + ((i * 37) % 120),
  inLibrary: i % 3 !== 2,
  isIndexed: true,
  shortDescription,
  releaseDate: `20${10 + i}-05-03`,
  tags: energy < 0.4 ? ['slow', 'night', 'rain', 'intimate'] : ['driving', 'open road', 'bright'],
  ...(lyrics && { lyrics: `${lyrics}\n\n${lyrics.split('\n').reverse().join('\n')}` }),
  interpretation: `${shortDescription} The arrangement leaves room around every line; play it late, or early enough that it still counts as late.`,
  audioFeatures: {
    acousticness: round2(0.92 - energy * 0.8), danceability: round2(0.3 + valence * 0.4), energy, instrumentalness: lyrics ? 0.04 : 0.86,
    key, liveness: 0.11, loudness: -14 + energy * 8, mode, speechiness: 0.04, tempo, valence,
  },
}));

export const ALBUMS = [...new Set(TRACKS.map((t) => t.album))].map((title, i) => {
  const tracks = TRACKS.filter((t) => t.album === title);
  return { id: `album-${i + 1}`, title, artist: tracks[0].artist, releaseDate: `20${10 + i}-05-03`, trackCount: tracks.length, inLibrary: true, addedAt: '2026-10-02T10:00:00Z' };
});

export function search(query, limit) {
  return TRACKS.slice(0, limit).map((track, i) => ({
    ...track,
    score: round2(0.94 - i * 0.07),
    why: {
      ...(track.lyrics && { lyric: track.lyrics.split('\n')[0] }),
      words: query.split(' ').slice(0, 2),
      features: track.audioFeatures.energy < 0.4 ? ['low energy', `${track.audioFeatures.tempo} BPM`] : [`${track.audioFeatures.tempo} BPM`],
    },
  }));
}
