import { readFileSync } from 'node:fs'
import { build, type Metafile } from 'esbuild'
import { expect, it } from 'vitest'

const { dependencies } = JSON.parse(readFileSync('package.json', 'utf8')) as { dependencies: Record<string, string> }

async function bundleCommands(): Promise<Metafile['outputs']> {
  const { metafile } = await build({
    entryPoints: { cofferdam: 'packages/cofferdam/src/cli/main.ts' },
    outdir: 'dist',
    bundle: true,
    splitting: true,
    write: false,
    metafile: true,
    platform: 'node',
    target: 'node20',
    format: 'esm',
    external: Object.keys(dependencies),
  })
  return metafile.outputs
}

/** What is loaded before any command has begun: the entry and all that it imports at once. */
function loadedAtOnce(outputs: Metafile['outputs']): Set<string> {
  const loaded = new Set(['dist/cofferdam.js'])
  for (const path of loaded) {
    for (const { path: next, kind, external } of outputs[path]?.imports ?? []) {
      if (kind === 'import-statement' && external !== true) loaded.add(next)
    }
  }
  return loaded
}

it('an operator loads nothing of the simulator: a fake API server in it would be a way in, and half its size', async () => {
  const outputs = await bundleCommands()
  const loaded = [...loadedAtOnce(outputs)].flatMap((path) => Object.keys(outputs[path]?.inputs ?? {}))
  expect(loaded).toContain('packages/cofferdam/src/operator/operator.ts')
  expect(loaded.filter((file) => file.startsWith('packages/simulator/'))).toEqual([])
})

it('every package that is installed with the product is loaded by it: what only the simulator needs is bundled with the demo', async () => {
  const outputs = await bundleCommands()
  const named = [...loadedAtOnce(outputs)]
    .flatMap((path) => outputs[path]?.imports ?? [])
    .filter(({ external }) => external)
  const loaded = new Set(named.map(({ path }) => path).filter((path) => !path.startsWith('node:')))
  expect([...loaded].sort()).toEqual(Object.keys(dependencies).sort())
})
