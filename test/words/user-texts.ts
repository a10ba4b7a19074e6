import { readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { textsOfDocument } from './texts-of-document.ts'
import { type Text, textsOfSource } from './texts-of-source.ts'

const root = resolve(import.meta.dirname, '../..')
const product = 'packages/cofferdam/src'

export interface UserText extends Text {
  readonly file: string
}

/** Everything that a user of Cofferdam reads: what the product says, the documents and the examples. */
export function readUserTexts(): UserText[] {
  const sources = filesIn(product, /\.tsx?$/).filter((file) => !/\.test\.tsx?$|\/testing\//.test(file))
  const documents = [...filesIn('docs', /\.md$/), 'README.md', ...filesIn('examples', /\.ya?ml$/)]
  return [
    ...sources.flatMap((file) => named(file, textsOfSource(read(file), file.endsWith('x') ? 'tsx' : 'ts'))),
    ...documents.flatMap((file) => named(file, textsOfDocument(read(file)))),
    ...named('CHANGELOG.md', textsOfDocument(unreleased(read('CHANGELOG.md')))),
  ]
}

/** What was released stays as it was said. */
function unreleased(changelog: string): string {
  const released = /^## (?!Unreleased)/m.exec(changelog)
  return released === null ? changelog : changelog.slice(0, released.index)
}

function filesIn(folder: string, name: RegExp): string[] {
  return readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((path) => name.test(path))
    .map((path) => `${folder}/${path}`)
    .sort()
}

function read(file: string): string {
  return readFileSync(join(root, file), 'utf8')
}

function named(file: string, texts: readonly Text[]): UserText[] {
  return texts.map((text) => ({ file, ...text }))
}
