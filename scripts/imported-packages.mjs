import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

const imports =
  /(?:^|\n)\s*(?:import|export)\b(?!\s+type\b)[^'";]*?\bfrom\s+'([^'.][^']*)'|(?:^|\n)\s*import\s+'([^'.][^']*)'/g

/** The packages of others that the sources of the product import, tests left out: what dist/ is made of. */
export function importedPackages() {
  const found = new Set()
  for (const path of readdirSync('packages', { recursive: true, encoding: 'utf8' })) {
    const isSource = /^[^/]+\/src\/.*\.tsx?$/.test(path) && !/\.(test|contract)\.tsx?$/.test(path)
    if (!isSource || path.includes('/testing/')) continue
    for (const [, named, bare] of readFileSync(join('packages', path), 'utf8').matchAll(imports)) {
      const name = (named ?? bare)
        .split('/')
        .slice(0, (named ?? bare).startsWith('@') ? 2 : 1)
        .join('/')
      if (!name.startsWith('node:') && !name.startsWith('@cofferdam/')) found.add(name)
    }
  }
  return [...found].sort()
}
