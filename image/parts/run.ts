import { execFile } from 'node:child_process'
import { promisify } from 'node:util'

const start = promisify(execFile)

/** What a program prints; rejects with its last words when it fails. */
export async function run(program: string, args: readonly string[], folder?: string): Promise<string> {
  try {
    const { stdout } = await start(program, args, {
      maxBuffer: 2 ** 26,
      ...(folder === undefined ? {} : { cwd: folder }),
    })
    return stdout
  } catch (error) {
    const { stderr = '', message } = error as Error & { readonly stderr?: string }
    throw new Error(`${program} ${args[0] ?? ''} failed: ${stderr.trim().split('\n').slice(-4).join('\n') || message}`)
  }
}
