import { setMaxListeners } from 'node:events'
import { productVersion } from '../ledger/store/product-version.ts'
import { calledAs } from './called-as.ts'
import { exitCodes } from './command.ts'
import { createCommands } from './commands.ts'
import { renderError } from './error-text.ts'
import { findPlaces } from './places.ts'
import { runProgram } from './program.ts'
import { createTerminal } from './terminal.ts'

const { launcher, pageDirectory, defaultClusterFile } = findPlaces()
const called = calledAs({
  script: process.argv[1] ?? '',
  launcher,
  cwd: process.cwd(),
  environment: process.env,
})

const commands = createCommands({
  pageDirectory,
  defaultClusterFile,
  calledAs: called,
  keys: process.stdin,
})

const terminal = createTerminal({ stdout: process.stdout, stderr: process.stderr, environment: process.env })
const debug = process.env['COFFERDAM_DEBUG'] === '1'
const ending = new AbortController()
// Every request that is in flight listens to it.
setMaxListeners(0, ending.signal)

// npm passes a Ctrl-C on to a process that got it from the terminal already: within a second it is the same one.
const sameSignalMs = 1_000
let endingSince: number | undefined
for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.on(name, () => {
    endingSince ??= Date.now()
    if (Date.now() - endingSince > sameSignalMs) process.exit(130)
    ending.abort()
  })
}

// A defect somewhere in a long-running command still lets it put away what it has put up.
let hasFailed = false
process.on('uncaughtException', (error) => {
  if (hasFailed) process.exit(1)
  hasFailed = true
  terminal.note(renderError(error, { paint: terminal.paint, withStack: debug }))
  ending.abort()
})

// A reader that has seen enough (`| head`) is no failure.
process.stdout.on('error', (error: NodeJS.ErrnoException) => process.exit(error.code === 'EPIPE' ? 0 : 1))

const exitCode = await runProgram({
  argv: process.argv.slice(2),
  commands,
  version: productVersion,
  calledAs: called,
  terminal,
  signal: ending.signal,
  debug,
})
process.stdout.write('', () => process.exit(hasFailed ? exitCodes.error : exitCode))
