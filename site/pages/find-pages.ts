import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { SourcePage } from './source-page.ts'

/** Every Markdown file beside the README and below docs/. A new one is on the site without being named anywhere. */
export function findPages(root: string): SourcePage[] {
  const beside = readdirSync(root).filter((name) => name.endsWith('.md'))
  const below = readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.md'))
    .map((path) => `docs/${path.replaceAll('\\', '/')}`)
  return [...beside, ...below].sort().map((file) => ({ file, markdown: readFileSync(join(root, file), 'utf8') }))
}
