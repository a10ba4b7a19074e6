import { createCommands } from '@cofferdam/product/cli/commands.ts'
import { buildProgram } from '@cofferdam/product/cli/program.ts'
import { createTerminal } from '@cofferdam/product/cli/terminal.ts'

/** Every command with its flags, as documents are compared with it; nothing is run. */
export function wholeProgram() {
  const silent = { write: () => undefined }
  return buildProgram(
    {
      argv: [],
      commands: createCommands({ pageDirectory: '', defaultClusterFile: '' }),
      version: '0.0.0',
      terminal: createTerminal({ stdout: silent, stderr: silent, environment: {} }),
      signal: new AbortController().signal,
      debug: false,
    },
    () => undefined,
  )
}
