// `node scripts/release-notes.mjs [VERSION]`: what the changelog says of a version, or of what is not released yet.
import { readFileSync } from 'node:fs'

/** The part of a changelog under the heading of this version; undefined: it has none. Parts with the same heading become one. */
function notesOf(changelog, version = 'Unreleased') {
  const parts = changelog.split(/^## /m).slice(1)
  const part = parts.find((each) => each.split(/[\s(]/, 1)[0] === version)
  if (part === undefined) return undefined
  const [, ...sections] = part.split(/^### /m)
  const byHeading = new Map()
  for (const section of sections) {
    const [heading, ...lines] = section.split('\n')
    byHeading.set(heading.trim(), [...(byHeading.get(heading.trim()) ?? []), lines.join('\n').trim()])
  }
  return [...byHeading].map(([heading, texts]) => `## ${heading}\n\n${texts.join('\n')}\n`).join('\n')
}

const version = process.argv[2]?.replace(/^v/, '')
const notes = notesOf(readFileSync('CHANGELOG.md', 'utf8'), version)
if (notes === undefined) console.error(`CHANGELOG.md has no heading for ${version}`)
else process.stdout.write(notes)
process.exitCode = notes === undefined ? 1 : 0
