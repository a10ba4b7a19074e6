import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { describe, expect, it } from 'vitest'
import { exceptions, isFor } from './exceptions.ts'
import { parseDocument } from './parse-document.ts'
import { walks } from './walks.ts'

const root = resolve(import.meta.dirname, '../..')
const documents = [...new Set(walks.flat().map(({ document }) => document))]
const blocksOf = (document: string) => parseDocument(readFileSync(join(root, document), 'utf8'))

describe('no command of a walked document is forgotten', () => {
  it.each(documents)('%s: every section with commands is walked', (document) => {
    const parts = walks.flat().filter((part) => part.document === document)
    const walked = parts.flatMap(({ sections }) => sections)
    const present = new Set(blocksOf(document).map(({ section }) => section))
    expect([...new Set(walked)].sort()).toEqual([...present].sort())
  })

  it('an exception is for a command that is still in its document', () => {
    const isThere = (exception: (typeof exceptions)[number]) =>
      blocksOf(exception.document).some(({ commands }) =>
        commands.some(({ text }) => isFor(exception, { document: exception.document, text })),
      )
    expect(exceptions.filter((exception) => !isThere(exception))).toEqual([])
  })
})
