import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { describe, expect, it } from 'vitest'
import { exceptions } from './exceptions.ts'
import { parseDocument } from './parse-document.ts'
import { otherSections, walks } from './walks.ts'

const root = resolve(import.meta.dirname, '../..')
const documents = Object.keys(otherSections)
const blocksOf = (document: string) => parseDocument(readFileSync(join(root, document), 'utf8'))

describe('no command of a walked document is forgotten', () => {
  it.each(documents)('%s: every section with commands is walked or named as one for another cluster', (document) => {
    const parts = walks.flat().filter((part) => part.document === document)
    const walked = parts.flatMap(({ sections }) => sections)
    const named = new Set([...walked, ...(otherSections[document] ?? [])])
    const present = new Set(blocksOf(document).map(({ section }) => section))
    expect([...named].sort()).toEqual([...present].sort())
  })

  it('an exception is for a command that is still in its document', () => {
    const isThere = ({ document, command }: (typeof exceptions)[number]) =>
      blocksOf(document).some(({ commands }) => commands.some(({ text }) => text.trim() === command))
    expect(exceptions.filter((exception) => !isThere(exception))).toEqual([])
  })
})
