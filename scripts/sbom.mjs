// `npm run sbom [-- FILE]`: a CycloneDX list of everything that the published package contains: its dependencies, and what is bundled into dist/.
// Fails when a component has no checksum, or when a package that the sources import is missing.
import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { importedPackages } from './imported-packages.mjs'

function npmSbom(...flags) {
  const { status, stdout, stderr } = spawnSync('npm', ['sbom', '--sbom-format', 'cyclonedx', ...flags], {
    encoding: 'utf8',
    maxBuffer: 2 ** 28,
  })
  if (status === 0) return JSON.parse(stdout)
  console.error(`npm sbom failed; it needs npm 9.8 or newer and an installed node_modules:\n${stderr}`)
  process.exit(1)
}

const production = npmSbom('--omit', 'dev')
const everything = npmSbom()
const idOf = (component) => component['bom-ref']
const byName = new Map(everything.components.map((component) => [component.name, component]))
const dependsOn = new Map(everything.dependencies.map(({ ref, dependsOn: on = [] }) => [ref, on]))
const byRef = new Map(everything.components.map((component) => [idOf(component), component]))

const listed = new Map(production.components.map((component) => [idOf(component), component]))
const missing = []
const waiting = []
for (const name of importedPackages()) {
  const component = byName.get(name)
  if (component === undefined) missing.push(name)
  else waiting.push(idOf(component))
}
for (let ref = waiting.pop(); ref !== undefined; ref = waiting.pop()) {
  const component = byRef.get(ref)
  if (component === undefined || listed.has(ref)) continue
  listed.set(ref, component)
  waiting.push(...(dependsOn.get(ref) ?? []))
}

// Workspaces are the product itself.
const others = [...listed.values()].filter(({ purl = '' }) => !purl.includes('%40cofferdam/'))
const components = others.sort((a, b) => (idOf(a) < idOf(b) ? -1 : 1))
const bare = components.filter(({ hashes = [] }) => hashes.length === 0).map(idOf)
const dependencies = everything.dependencies.filter(({ ref }) => listed.has(ref))
const { version } = JSON.parse(readFileSync('package.json', 'utf8'))
const file = process.argv[2] ?? 'dist/sbom.cdx.json'
writeFileSync(file, `${JSON.stringify({ ...production, components, dependencies }, undefined, 2)}\n`)
console.log(`cofferdam ${version}: ${components.length} components in ${file}`)
for (const name of missing) console.error(`${name} is imported and not installed`)
for (const ref of bare) console.error(`${ref} has no checksum`)
process.exit(missing.length + bare.length === 0 ? 0 : 1)
