import { explore } from './explore.ts'

const b = JSON.parse(process.argv[2] ?? '{}')
const t = process.cpuUsage()
const w = Date.now()
const r = explore(
  {
    name: 'try',
    stays: { a: [true, true], b: [true, true] },
    drainers: 2,
    hasFencer: false,
    ownerLocks: 0,
    evictions: 0,
    crashes: [0, 0, 0],
    lastAge: 0,
    guard: 'up',
    isCordonedBefore: false,
    mayGiveBack: false,
    ...b,
  },
  {
    limit: Number(process.argv[3] ?? 3e6),
    progress: (p) => console.log(JSON.stringify(p), Math.round(process.memoryUsage().rss / 1e6)),
  },
)
const c = process.cpuUsage(t)
console.log(
  r.states,
  r.transitions,
  r.depth,
  r.isComplete,
  (Date.now() - w) / 1000,
  's cpu',
  (c.user + c.system) / 1e6,
  Math.round(process.memoryUsage().rss / 1e6),
  'MB',
)
for (const f of r.findings) console.log(f.what + '\n  ' + f.trace.join('\n  '))
