// `npm run deploy-files`: writes deploy/ from the code. `packages/cofferdam/src/deploy/deploy-files.test.ts` fails when it was forgotten.
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { build } from 'esbuild'
import { external } from './bundle.mjs'

const bundle = 'dist/deploy-files.mjs'
await build({
  stdin: {
    contents: `export { buildDeployFiles } from './packages/cofferdam/src/deploy/deploy-files.ts'; export { permissionsOf } from './packages/cofferdam/src/operator/controller-names.ts'`,
    resolveDir: '.',
  },
  outfile: bundle,
  bundle: true,
  platform: 'node',
  format: 'esm',
  external,
})
const { buildDeployFiles, permissionsOf } = await import(pathToFileURL(bundle).href)
rmSync(bundle)
const { version } = JSON.parse(readFileSync('package.json', 'utf8'))
for (const [path, text] of Object.entries(buildDeployFiles({ version, permissions: permissionsOf }))) {
  const file = join('deploy', path)
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, text)
  console.log(file)
}
