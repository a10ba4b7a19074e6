import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'

const workspaces: Readonly<Record<string, string>> = {
  '@cofferdam/kubernetes/': 'packages/kubernetes/src/',
  '@cofferdam/simulator/': 'packages/simulator/src/',
  '@cofferdam/product/': 'packages/cofferdam/src/',
}

/** The tests that load one of these files, the cheap and near ones first: tables, then properties, then other rooms, then whole clusters. */
export function testsThatReach(files: ReadonlySet<string>): string[] {
  const imports = new Map(readTypeScript().map((file) => [file, importsOf(file)]))
  const reaches = new Map<string, boolean>()
  const visit = (file: string): boolean => {
    const known = reaches.get(file)
    if (known !== undefined) return known
    reaches.set(file, false)
    const does = files.has(file) || (imports.get(file) ?? []).some(visit)
    reaches.set(file, does)
    return does
  }
  const near = new Set([...files].map((file) => dirname(file)))
  const costOf = (test: string) =>
    (near.has(dirname(test)) ? 0 : 2) +
    (test.includes('.property.') ? 1 : 0) +
    (test.startsWith('packages/cofferdam/') ? 0 : 4)
  return [...imports.keys()]
    .filter((file) => file.endsWith('.test.ts') && !file.endsWith('.deep.test.ts') && visit(file))
    .sort((one, other) => costOf(one) - costOf(other) || one.localeCompare(other))
}

function readTypeScript(): string[] {
  return ['packages', 'scenarios'].flatMap((root) =>
    readdirSync(root, { recursive: true, encoding: 'utf8' })
      .filter((path) => path.endsWith('.ts') && !path.includes('node_modules'))
      .map((path) => join(root, path)),
  )
}

function importsOf(file: string): string[] {
  const text = readFileSync(file, 'utf8')
  return [...text.matchAll(/^(?:import|export)\b(?! type)[^'";]*?from '([^']+)'/gm)].flatMap(([, target]) => {
    if (target === undefined) return []
    if (target.startsWith('.')) return [normalize(join(dirname(file), target))]
    const name = Object.keys(workspaces).find((prefix) => target.startsWith(prefix))
    return name === undefined ? [] : [`${workspaces[name]}${target.slice(name.length)}`]
  })
}
