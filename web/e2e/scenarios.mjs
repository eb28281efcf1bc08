// What the model says in these tests: a script for `doubles model --script FILE` (crates/doubles/README.md).
//
// A scenario is a list of steps, one per request. A step says some text (word by word, with a pace) and then calls tools.
// The first scenario with a text of `when` in the last user message is played.

const words = (n) =>
  Array.from({ length: n }, (_, i) => ['slow', 'rain', 'on', 'the', 'window,', 'a', 'bass', 'line', 'that', 'waits'][i % 10]).join(' ');

const SCENARIOS = [
  {
    name: 'slow',
    when: ['take your time'],
    steps: [{ text: `Let me think about that.\n\n${words(220)}\n\nThat was all.`, paceMs: 60 }],
  },
  {
    name: 'angle brackets',
    when: ['angle brackets'],
    steps: [
      {
        text: 'Set SEGUE_MODEL=openai:<model> and press <Enter>. A generic is List<String>.\nThis is the second line.\n\n<details>\nA block of its own.\n</details>',
        paceMs: 0,
      },
    ],
  },
  {
    name: 'at once',
    when: ['at once'],
    steps: [{ text: 'Short and complete.', paceMs: 0 }],
  },
  {
    name: 'names the first',
    when: ['name of the first'],
    steps: [
      { calls: [{ name: 'semanticSearch', arguments: { query: 'rainy nights', limit: 3 } }] },
      { find: 'title', text: 'Begin with **$1**.' },
    ],
  },
  {
    name: 'names an album and its title track',
    when: ['title track'],
    steps: [
      { calls: [{ name: 'semanticSearch', arguments: { query: 'Every Exit by Ferris County Lights', limit: 8 } }] },
      {
        text: 'The album **Every Exit** begins with **Every Exit** by Ferris County Lights. It is not **Every Exit** by Another Band.',
        paceMs: 0,
      },
    ],
  },
  {
    name: 'a tool of another server',
    when: ['postcard'],
    steps: [
      { text: 'I can send that.', calls: [{ name: 'post__send_postcard', arguments: { to: 'Ada', text: 'It rains here.' } }] },
      { text: 'The postcard is on its way.', paceMs: 0 },
    ],
  },
  {
    name: 'renames a playlist',
    when: ['rename the agent list'],
    steps: [
      { calls: [{ name: 'edit_playlist', arguments: { playlist: 'The agent’s list', action: 'rename', title: 'Renamed by an agent' } }] },
      { text: 'It has a new name.', paceMs: 0 },
    ],
  },
  {
    name: 'empty',
    when: ['say nothing'],
    steps: [{ text: '', paceMs: 0 }],
  },
  {
    name: 'flood',
    when: ['flood'],
    steps: [
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
    when: ['without end'],
    steps: Array.from({ length: 9 }, (_, i) => ({
      text: `Search ${i + 1}.`,
      calls: [{ name: 'semanticSearch', arguments: { query: `rain ${i + 1}`, limit: 2 } }],
    })),
  },
  {
    name: 'breaks once',
    when: ['break once'],
    breaks: 1,
    steps: [{ text: 'Here is what I found on the second try: **Harbour Lights** by The Low Tides.', paceMs: 5 }],
  },
  {
    name: 'attack',
    when: ['attack'],
    steps: [
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
    when: ['tidal', 'catalogue'],
    steps: [
      {
        text: 'Let me look in the catalogue first.',
        calls: [{ name: 'tidalSearch', arguments: { query: 'night trains', searchType: 'both', limit: 5 } }],
      },
      {
        text: 'The catalogue is out of reach, so I searched your own collection instead.',
        calls: [{ name: 'semanticSearch', arguments: { query: 'night trains', limit: 5 } }],
      },
      { text: 'Start with the first one: it moves like wheels over points.' },
    ],
  },
  {
    name: 'playlist',
    when: ['playlist'],
    steps: [
      {
        text: "I'll look for songs that hold a quiet evening together.",
        calls: [{ name: 'semanticSearch', arguments: { query: 'quiet evening at home', limit: 5 } }],
      },
      {
        find: 'isrc',
        calls: [
          {
            name: 'suggestPlaylist',
            arguments: { title: 'Lamplight', tracks: [{ $each: { isrc: '$1', reasoning: 'It keeps the light low.' } }] },
          },
        ],
      },
      { text: 'Saved as **Lamplight**. It opens gently, leans into the piano around the middle and ends almost asleep.' },
    ],
  },
  {
    name: 'tasks: add',
    when: ['strings', 'remind'],
    steps: [
      {
        calls: [
          { name: 'add_task', arguments: { title: 'Buy guitar strings', description: 'Light gauge, two sets' } },
          { name: 'add_task', arguments: { title: 'Call the venue' } },
        ],
      },
      { text: 'Both are on your list.', calls: [{ name: 'list_tasks', arguments: { filter: 'pending' } }] },
      { text: 'Done. **Buy guitar strings** and **Call the venue** are on your list. Tell me when one of them is behind you.' },
    ],
  },
  {
    name: 'tasks: delete',
    when: ['forget about'],
    steps: [
      { calls: [{ name: 'list_tasks', arguments: { filter: 'all' } }] },
      { find: 'id', calls: [{ name: 'delete_task', arguments: { task_id: '$1' } }] },
      { text: 'It is off your list.' },
    ],
  },
  {
    name: 'tasks: finish',
    when: ['done with', 'finished'],
    steps: [
      { calls: [{ name: 'list_tasks', arguments: { filter: 'all' } }] },
      { find: 'id', calls: [{ name: 'complete_task', arguments: { task_id: '$1' } }] },
      { text: 'Checked off. One less thing.' },
    ],
  },
  {
    name: 'discover',
    when: [],
    steps: [
      {
        text: 'Let me listen through your library for that.',
        calls: [{ name: 'semanticSearch', arguments: { query: 'rainy nights', limit: 8 } }],
      },
      {
        text: 'A few that feel like rain on glass:\n\n1. **Two-Lane Prayer** — Ferris County Lights. Slow bass, streetlights in puddles.\n2. **Sodium** — Latchkey Physics. Warmer: rain as company rather than loneliness.\n3. **Wipers** — Lowlight Ferris. For the walk home.\n\n> the window keeps the city out / and lets the water in\n\nShall I turn these into a playlist?',
      },
    ],
  },
];

/** A step without a pace of its own takes 18 ms for each word. The pace is steady, so that late timers do not add up. */
export const SCRIPT = {
  scenarios: SCENARIOS.map((scenario) => ({ ...scenario, steps: scenario.steps.map((step) => ({ paceMs: 18, steady: true, ...step })) })),
};
