// `npm run deploy-files`: writes deploy/ from the code. `packages/cofferdam/src/deploy/deploy-files.test.ts` fails when it was forgotten.
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { build } from 'esbuild'
import { external } from './bundle.mjs'

const bundle = 'dist/deploy-files.mjs'
await build({
  stdin: {
    contents: `export { buildDeployFiles } from './packages/cofferdam/src/deploy/deploy-files.ts'; export { buildChartFiles } from './packages/cofferdam/src/deploy/chart/chart-files.ts'; export { permissionsOf, switchedCapabilities } from './packages/cofferdam/src/operator/controller-names.ts'`,
    resolveDir: '.',
  },
  outfile: bundle,
  bundle: true,
  platform: 'node',
  format: 'esm',
  external,
})
const {
  buildDeployFiles,
  buildChartFiles,
  permissionsOf: permissions,
  switchedCapabilities: capabilities,
} = await import(pathToFileURL(bundle).href)
rmSync(bundle)
const { version } = JSON.parse(readFileSync('package.json', 'utf8'))
const files = {
  ...buildDeployFiles({ version, permissions }),
  ...buildChartFiles({ version, permissions, capabilities }),
}
for (const [path, text] of Object.entries(files)) {
  const file = join('deploy', path)
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, text)
  console.log(file)
}
