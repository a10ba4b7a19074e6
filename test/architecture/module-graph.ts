import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, normalize, relative, resolve } from 'node:path'

export const root = resolve(import.meta.dirname, '../..')

/** The workspaces by the name under which the others import them. */
const packages: Readonly<Record<string, string>> = {
  '@cofferdam/kubernetes/': 'kubernetes/',
  '@cofferdam/simulator/': 'simulator/',
  '@cofferdam/product/': '',
}
const folders = { kubernetes: 'kubernetes/', simulator: 'simulator/', cofferdam: '' }

export interface SourceFile {
  /** `kubernetes/api/core.ts`, `simulator/world/actor.ts`; those of the product without a prefix: `ledger/rules/ledger.ts`. */
  readonly path: string
  readonly file: string
  readonly text: string
  /** Paths of our own, as above. */
  readonly imports: readonly string[]
  readonly packages: readonly string[]
}

/** The files that belong to the product: no tests, nothing made for tests, nothing that runs in a browser. */
export function readSources(): SourceFile[] {
  return Object.entries(folders).flatMap(([folder, prefix]) => {
    const source = join(root, 'packages', folder, 'src')
    return readdirSync(source, { recursive: true, encoding: 'utf8' })
      .filter((path) => path.endsWith('.ts') && !/\.(test|contract)\.ts$|(^|\/)testing\//.test(path))
      .filter((path) => !path.startsWith('dashboard/page/'))
      .map((path) => readSource(join(source, path), prefix + path))
  })
}

function readSource(file: string, path: string): SourceFile {
  const text = readFileSync(file, 'utf8')
  const targets = [...text.matchAll(/^(?:import|export)\b[^'";]*?from '([^']+)'|^import '([^']+)'/gm)].map(
    (match) => (match[1] ?? match[2]) as string,
  )
  const own = targets.map((target) => ownPath(path, target))
  return {
    path,
    file: relative(root, file),
    text,
    imports: own.filter((target) => target !== undefined),
    packages: targets.filter((_, at) => own[at] === undefined),
  }
}

function ownPath(from: string, target: string): string | undefined {
  if (target.startsWith('.')) return normalize(join(dirname(from), target))
  const name = Object.keys(packages).find((prefix) => target.startsWith(prefix))
  return name === undefined ? undefined : packages[name] + target.slice(name.length)
}

/** Groups that import each other in a circle, each sorted; type-only imports count too. */
export function findCycles(graph: ReadonlyMap<string, readonly string[]>): string[][] {
  const order = new Map<string, number>()
  const lowest = new Map<string, number>()
  const stack: string[] = []
  const cycles: string[][] = []
  const visit = (node: string): void => {
    order.set(node, order.size)
    lowest.set(node, order.get(node) as number)
    stack.push(node)
    for (const next of graph.get(node) ?? []) {
      if (!graph.has(next)) continue
      if (!order.has(next)) visit(next)
      if (stack.includes(next)) lowest.set(node, Math.min(lowest.get(node) as number, lowest.get(next) as number))
    }
    if (lowest.get(node) !== order.get(node)) return
    const group = stack.splice(stack.indexOf(node))
    if (group.length > 1) cycles.push(group.sort())
  }
  for (const node of graph.keys()) if (!order.has(node)) visit(node)
  return cycles
}
