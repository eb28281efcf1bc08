// A cover for every song: the one in its file, the catalogue's through our own proxy, or one drawn from its code, always the same.
import { memo, useState } from 'react';
import './artwork.css';

interface Props {
  /** What the drawing grows from; `coverOf` says it for music. */
  seed: string;
  url?: string | null;
  size?: number;
}

/** Pictures their host would not give: not asked for again before the page is loaded anew. */
const missing = new Set<string>();

export const Artwork = memo(function Artwork({ seed, url, size = 44 }: Props) {
  const [, lookAgain] = useState(0);
  const frame = { width: size, height: size, borderRadius: Math.max(5, size / 9) };
  if (url && !missing.has(url)) {
    return (
      <img
        className="artwork"
        style={frame}
        src={url.startsWith('/api/') ? url : `/api/artwork?url=${encodeURIComponent(url)}`}
        alt=""
        loading="lazy"
        decoding="async"
        onError={() => {
          missing.add(url);
          lookAgain((times) => times + 1);
        }}
      />
    );
  }
  const { colours, shape } = design(seed);
  return (
    <svg className="artwork" style={frame} viewBox="0 0 100 100" aria-hidden="true">
      <rect width="100" height="100" fill={colours[0]} />
      {shape}
    </svg>
  );
});

/** Tracks of one album share its cover, in every list and on the album itself. */
export function coverOf({ artist, album, title }: { artist: string; album?: string; title: string }): string {
  return `${artist} / ${album || title}`;
}

type Palette = [ground: string, main: string, second: string, spark: string];

const PALETTES: Palette[] = [
  ['#1f3a4d', '#f2b880', '#d9694a', '#f8ead2'],
  ['#f2e3c6', '#c8452f', '#27303f', '#e8a33d'],
  ['#2c2140', '#e46f8a', '#7a5bd0', '#f9d7a8'],
  ['#dfe6d5', '#2f5d4a', '#8fae7c', '#d9793f'],
  ['#f6d9d0', '#7d2e46', '#e0805d', '#3b2a3f'],
  ['#14262b', '#5fb3a5', '#e9d8a6', '#ca6a3b'],
  ['#e9e4f2', '#4b4a8f', '#b596c9', '#f0a868'],
  ['#3a1f1c', '#e9a15b', '#a63d2b', '#f4e4c9'],
  ['#d3e2ea', '#24506e', '#e56b4f', '#f6f0df'],
  ['#23291d', '#b9c26b', '#657a3e', '#efe6c4'],
  ['#efe9dd', '#1f2f46', '#c98b2b', '#7fa3a0'],
  ['#0f2f3a', '#e4572e', '#f3a712', '#cfe3d8'],
  ['#f4c95d', '#2d3047', '#e0594b', '#fff4dc'],
  ['#452b3d', '#c9a7c7', '#e2c391', '#f3eadf'],
  ['#c7d3bd', '#8a3324', '#47624f', '#f5efe0'],
];

function design(seed: string) {
  const pick = random(seed);
  const colours = PALETTES[pick(PALETTES.length)] ?? PALETTES[0]!;
  const draw = COMPOSITIONS[pick(COMPOSITIONS.length)] ?? rings;
  return { colours, shape: draw(colours, pick) };
}

type Pick = (below: number) => number;
type Composition = (colours: Palette, pick: Pick) => React.JSX.Element;

const rings: Composition = ([, main, second, spark], pick) => {
  const [x, y] = [30 + pick(41), 30 + pick(41)];
  return (
    <>
      {[100, 46, 31, 17].map((r, ring) => (
        <circle key={r} cx={x} cy={y} r={r} fill={ring % 2 === 0 ? main : second} opacity={0.92} />
      ))}
      <circle cx={x} cy={y} r={5} fill={spark} />
    </>
  );
};

const horizon: Composition = ([, main, second, spark], pick) => {
  const [sun, line] = [22 + pick(56), 52 + pick(18)];
  return (
    <>
      <circle cx={sun} cy={line - 6} r={15 + pick(12)} fill={spark} />
      <path d={`M0 ${line} Q25 ${line - 14 + pick(10)} 50 ${line} T100 ${line - 4} V100 H0Z`} fill={main} />
      <path d={`M0 ${line + 16} Q30 ${line + 2 + pick(8)} 60 ${line + 15} T100 ${line + 12} V100 H0Z`} fill={second} />
    </>
  );
};

const bars: Composition = ([, main, second, spark], pick) => (
  <>
    {Array.from({ length: 9 }, (_, bar) => {
      const height = 14 + pick(68);
      const fill = bar % 4 === 3 ? spark : bar % 2 === 0 ? main : second;
      return <rect key={bar} x={6 + bar * 10} y={50 - height / 2} width={6.4} height={height} rx={3.2} fill={fill} />;
    })}
  </>
);

const arcs: Composition = ([, main, second, spark], pick) => {
  const turn = pick(4) * 90;
  return (
    <g transform={`rotate(${turn} 50 50)`} fill="none" strokeWidth="9">
      {[88, 70, 52, 34].map((r, arc) => (
        <circle key={r} cx="0" cy="100" r={r} stroke={[main, second, spark, main][arc]} />
      ))}
      <circle cx="0" cy="100" r="18" fill={second} stroke="none" />
    </g>
  );
};

const overlap: Composition = ([, main, second, spark], pick) => {
  const lean = pick(30) - 15;
  return (
    <g transform={`rotate(${lean * 3} 50 50)`}>
      <circle cx="38" cy="50" r="29" fill={main} />
      <circle cx="62" cy="50" r="29" fill={second} opacity="0.85" />
      <rect x={6 + pick(20)} y="82" width={30 + pick(40)} height="4" rx="2" fill={spark} />
    </g>
  );
};

const petals: Composition = ([, main, second, spark], pick) => {
  const n = 5 + pick(4);
  return (
    <g transform={`rotate(${pick(90)} 50 50)`}>
      {Array.from({ length: n }, (_, petal) => (
        <ellipse
          key={petal}
          cx="50"
          cy="26"
          rx="11"
          ry="24"
          fill={petal % 2 === 0 ? main : second}
          transform={`rotate(${(360 / n) * petal} 50 50)`}
          opacity="0.9"
        />
      ))}
      <circle cx="50" cy="50" r="9" fill={spark} />
    </g>
  );
};

const moons: Composition = ([, main, second, spark], pick) => {
  const full = pick(9);
  return (
    <>
      {Array.from({ length: 9 }, (_, moon) => {
        const [x, y] = [22 + (moon % 3) * 28, 22 + Math.floor(moon / 3) * 28];
        return (
          <circle
            key={moon}
            cx={x}
            cy={y}
            r={moon === full ? 12 : 6 + pick(5)}
            fill={moon === full ? spark : moon % 2 === 0 ? main : second}
          />
        );
      })}
    </>
  );
};

const bands: Composition = ([, main, second, spark], pick) => {
  const lean = [-35, -20, 20, 35][pick(4)] ?? 20;
  return (
    <g transform={`rotate(${lean} 50 50)`}>
      {[main, second, spark, main].map((fill, band) => (
        <rect key={band} x="-30" y={-4 + band * 29 + pick(8)} width="160" height={9 + pick(13)} fill={fill} />
      ))}
    </g>
  );
};

const COMPOSITIONS: Composition[] = [rings, horizon, bars, arcs, overlap, petals, moons, bands];

/**
 * The same code draws the same cover everywhere. FNV-1a over the characters, then a counter whose every step is well
 * mixed: neighbouring ISRCs differ in one digit, and their covers should not look like neighbours.
 */
function random(seed: string): Pick {
  let hash = 2166136261;
  for (const char of seed) hash = Math.imul(hash ^ (char.codePointAt(0) ?? 0), 16777619);
  return (below) => {
    hash = (hash + 0x9e3779b9) | 0;
    let mixed = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
    mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
    return ((mixed ^ (mixed >>> 16)) >>> 0) % below;
  };
}
