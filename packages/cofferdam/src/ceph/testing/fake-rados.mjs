// Stands in for the program that holds librados: the same lines in and out, and every way to misbehave.
import { createInterface } from 'node:readline'

const mode = process.argv[process.argv.indexOf('--conf') + 1]

function write(header, body = '') {
  process.stdout.write(`${JSON.stringify(header)}\n${body}`)
}

function answer(id, rc, body, err = '') {
  write({ id, rc, err, outBytes: Buffer.byteLength(body) }, body)
}

let held
const behaviours = {
  pid: (id) => answer(id, 0, String(process.pid)),
  argv: (id) => answer(id, 0, JSON.stringify(process.argv.slice(2))),
  echo: (id, command) => answer(id, 0, JSON.stringify(command)),
  // In pieces, cut within a character.
  pieces(id) {
    const body = Buffer.from('größer')
    const header = Buffer.from(`${JSON.stringify({ id, rc: 0, err: '', outBytes: body.length })}\n`)
    process.stdout.write(Buffer.concat([header, body.subarray(0, 3)]))
    setImmediate(() => process.stdout.write(body.subarray(3)))
  },
  large: (id) => answer(id, 0, 'größer '.repeat(100_000)),
  busy: (id) => answer(id, -16, '{"ok_to_stop":false}', 'unsafe to stop'),
  timeout: (id) => answer(id, -110, '', 'timed out'),
  problem: (id) => write({ id, problem: 'ObjectNotFound: gone' }),
  tooLarge: (id) => write({ id, tooLarge: 5_000_000 }),
  announce: (id) => write({ id, rc: 0, err: '', outBytes: 999_999_999 }),
  garbage: () => process.stdout.write('Traceback (most recent call last):\n'),
  silent: () => {},
  stray: (id) => {
    answer(123_456, 0, 'for nobody')
    answer(id, 0, 'mine')
  },
  hold(id) {
    held = id
  },
  release(id) {
    answer(id, 0, 'second')
    answer(held, 0, 'first')
  },
  crash() {
    process.stderr.write('Fatal Python error: Segmentation fault\n')
    process.exitCode = 9
    process.stdin.destroy()
  },
}

function follow(id) {
  if (mode === 'no-log') return write({ id, problem: 'AttributeError: monitor_log2' })
  write({ id, follows: true })
  write({ log: 'osd.1 failed' })
  write({ log: 7 })
}

if (mode === 'no-module') write({ failed: 'module', why: "No module named 'rados'" })
else if (mode === 'no-connection') write({ failed: 'connect', why: `TimedOut in child ${process.pid}` })
else if (mode !== 'never-ready') write({ ready: true })

createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, command, followLog } = JSON.parse(line)
  if (followLog !== undefined) return follow(id)
  behaviours[command.prefix](id, command)
})
