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

it('the library reaches nothing of Node.js, no client and no simulator: decisions that read something are no decisions, and none runs in a browser', async () => {
  const { metafile, outputFiles } = await build({
    entryPoints: ['packages/cofferdam/src/library/domain.ts'],
    outfile: 'dist/domain.js',
    bundle: true,
    write: false,
    metafile: true,
    platform: 'neutral',
    format: 'esm',
    external: [...Object.keys(dependencies), 'node:*'],
  })
  const [output] = Object.values(metafile.outputs)
  expect([...new Set(output?.imports.map(({ path }) => path))]).toEqual(['zod'])
  const effectsByName = /\b(process\.|fetch\(|Buffer\b|setTimeout\(|setInterval\(|Date\.now\(|Math\.random\()/
  expect(outputFiles.flatMap(({ text }) => text.match(effectsByName) ?? [])).toEqual([])
  const reached = Object.entries(output?.inputs ?? {}).filter(([, { bytesInOutput }]) => bytesInOutput > 0)
  const effects = /^packages\/(simulator|cofferdam\/src\/(operator|dashboard))\/|\/client\/(http|exec|kubeconfig)/
  expect(reached.map(([file]) => file).filter((file) => effects.test(file))).toEqual([])
})

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
