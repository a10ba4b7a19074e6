import { readdirSync, readFileSync, statSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { describe, expect, it } from 'vitest'

const root = resolve(import.meta.dirname, '..')
const source = join(root, 'src')
const document = readFileSync(join(root, 'ARCHITECTURE.md'), 'utf8')

/** The files that belong to the product: no tests, no stages for tests, nothing that runs in a browser. */
const files = readdirSync(source, { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.ts') && !/\.(test|contract)\.ts$|\/testing\//.test(file))
  .filter((file) => !file.startsWith('dashboard/page/'))

const ports = backticked(/\*Ports\* are[\s\S]*?\n\n/.exec(document)?.[0] ?? '')
const table = new Map(
  document
    .split('\n')
    .filter((line) => /^\| `[a-z./-]+` \|/.test(line))
    .map((line) => {
      const [, folder = '', may = ''] = line.split('|')
      const all = may.includes('everything')
      return [backticked(folder)[0] ?? '', { all, folders: backticked(may), ports: may.includes('ports') }]
    }),
)

function backticked(text: string): string[] {
  return [...text.matchAll(/`([^`]+)`/g)].map((match) => match[1] as string)
}

function roomOf(file: string): string {
  return file.split('/')[0] as string
}

function importsOf(file: string): string[] {
  const text = readFileSync(join(source, file), 'utf8')
  return [...text.matchAll(/^(?:import|export)\b[^'";]*?from '([^']+)'|^import '([^']+)'/gm)].map(
    (match) => (match[1] ?? match[2]) as string,
  )
}

function isAllowed(from: string, to: string): boolean {
  const rule = table.get(roomOf(from))
  if (rule === undefined) return false
  return (
    roomOf(from) === roomOf(to) || rule.all || rule.folders.includes(roomOf(to)) || (rule.ports && ports.includes(to))
  )
}

describe('the import table of ARCHITECTURE.md', () => {
  it('names every room of src and nothing else', () => {
    const rooms = new Set(readdirSync(source).filter((name) => !name.endsWith('.test.ts')))
    expect([...table.keys()].sort()).toEqual([...rooms].sort())
  })

  it('names only ports that exist', () => {
    expect(ports.filter((port) => !files.includes(port))).toEqual([])
  })

  it('is kept by every import', () => {
    const broken = files.flatMap((file) =>
      importsOf(file)
        .filter((target) => target.startsWith('.'))
        .map((target) => relative(source, resolve(dirname(join(source, file)), target)))
        .filter((target) => !isAllowed(file, target))
        .map((target) => `${file} → ${target}`),
    )
    expect(broken).toEqual([])
  })
})

describe('purity', () => {
  const pure = files.filter((file) => ['api', 'domain'].includes(roomOf(file)))

  it('api and domain import no package with effects', () => {
    const packages = pure.flatMap((file) => importsOf(file).filter((target) => !target.startsWith('.')))
    expect([...new Set(packages)].filter((name) => name !== 'zod')).toEqual([])
  })

  it('api and domain know no clock, no chance and no promises', () => {
    const impure = pure.filter((file) =>
      /\bDate\b|\bMath\.random\b|\basync\b|\bawait\b|\bPromise\b|\bsetTimeout\b|\bprocess\./.test(code(file)),
    )
    expect(impure).toEqual([])
  })

  it('only entry files and the clock know the real time, and only they end the process', () => {
    const knows = files
      .filter((file) => !['cli', 'observability'].includes(roomOf(file)))
      .filter((file) => !['runtime/real-clock.ts', 'runtime/random.ts'].includes(file))
      .filter((file) =>
        /\bDate\.now\(|\bnew Date\(\)|\bMath\.random\(|\bsetTimeout\(|\bsetInterval\(|\bprocess\.exit/.test(code(file)),
      )
    expect(knows).toEqual([])
  })

  function code(file: string): string {
    return readFileSync(join(source, file), 'utf8').replace(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, '')
  }
})

describe('small rooms', () => {
  it('no source file is longer than 400 lines', () => {
    const long = files.map((file) => [file, readFileSync(join(source, file), 'utf8').split('\n').length] as const)
    expect(long.filter(([, lines]) => lines > 401)).toEqual([])
  })

  it('no place is called by a word that says nothing', () => {
    const empty = files.filter((file) => /(^|\/)(utils?|helpers?|common|misc|index)(\.ts|\/)/.test(file))
    expect(empty).toEqual([])
  })

  it('every path that ARCHITECTURE.md names is there', () => {
    const named = backticked(document).filter((path) => /^(src|test|deploy|docs|bench|bin)\//.test(path))
    expect(named.filter((path) => statSync(join(root, path), { throwIfNoEntry: false }) === undefined)).toEqual([])
  })
})
