import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { findCycles, readSources, root, type SourceFile } from './architecture/module-graph.ts'

const document = readFileSync(join(root, 'ARCHITECTURE.md'), 'utf8')
const sources = readSources()

interface Rule {
  readonly isEverything: boolean
  readonly rooms: readonly string[]
}

/** Row by row: which rooms a room may import. A room is the longest path of the table that a file begins with. */
const table = new Map<string, Rule>(
  document
    .split('\n')
    .filter((line) => /^\| `[a-z./*-]+` \|/.test(line))
    .map((line) => {
      const [, room = '', may = ''] = line.split('|')
      return [backticked(room)[0] as string, { isEverything: may.includes('everything'), rooms: backticked(may) }]
    }),
)

function backticked(text: string): string[] {
  return [...text.matchAll(/`([^`]+)`/g)].map((match) => match[1] as string)
}

function isWithin(path: string, room: string): boolean {
  return room.endsWith('/*') ? path.startsWith(room.slice(0, -1)) : path === room || path.startsWith(`${room}/`)
}

function roomOf(path: string): string | undefined {
  return [...table.keys()].filter((room) => isWithin(path, room)).sort((a, b) => b.length - a.length)[0]
}

const capabilityOf = (path: string) => /^capabilities\/([^/]+)\//.exec(path)?.[1]

function isAllowed(from: string, to: string): boolean {
  const [room, target] = [roomOf(from), roomOf(to)]
  if (room === undefined || target === undefined) return false
  const [own, other] = [capabilityOf(from), capabilityOf(to)]
  if (own !== undefined && other !== undefined) return own === other
  const rule = table.get(room) as Rule
  if (room === target || rule.rooms.some((allowed) => isWithin(to, allowed))) return true
  return rule.isEverything && !(to.startsWith('simulator/') && room !== 'cli/demo')
}

describe('the import table of ARCHITECTURE.md', () => {
  it('has a row for every file, and no row without a file', () => {
    expect(sources.filter(({ path }) => roomOf(path) === undefined).map(({ path }) => path)).toEqual([])
    const used = new Set(sources.map(({ path }) => roomOf(path)))
    expect([...table.keys()].filter((room) => !used.has(room))).toEqual([])
  })

  it('is kept by every import', () => {
    const broken = sources.flatMap(({ path, imports }) =>
      imports
        .filter((target) => !target.endsWith('package.json') && !isAllowed(path, target))
        .map((target) => `${path} → ${target}`),
    )
    expect([...new Set(broken)].sort()).toEqual([])
  })

  it('leaves no circle between capabilities', () => {
    const graph = new Map<string, string[]>()
    for (const { path, imports } of sources) {
      const own = capabilityOf(path)
      if (own === undefined) continue
      const others = imports.flatMap((target) => capabilityOf(target) ?? []).filter((other) => other !== own)
      graph.set(own, [...(graph.get(own) ?? []), ...others])
    }
    expect(findCycles(graph)).toEqual([])
  })

  it('leaves no circle between files, not even one of types', () => {
    const cycles = findCycles(new Map(sources.map(({ path, imports }) => [path, imports])))
    expect(cycles).toEqual([])
  })
})

/** Without comments. */
function code({ text }: SourceFile): string {
  return text.replace(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, '')
}

describe('purity', () => {
  const isPure = ({ path }: SourceFile) =>
    /^(kubernetes\/api|shared|safety|ledger\/rules|explain)\/|^capabilities\/[^/]+\/(domain|view)(\/|\.ts$)|(^|\/)domain\//.test(
      path,
    )
  const pure = sources.filter(isPure)

  it('pure rooms import no package with effects', () => {
    const named = pure.flatMap(({ path, packages }) => packages.map((name) => `${path} → ${name}`))
    expect(named.filter((line) => !line.endsWith('→ zod'))).toEqual([])
  })

  it('pure rooms import nothing but pure rooms', () => {
    const paths = new Set(pure.map(({ path }) => path))
    const leaks = pure.flatMap(({ path, imports }) =>
      imports.filter((target) => !paths.has(target)).map((target) => `${path} → ${target}`),
    )
    expect(leaks).toEqual([])
  })

  it('pure rooms know no clock, no chance and no promises; a Date made of a number is no clock', () => {
    const impure =
      /\bDate\.now\b|\bnew Date\(\)|\bperformance\b|\bMath\.random\b|\basync\b|\bawait\b|\bPromise\b|\bsetTimeout\b|\bprocess\./
    expect(pure.filter((source) => impure.test(code(source))).map(({ path }) => path)).toEqual([])
  })

  it('only entry files and the clock know the real time, and only they end the process', () => {
    const real =
      /\bDate\.now\(|\bnew Date\(\)|\bperformance\.now\(|\bMath\.random\(|\bsetTimeout\(|\bsetInterval\(|\bprocess\.exit/
    const knows = sources
      .filter(({ path }) => !/^(cli|operator)\//.test(path))
      .filter(({ path }) => !['kubernetes/runtime/real-clock.ts', 'kubernetes/runtime/random.ts'].includes(path))
      .filter((source) => real.test(code(source)))
    expect(knows.map(({ path }) => path)).toEqual([])
  })
})

describe('one decision', () => {
  const product = sources.filter(({ file }) => file.startsWith('packages/cofferdam/src/'))

  it('whether a node is being emptied is read in one place: a capability that knows only cordons takes a node for open that Karpenter empties', () => {
    const field = /\bunschedulable\b/
    const named = product.filter((source) => field.test(code(source))).map(({ path }) => path)
    expect(named.sort()).toEqual([
      // A field of kured's lock annotation, which is no Node.
      'capabilities/kured/domain/kured-lock.ts',
      // Writes it.
      'capabilities/node-cordon.ts',
      // Writes it, as kubectl cordon does.
      'cli/demo/actions/offer-actions.ts',
      // Writes it, as kubectl uncordon does.
      'cli/drain/end-drains.ts',
      'shared/closed-node.ts',
    ])
  })

  it('the mere field is asked for only by what sets or lifts a cordon, or reports what others see of it', () => {
    const asks = product.filter((source) => /\bisCordoned\b[^}]*\} from '[^']*closed-node\.ts'/.test(source.text))
    expect(asks.map(({ path }) => path).sort()).toEqual([
      'capabilities/drain-lock/apply/cordon.ts',
      'capabilities/drain-lock/observe/keys.ts',
      'capabilities/drain-lock/observe/objects.ts',
      'capabilities/longhorn-drain/domain/closing-change.ts',
      'capabilities/longhorn-drain/domain/closing-mark.ts',
      'capabilities/machine-config/domain/parse-node.ts',
      'capabilities/node-maintenance/domain/parse-maintenance.ts',
      'cli/drain/end-drains.ts',
      'cli/drain/uncordon.ts',
    ])
  })
})

describe('small rooms', () => {
  it('no source file is longer than 400 lines', () => {
    const long = sources.map(({ file, text }) => [file, text.split('\n').length] as const)
    expect(long.filter(([, lines]) => lines > 401)).toEqual([])
  })

  it('no place is called by a word that says nothing; `index.ts` is the name of a capability', () => {
    const empty = sources
      .map(({ path }) => path)
      .filter((path) => /(^|\/)(utils?|helpers?|common|misc|index)(\.ts|\/)/.test(path))
    expect(empty.filter((path) => !/^capabilities\/[^/]+\/index\.ts$/.test(path))).toEqual([])
  })

  it('every path that ARCHITECTURE.md names is there', () => {
    const named = backticked(document).filter((path) => /^(packages|test|deploy|docs|bench|bin|scenarios)\//.test(path))
    expect(named.filter((path) => statSync(join(root, path), { throwIfNoEntry: false }) === undefined)).toEqual([])
  })
})
