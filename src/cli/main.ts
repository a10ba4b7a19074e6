import { fileURLToPath } from 'node:url'
import packageFile from '../../package.json' with { type: 'json' }
import { createDemoCommand } from './demo.ts'
import { operatorCommand } from './operator.ts'
import { runProgram } from './program.ts'
import { createTerminal } from './terminal.ts'

// What the build puts beside this file.
const beside = (path: string) => fileURLToPath(new URL(path, import.meta.url))

const commands = [
  createDemoCommand({ pageDirectory: beside('./page'), defaultClusterFile: beside('./clusters/default.yaml') }),
  operatorCommand,
]

const ending = new AbortController()
for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.on(name, () => {
    // Whoever asks twice does not want to wait.
    if (ending.signal.aborted) process.exit(130)
    ending.abort()
  })
}
// A reader that has seen enough (`| head`) is no failure.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  process.exit(error.code === 'EPIPE' ? 0 : 1)
})

const exitCode = await runProgram({
  argv: process.argv.slice(2),
  commands,
  version: packageFile.version,
  terminal: createTerminal({ stdout: process.stdout, stderr: process.stderr, environment: process.env }),
  signal: ending.signal,
  debug: process.env['COFFERDAM_DEBUG'] === '1',
})
process.stdout.write('', () => process.exit(exitCode))
