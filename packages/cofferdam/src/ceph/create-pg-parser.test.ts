import { pathToFileURL } from 'node:url'
import { scratchFolder } from '@cofferdam/kubernetes/client/testing/scratch-folder.ts'
import { build } from 'esbuild'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createPgParser } from './create-pg-parser.ts'
import { parseOsdDumpText } from './parse-osd-dump.ts'
import { parsePgText } from './pg-parser.ts'
import { readSample, readSampleText } from './testing/read-sample.ts'

/** Larger than what is parsed in place. */
const large = JSON.stringify(
  Array.from({ length: 5000 }, (_, pg) => ({
    pgid: `1.${pg.toString(16)}`,
    state: pg % 7 === 0 ? 'active+undersized+degraded' : 'active+clean',
    reported_epoch: 40 + (pg % 3),
    up: [pg % 12, (pg + 5) % 12, (pg + 9) % 12],
    acting: [pg % 12, (pg + 5) % 12],
  })),
)

async function bundledWorker(): Promise<URL> {
  const folder = await scratchFolder({ 'package.json': '{"type":"module"}' })
  const outfile = `${folder}/pg-parse-worker.js`
  const entry = new URL('./pg-parse-worker.ts', import.meta.url).pathname
  await build({ entryPoints: [entry], outfile, bundle: true, platform: 'node', format: 'esm', logLevel: 'error' })
  return pathToFileURL(outfile)
}

function parserWith(workerFile: URL) {
  const parser = createPgParser({ workerFile })
  onTestFinished(() => parser.close())
  return parser
}

describe('a large dump', () => {
  it('comes out of its thread as it would have in place, with columns that can be used', async () => {
    const { parse } = parserWith(await bundledWorker())
    const table = await parse(large)
    expect(table).toEqual(parsePgText(large))
    expect(table.known && table.value.acting.buffer).toBeInstanceOf(ArrayBuffer)
  })

  it('of OSDs comes out the same way', async () => {
    const osds = Array.from({ length: 5000 }, (_, osd) => ({ osd, up: 1, in: 1, up_from: osd, down_at: 0 }))
    const text = JSON.stringify({ ...(readSample('healthy-osd-dump') as object), osds })
    const { parseOsdDump } = parserWith(await bundledWorker())
    expect(await parseOsdDump(text)).toEqual(parseOsdDumpText(text))
    expect(await parseOsdDump([new TextEncoder().encode(text)])).toEqual(parseOsdDumpText(text))
  })

  it('of OSDs that did not change starts no thread again: in each drain of a large cluster it took fifty megabytes', async () => {
    const folder = await scratchFolder({
      'counts.mjs': `import { parentPort, threadId } from 'node:worker_threads'
        parentPort.on('message', (part) => {
          if (part !== null) return
          parentPort.postMessage({ known: true, value: { threadId } })
          parentPort.close()
        })`,
    })
    const { parseOsdDump } = parserWith(pathToFileURL(`${folder}/counts.mjs`))
    const bytes = (text: string) => [new TextEncoder().encode(text)]
    const first = await parseOsdDump(bytes(large))
    expect(await parseOsdDump(bytes(large))).toBe(first)
    expect(await parseOsdDump(large)).toBe(first)
    expect(await parseOsdDump(bytes(`${large} `))).not.toEqual(first)
  })

  it('that comes in many parts is put together again', async () => {
    const text = `${' '.repeat(9_000_000)}${large}`
    const { parse } = parserWith(await bundledWorker())
    expect(await parse(text)).toEqual(parsePgText(large))
  })

  it('of bytes is handed to its thread, and what shares memory with others is copied', async () => {
    const { parse } = parserWith(await bundledWorker())
    const whole = new TextEncoder().encode(large)
    const own = whole.slice(0, 100_000)
    const shared = whole.subarray(100_000)
    expect(await parse([own, shared])).toEqual(parsePgText(large))
    expect([own.byteLength, shared.byteLength]).toEqual([0, whole.length - 100_000])
  })

  it('of bytes in more chunks than are handed over at a time is put together again', async () => {
    const { parse } = parserWith(await bundledWorker())
    const bytes = new TextEncoder().encode(large)
    const chunks = Array.from({ length: Math.ceil(bytes.length / 1000) }, (_, at) =>
      bytes.slice(at * 1000, at * 1000 + 1000),
    )
    expect(await parse(chunks)).toEqual(parsePgText(large))
  })

  it('as a table needs no thread, and others get their turn while it is read', async () => {
    const folder = await scratchFolder({ 'dies.mjs': 'throw new Error("started for a table")' })
    const { parse } = parserWith(pathToFileURL(`${folder}/dies.mjs`))
    const rows = Array.from({ length: 20_000 }, (_, pg) => `1.${pg.toString(16)} active+clean 40:1 [1,2] [1,2]`)
    const text = ['PG_STAT STATE REPORTED UP ACTING', ...rows, ''].join('\n')
    const bytes = new TextEncoder().encode(text)
    const chunks = Array.from({ length: Math.ceil(bytes.length / 65_536) }, (_, at) =>
      bytes.slice(at * 65_536, (at + 1) * 65_536),
    )
    let turns = 0
    const count = () => {
      turns += 1
      immediate = setImmediate(count)
    }
    let immediate = setImmediate(count)
    const table = await parse(chunks)
    clearImmediate(immediate)
    expect(table).toEqual(parsePgText(text))
    expect(turns).toBeGreaterThanOrEqual(chunks.length - 1)
    const cut = text.slice(0, -8)
    expect(await parse([new TextEncoder().encode(cut)])).toEqual(parsePgText(cut))
    expect(parsePgText(cut).known).toBe(false)
  })

  it('that was cut off is unknown, from the thread as in place', async () => {
    const { parse } = parserWith(await bundledWorker())
    const cut = large.slice(0, -1)
    expect(await parse(cut)).toEqual(parsePgText(cut))
  })

  it('whose thread dies, or says nothing, is unknown', async () => {
    const folder = await scratchFolder({ 'dies.mjs': 'throw new Error("out of memory")', 'mute.mjs': '' })
    const { parse } = parserWith(pathToFileURL(`${folder}/dies.mjs`))
    expect(await parse(large)).toEqual({ known: false, why: 'what Ceph printed could not be parsed: out of memory' })
    const mute = parserWith(pathToFileURL(`${folder}/mute.mjs`))
    expect(await mute.parse(large)).toEqual({
      known: false,
      why: 'what Ceph printed could not be parsed: the thread ended early',
    })
  })

  it('waits for another one: both at once took twice the memory, and an operator has no more of it than it needs', async () => {
    const folder = await scratchFolder({
      'counts.mjs': `import { parentPort } from 'node:worker_threads'
        import { readdirSync, rmSync, writeFileSync } from 'node:fs'
        const own = new URL('./running-' + Math.random(), import.meta.url)
        writeFileSync(own, '')
        parentPort.on('message', (part) => {
          if (part !== null) return
          setTimeout(() => {
            const many = readdirSync(new URL('.', import.meta.url)).filter((name) => name.startsWith('running-')).length
            rmSync(own)
            parentPort.postMessage({ known: true, value: many })
            parentPort.close()
          }, 50)
        })`,
    })
    const { parse, parseOsdDump } = parserWith(pathToFileURL(`${folder}/counts.mjs`))
    const parsed = await Promise.all([parse(large), parseOsdDump(large), parse(large)])
    expect(parsed.map((each) => each.known && each.value)).toEqual([1, 1, 1])
  })

  it('is given up when the parser is closed', async () => {
    const folder = await scratchFolder({ 'endless.mjs': 'setInterval(() => {}, 1000)' })
    const parser = parserWith(pathToFileURL(`${folder}/endless.mjs`))
    const parsing = parser.parse(large)
    await parser.close()
    expect(await parsing).toMatchObject({ known: false })
  })
})

describe('in this thread', () => {
  it('a small dump is parsed: a thread would cost more', async () => {
    const folder = await scratchFolder({ 'dies.mjs': 'throw new Error("never started")' })
    const small = readSampleText('healthy-pg-dump-pgs_brief')
    const { parse } = parserWith(pathToFileURL(`${folder}/dies.mjs`))
    expect(await parse(small)).toEqual(parsePgText(small))
    expect(await parse([new TextEncoder().encode(small)])).toEqual(parsePgText(small))
  })

  it('everything is parsed where no bundled worker is', async () => {
    const parser = createPgParser()
    onTestFinished(() => parser.close())
    expect(await parser.parse(large)).toEqual(parsePgText(large))
  })
})
