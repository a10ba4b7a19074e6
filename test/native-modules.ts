import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { build } from 'esbuild'
import type { Plugin } from 'vitest/config'

const root = resolve(import.meta.dirname, '..')
const rooms = ['packages', 'scenarios', 'simulation', 'test']
/** What is for a browser, or for tests of another kind; and this module, which has in its texts what it replaces. */
const others = [
  '/dashboard/page/',
  '/test/browser/',
  '/test/documents/',
  '/test/lab/',
  '/test/native-modules.ts',
  '/node_modules/',
]
const workspaces: Readonly<Record<string, string>> = {
  '@cofferdam/kubernetes/': 'packages/kubernetes/src/',
  '@cofferdam/product/': 'packages/cofferdam/src/',
  '@cofferdam/simulator/': 'packages/simulator/src/',
}
const home = join(root, '.cofferdam')
const folder = join(home, `native-${process.pid}`)

/** Modules that lie here are loaded by Node.js itself. */
export const nativeFolder = /\/\.cofferdam\/native-\d+\//

/**
 * Compiles all that tests import, once for the whole run, and has Node.js load it. Vitest's own loader makes each use of an import the call of a
 * getter: a fifth of the work of a long test. Test files themselves, and with them names and snapshots, remain Vitest's.
 */
export function nativeModules(): Plugin {
  let compiled: Promise<void> | undefined
  return {
    name: 'native modules',
    enforce: 'pre',
    buildStart() {
      compiled ??= compile()
      return compiled
    },
    async resolveId(source, importer, options) {
      if (importer === undefined || !source.endsWith('.ts')) return undefined
      const found = await this.resolve(source, importer, { ...options, skipSelf: true })
      if (found === null || !isImported(found.id)) return undefined
      return join(folder, relative(root, found.id)).replace(/\.ts$/, '.js')
    },
  }
}

function isImported(file: string): boolean {
  const [room = ''] = relative(root, file).split('/')
  const isModule = file.endsWith('.ts') && !file.endsWith('.test.ts') && !file.endsWith('.d.ts')
  return isModule && rooms.includes(room) && !others.some((other) => file.includes(other))
}

async function compile(): Promise<void> {
  const files = rooms.flatMap((room) =>
    readdirSync(join(root, room), { recursive: true, encoding: 'utf8' }).map((file) => join(root, room, file)),
  )
  const { outputFiles } = await build({
    entryPoints: files.filter(isImported),
    outbase: root,
    outdir: folder,
    format: 'esm',
    target: 'node20.19',
    write: false,
    logLevel: 'warning',
  })
  sweep()
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
  for (const { path, text } of outputFiles) {
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, atItsPlace(text, join(root, relative(folder, path))))
  }
}

/** Takes away what runs that were killed have left. */
function sweep(): void {
  mkdirSync(home, { recursive: true })
  for (const name of readdirSync(home)) {
    const [, process] = /^native-(\d+)$/.exec(name) ?? []
    if (process !== undefined && !isRunning(Number(process))) rmSync(join(home, name), { recursive: true, force: true })
  }
}

function isRunning(id: number): boolean {
  try {
    return process.kill(id, 0)
  } catch {
    return false
  }
}

/** Imports lead to the neighbours in the folder; data, and what the module at this place reads beside itself, remain where they are. */
export function atItsPlace(text: string, place: string): string {
  const hrefOf = (path: string) => JSON.stringify(pathToFileURL(path).href)
  return text
    .replaceAll('import.meta.url', hrefOf(place.replace(/\.js$/, '.ts')))
    .replaceAll('import.meta.dirname', JSON.stringify(dirname(place)))
    .replace(/(?<=\bfrom )"(\.[^"\n]+\.json)"/g, (_, data: string) => hrefOf(join(dirname(place), data)))
    .replace(/(?<=\b(?:from |import |import\())"([^"\n]+)\.ts"/g, (_, module: string) => {
      const [name, inside = ''] = Object.entries(workspaces).find(([start]) => module.startsWith(start)) ?? []
      return name === undefined ? `"${module}.js"` : hrefOf(join(folder, inside, `${module.slice(name.length)}.js`))
    })
}
