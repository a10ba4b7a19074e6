import { readFileSync } from 'node:fs'
import { buildSite } from './build-site.ts'

/** `scripts/site.mjs` bundles the script of the search first, and says where it is. */
const [script = '', folder = 'public'] = process.argv.slice(2)
const { files, broken } = buildSite('.', folder, readFileSync(script, 'utf8'))
for (const link of broken) console.error(link)
if (broken.length > 0) {
  console.error(`${broken.length} broken links`)
  process.exitCode = 1
} else {
  const pages = [...files.keys()].filter((file) => file.endsWith('.html'))
  console.log(`${pages.length} pages in ${folder}/, every link leads somewhere; open ${folder}/index.html`)
}
