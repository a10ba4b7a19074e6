import { execFile } from 'node:child_process'
import { promisify } from 'node:util'

const run = promisify(execFile)

/** What a program prints, or undefined where it is missing or fails. For questions that take moments. */
export async function askProgram(
  [program, ...args]: readonly [string, ...string[]],
  environment: Readonly<Record<string, string>> = {},
): Promise<string | undefined> {
  try {
    const { stdout } = await run(program, args, { timeout: 60_000, env: { ...process.env, ...environment } })
    return stdout.trim()
  } catch {
    return undefined
  }
}
