// What the scripted model says, as data: the mock server and the scripted upstream both play from this one book.
//
// A scenario is a list of rounds, one per model call. A round says some text (in pieces, with a pace) and then calls
// tools, or breaks off. The first scenario whose `when` matches the last user message is played.

const words = (n) =>
  Array.from({ length: n }, (_, i) => ['slow', 'rain', 'on', 'the', 'window,', 'a', 'bass', 'line', 'that', 'waits'][i % 10]).join(' ');

export const SCENARIOS = [
  {
    name: 'slow',
    when: /take your time/i,
    rounds: [{ text: `Let me think about that.\n\n${words(220)}\n\nThat was all.`, paceMs: 60 }],
  },
  {
    name: 'angle brackets',
    when: /angle brackets/i,
    rounds: [
      {
        text: 'Set SEGUE_MODEL=openai:<model> and press <Enter>. A generic is List<String>.\nThis is the second line.\n\n<details>\nA block of its own.\n</details>',
        paceMs: 0,
      },
    ],
  },
  {
    name: 'at once',
    when: /at once/i,
    rounds: [{ text: 'Short and complete.', paceMs: 0 }],
  },
  {
    name: 'names the first',
    when: /name of the first/i,
    rounds: [{ calls: [{ name: 'semanticSearch', input: { query: 'rainy nights', limit: 3 } }] }, { nameFirst: true }],
  },
  {
    name: 'a tool of another server',
    when: /postcard/i,
    rounds: [
      { text: 'I can send that.', calls: [{ name: 'post__send_postcard', input: { to: 'Ada', text: 'It rains here.' } }] },
      { text: 'The postcard is on its way.', paceMs: 0 },
    ],
  },
  {
    name: 'renames a playlist',
    when: /rename the agent list/i,
    rounds: [
      { calls: [{ name: 'edit_playlist', input: { playlist: 'The agent’s list', action: 'rename', title: 'Renamed by an agent' } }] },
      { text: 'It has a new name.', paceMs: 0 },
    ],
  },
  {
    name: 'empty',
    when: /say nothing/i,
    rounds: [{ text: '', paceMs: 0 }],
  },
  {
    name: 'flood',
    when: /flood/i,
    rounds: [
      {
        text: Array.from(
          { length: 70 },
          (_, i) => `### Verse ${i + 1}\n\n${words(34)} with **bold** and \`code\`.\n\n- one ${i}\n- two\n- three\n`,
        ).join('\n'),
        paceMs: 4.5,
      },
    ],
  },
  {
    name: 'endless',
    when: /without end/i,
    rounds: Array.from({ length: 9 }, (_, i) => ({
      text: `Search ${i + 1}.`,
      calls: [{ name: 'semanticSearch', input: { query: `rain ${i + 1}`, limit: 2 } }],
    })),
  },
  {
    name: 'breaks once',
    when: /break once/i,
    breaks: 1,
    rounds: [{ text: 'Here is what I found on the second try: **Harbour Lights** by The Low Tides.', paceMs: 5 }],
  },
  {
    name: 'attack',
    when: /attack/i,
    rounds: [
      {
        paceMs: 2,
        text: [
          'Before <script>window.__pwned = 1</script> after.',
          '<img src=x onerror="window.__pwned = 2"> and <iframe src="https://evil.example/"></iframe>',
          '![a cat](https://evil.example/pixel.png?leak=1) and ![](data:text/html,<script>window.__pwned=3</script>)',
          '[click me](javascript:window.__pwned=4) and [data](data:text/html;base64,PHNjcmlwdD4=) and [vb](vbscript:x)',
          '[a real link](https://example.org/path) and <https://example.net>',
          '<style>body{display:none}</style><svg onload="window.__pwned=5"></svg>',
          '<a href="javascript:window.__pwned=6">raw</a> <form action="https://evil.example"><input></form>',
        ].join('\n\n'),
      },
    ],
  },
  {
    name: 'failing tool',
    when: /tidal|catalogue/i,
    rounds: [
      {
        text: 'Let me look in the catalogue first.',
        calls: [{ name: 'tidalSearch', input: { query: 'night trains', searchType: 'both', limit: 5 } }],
      },
      {
        text: 'The catalogue is out of reach, so I searched your own collection instead.',
        calls: [{ name: 'semanticSearch', input: { query: 'night trains', limit: 5 } }],
      },
      { text: 'Start with the first one: it moves like wheels over points.' },
    ],
  },
  {
    name: 'playlist',
    when: /playlist/i,
    rounds: [
      {
        text: "I'll look for songs that hold a quiet evening together.",
        calls: [{ name: 'semanticSearch', input: { query: 'quiet evening at home', limit: 5 } }],
      },
      { playlistFrom: 'quiet evening at home', title: 'Lamplight' },
      { text: 'Saved as **Lamplight**. It opens gently, leans into the piano around the middle and ends almost asleep.' },
    ],
  },
  {
    name: 'tasks: add',
    when: /strings|remind/i,
    rounds: [
      {
        calls: [
          { name: 'add_task', input: { title: 'Buy guitar strings', description: 'Light gauge, two sets' } },
          { name: 'add_task', input: { title: 'Call the venue' } },
        ],
      },
      { text: 'Both are on your list.', calls: [{ name: 'list_tasks', input: { filter: 'pending' } }] },
      { text: 'Done. **Buy guitar strings** and **Call the venue** are on your list. Tell me when one of them is behind you.' },
    ],
  },
  {
    name: 'tasks: delete',
    when: /forget about/i,
    rounds: [{ calls: [{ name: 'list_tasks', input: { filter: 'all' } }] }, { withFirst: 'delete_task' }, { text: 'It is off your list.' }],
  },
  {
    name: 'tasks: finish',
    when: /done with|finished/i,
    rounds: [
      { calls: [{ name: 'list_tasks', input: { filter: 'all' } }] },
      { withFirst: 'complete_task' },
      { text: 'Checked off. One less thing.' },
    ],
  },
  {
    name: 'discover',
    when: /.*/,
    rounds: [
      {
        text: 'Let me listen through your library for that.',
        calls: [{ name: 'semanticSearch', input: { query: 'rainy nights', limit: 8 } }],
      },
      {
        text: 'A few that feel like rain on glass:\n\n1. **Two-Lane Prayer** — Ferris County Lights. Slow bass, streetlights in puddles.\n2. **Sodium** — Latchkey Physics. Warmer: rain as company rather than loneliness.\n3. **Wipers** — Lowlight Ferris. For the walk home.\n\n> the window keeps the city out / and lets the water in\n\nShall I turn these into a playlist?',
      },
    ],
  },
];

export function scenarioFor(message) {
  return SCENARIOS.find((scenario) => scenario.when.test(message));
}

/**
 * Says a text piece by piece at its pace. The clock decides, not the timer's own slowness: 5 ms a piece are 200 pieces
 * a second also on a busy machine. Returns false as soon as `say` does.
 */
export async function speak(text, paceMs, say) {
  const began = performance.now();
  for (const [index, piece] of pieces(text).entries()) {
    if (say(piece) === false) return false;
    const early = began + (index + 1) * paceMs - performance.now();
    if (early > 0) await new Promise((done) => setTimeout(done, early));
  }
  return true;
}

/** Text in the pieces a model would send. */
function pieces(text) {
  return text.match(/\s*\S+\s*?(?=\s|$)|\s+/g) ?? [];
}
