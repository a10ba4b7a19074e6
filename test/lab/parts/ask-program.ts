import { execFile } from 'node:child_process'
import { promisify } from 'node:util'

const run = promisify(execFile)

export interface QuestionOptions {
  readonly environment?: Readonly<Record<string, string>>
  readonly timeoutMs?: number
}

/** What a program prints, or undefined where it is missing, fails or takes too long. */
export async function askProgram(
  [program, ...args]: readonly [string, ...string[]],
  { environment = {}, timeoutMs = 60_000 }: QuestionOptions = {},
): Promise<string | undefined> {
  try {
    const { stdout } = await run(program, args, { timeout: timeoutMs, env: { ...process.env, ...environment } })
    return stdout.trim()
  } catch {
    return undefined
  }
}
