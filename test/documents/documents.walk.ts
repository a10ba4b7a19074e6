import { existsSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { describe, expect, it } from 'vitest'
import { exceptions } from './exceptions.ts'
import { parseDocument } from './parse-document.ts'
import { openShell } from './shell.ts'
import { startDemoFor } from './started-demo.ts'
import { walkDocument } from './walk-document.ts'
import { type Walk, walks } from './walks.ts'

const root = resolve(import.meta.dirname, '../..')
const folders = (process.env['PATH'] ?? '').split(':')
const inPath = folders.map((folder) => join(folder, 'kubectl')).find((path) => existsSync(path))
/** The newest of those that are named: texts of older ones differ. */
const kubectl = process.env['KUBECTL']?.trim().split(/\s+/).at(-1) ?? inPath

describe.concurrent('a reader who follows a document sees what it promises', () => {
  it.each(walks.map((walk) => [nameOf(walk), walk] as const))('%s', async (_name, walk) => {
    if (kubectl === undefined) throw new Error('no kubectl: put one in PATH or name one in KUBECTL')
    const demo = await startDemoFor(kubectl)
    const shell = openShell(demo.home, demo.environment)
    try {
      for (const { document, sections } of walk) {
        const written = parseDocument(readFileSync(join(root, document), 'utf8'))
        const blocks = written.filter(({ section }) => sections.includes(section))
        await walkDocument(blocks, { document, shell, exceptions, log: (line) => console.log(line) })
      }
      expect(await demo.end()).toEqual({ exitCode: 0, leavesNothing: true })
    } finally {
      shell.close()
      await demo.clear()
    }
  })
})

function nameOf(walk: Walk): string {
  return walk.map(({ document, sections }) => `${document}: ${sections.join(', ')}`).join('; ')
}
